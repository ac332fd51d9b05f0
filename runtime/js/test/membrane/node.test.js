import assert from "node:assert/strict";
import { test } from "node:test";
import { exceptions } from "./exceptions.js";
import { createSandbox } from "./node-sandbox.js";
import { openRows } from "./open.js";
import { groups, plays, runSuite, valueRows } from "./suite.js";

test("values: the table", async (t) => {
  const seen = new Set();
  const totals = { rows: 0, passed: 0, failed: 0, total: 0 };
  for (const group of groups) {
    await t.test(group, async (t) => {
      const said = [];
      const tally = await runSuite({ createSandbox, group, say: (text) => said.push(text) });
      for (const key of Object.keys(totals)) totals[key] += tally[key];
      assert.ok(tally.total > 0);
      const failing = new Set(tally.failures.map(({ row }) => row));
      for (const row of failing) seen.add(row);
      const unexpected = [...failing].filter((row) => !Object.hasOwn(openRows, row));
      for (const text of said) if (unexpected.some((row) => text.startsWith(`${row},`))) t.diagnostic(text);
      assert.deepEqual(unexpected, []);
    });
  }
  assert.deepEqual(
    Object.keys(openRows).filter((row) => !seen.has(row)),
    [],
    "these rows pass now: take them off the list of open ones",
  );
  t.diagnostic(`value table: ${totals.rows} rows, ${totals.passed} of ${totals.total} checks passed, ${totals.failed} failed`);
});

test("values: the table has rows enough, and few exceptions", () => {
  const names = [...valueRows, ...plays].map(({ group, name }) => `${group}: ${name}`);
  assert.ok(names.length >= 120);
  assert.equal(new Set(names).size, names.length);
  assert.ok(exceptions.length <= 3);
});

// The other way to see that the table is right: with both sides in one realm all of it
// holds, but for what a sandbox refuses once it is gone.
test("values: without a membrane the table holds, but for refusals", async () => {
  const createSandbox = async (source) => {
    const exports = new Function(`${source}; return __SANDBOXED_LIB__;`)();
    const at = (path) =>
      [path]
        .flat()
        .flatMap((part) => part.split("."))
        .reduce((found, name) => found[name], exports);
    return { exports, value: at, fn: at, cls: at, callable: () => exports, createInstance: (path, args) => new (at(path))(...args), dispose() {}, revoke() {} };
  };
  const { failures, passed } = await runSuite({ createSandbox });
  assert.ok(passed > 10000);
  const [first] = failures.filter(({ expected }) => expected !== "refused");
  assert.equal(first && `${first.row}, ${first.direction}: ${first.seen}`, undefined);
  assert.ok(failures.length > 0);
});
