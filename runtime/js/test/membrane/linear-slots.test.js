// Maps and sets are compared entry by entry when they are synchronised. The membrane's
// counters need not know of that, so the host's own iterators count here, from before
// the runtime is loaded. The runner gives this file a process of its own.
import assert from "node:assert/strict";
import { test } from "node:test";

let steps = 0;
for (const iterator of [new Map().entries(), new Set().values()]) {
  const proto = Object.getPrototypeOf(iterator);
  const { next } = proto;
  proto.next = function () {
    steps++;
    return next.call(this);
  };
}
for (const Class of [Map, Set]) {
  const { forEach } = Class.prototype;
  Class.prototype.forEach = function (f, self) {
    steps += this.size;
    return forEach.call(this, f, self);
  };
}
const { createSandbox } = await import("./node-sandbox.js");

const SIZES = [50, 150, 450];
const SLACK = 3;
const library = `var __SANDBOXED_LIB__ = {
  each: (collection, f) => collection.forEach((x) => f(x)),
  size: (collection) => collection.size,
};`;

async function counted(n, make, use) {
  const sandbox = await createSandbox(library, {});
  try {
    const collection = make(n);
    steps = 0;
    use(sandbox.exports, collection, n);
    return steps;
  } finally {
    sandbox.dispose();
  }
}

const sets = (n) => new Set(Array.from({ length: n }, (_, i) => i));
const maps = (n) => new Map(Array.from({ length: n }, (_, i) => [`k${i}`, i]));
const each = (guest, collection, n) => {
  let calls = 0;
  guest.each(collection, () => {
    calls++;
  });
  assert.equal(calls, n);
};

for (const [name, make] of [
  ["a map", maps],
  ["a set", sets],
]) {
  test(`values: ${name} that a callback is called for is not compared anew for every entry`, async (t) => {
    const counts = [];
    for (const n of SIZES) counts.push(await counted(n, make, each));
    t.diagnostic(`n = ${SIZES.join(", ")}: ${counts.join(", ")} steps of the host's iterators`);
    SIZES.forEach((n, i) => {
      assert.ok(counts[i] <= (SLACK * n * Math.max(counts[0], SIZES[0])) / SIZES[0], `${counts[i]} steps for ${n} entries, ${counts[0]} for ${SIZES[0]}`);
    });
  });
}

test("values: the host's iterators are counted", async () => {
  steps = 0;
  for (const _ of maps(10));
  sets(10).forEach(() => {});
  assert.ok(steps >= 20);
});
