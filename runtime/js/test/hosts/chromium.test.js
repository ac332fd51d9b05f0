import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { skip } from "./page.js";

const run = async (file) => {
  const { stdout } = await promisify(execFile)(process.execPath, [new URL(file, import.meta.url).pathname], { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
};

test("hosts: one suite shows in Chromium what it shows in Node", { skip }, async (t) => {
  const node = await run("node.js");
  const chromium = await run("chromium.js");
  for (const [name, { totals, checks, failed, wrong }] of Object.entries({ node, chromium })) {
    t.diagnostic(`${name}: ${JSON.stringify({ totals, checks, failed })}`);
    assert.deepEqual(wrong, [], name);
    for (const total of Object.values(totals)) assert.ok(total > 0, name);
  }
  assert.deepEqual(chromium.totals, node.totals);
  assert.equal(chromium.checks.total, node.checks.total);
});
