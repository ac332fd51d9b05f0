import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox } from "./node-sandbox.js";
import { openSeeds } from "./open.js";
import { runRandom, shrink } from "./random.js";

// All of them: MEMBRANE_SEQUENCES=10000. One again: MEMBRANE_SEED=its seed, and 1.
const count = Number(process.env.MEMBRANE_SEQUENCES ?? 500);
const first = Number(process.env.MEMBRANE_SEED ?? 1);

test(`values: ${count} random sequences of operations give in two realms what they give in one`, async (t) => {
  const { total, failed, undecided } = await runRandom({ createSandbox, first, count, say: (text) => t.diagnostic(text) });
  t.diagnostic(
    `${total - failed.length - undecided} of ${total} sequences agree, seeds ${first} to ${first + count - 1}; about ${undecided} the engines differ by themselves`,
  );
  assert.ok(total > 0);
  assert.ok(undecided <= 1 + total / 500, `the engines differ on ${undecided} of ${total} sequences`);
  assert.deepEqual(
    failed.filter((seed) => !openSeeds.has(seed)),
    [],
  );
});

test("values: a sequence that fails is shrunk to what makes it fail", async () => {
  const list = Array.from({ length: 40 }, (_, i) => i);
  assert.deepEqual(await shrink(list, async (some) => some.includes(3) && some.includes(31)), [3, 31]);
});
