import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

test("hosts: sandboxes that go on from images show what evaluated ones show", async (t) => {
  const shownBy = async (...flags) => {
    const { stdout } = await promisify(execFile)(process.execPath, [new URL("node.js", import.meta.url).pathname, ...flags], { maxBuffer: 2 ** 24 });
    return JSON.parse(stdout);
  };
  const { made, ...restored } = await shownBy("--restored");
  const { made: _, ...evaluated } = await shownBy();
  t.diagnostic(JSON.stringify({ ...made, ...restored.totals }));
  assert.ok(made.restored > 1000);
  assert.equal(made.evaluated, 0);
  assert.deepEqual(restored, evaluated);
});
