import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox } from "./node-sandbox.js";

// What a call may cost is what it touches: never all that it was given, once per
// crossing. So ten times the elements may cross and ship ten times as much, and a
// factor of three is left for what windows and sorting add.
const SIZES = [100, 1000, 10000];
const SLACK = 3;

const library = `var __SANDBOXED_LIB__ = {
  map: (list, f) => list.map(f),
  filter: (list, f) => list.filter(f),
  reduce: (list, f) => list.reduce(f, 0),
  sort: (list, f) => list.sort(f),
  forEach: (rows, f) => rows.forEach((row) => row.cells.forEach((cell) => f(cell.value))),
  loop: (list, f) => { for (let i = 0; i < list.length; i++) f(list[i]); },
  iterate: (list, f) => { for (const x of list) f(x); },
  groupBy: (list, f) => list.reduce((groups, x) => { (groups[f(x)] ??= []).push(x); return groups; }, {}),
  write: (list, f) => { for (let i = 0; i < list.length; i++) list[i] = f(list[i]); return list; },
  first: (list, f) => f(list[0]),
  make: (n) => Array.from({ length: n }, (_, i) => ({ id: i, tag: "t" + (i % 7) })),
};`;

const numbers = (n) => Array.from({ length: n }, (_, i) => (i * 7919) % n);
const records = (n) => Array.from({ length: n }, (_, i) => ({ id: i, tag: `t${i % 7}` }));
const rows = (n) => Array.from({ length: n / 10 }, (_, r) => ({ cells: Array.from({ length: 10 }, (_, c) => ({ value: r * c })) }));

/** What a number of elements may cost beyond a line through n: sorting compares n log n times. */
const line = (n) => n;
const sorting = (n) => n * Math.log2(n);

const cases = [
  { name: "map with a host callback", run: (guest, n) => assert.equal(guest.map(numbers(n), (x) => x + 1).length, n) },
  { name: "map over records with a host callback", run: (guest, n) => assert.equal(guest.map(records(n), (x) => x.id).at(-1), n - 1) },
  { name: "map with a callback that takes the whole list", run: (guest, n) => assert.equal(guest.map(numbers(n), (_x, _i, all) => all.length).at(-1), n) },
  { name: "map with a callback that changes the list", run: (guest, n) => changing(guest, n) },
  { name: "filter with a host callback", run: (guest, n) => assert.equal(guest.filter(records(n), (x) => x.id % 2).length, n / 2) },
  {
    name: "reduce with a host callback",
    run: (guest, n) =>
      assert.equal(
        guest.reduce(numbers(n), (sum) => sum + 1),
        n,
      ),
  },
  { name: "sort with a host callback", order: sorting, run: (guest, n) => assert.equal(guest.sort(numbers(n), (a, b) => a - b)[n - 1], n - 1) },
  {
    name: "nested forEach with a host callback",
    run: (guest, n) =>
      assert.equal(
        counted((f) => guest.forEach(rows(n), f)),
        n,
      ),
  },
  {
    name: "a loop by index with a host callback",
    run: (guest, n) =>
      assert.equal(
        counted((f) => guest.loop(records(n), f)),
        n,
      ),
  },
  {
    name: "for of with a host callback",
    run: (guest, n) =>
      assert.equal(
        counted((f) => guest.iterate(records(n), f)),
        n,
      ),
  },
  { name: "groupBy with a host callback", run: (guest, n) => assert.equal(Object.keys(guest.groupBy(records(n), (x) => x.tag)).length, 7) },
  { name: "a list written element by element", run: (guest, n) => assert.equal(guest.write(numbers(n), (x) => -x).length, n) },
  { name: "a list made by the guest", run: (guest, n) => assert.equal(guest.make(n).length, n) },
];

function counted(run) {
  let calls = 0;
  run(() => {
    calls++;
  });
  return calls;
}

// Every write of the callback has to be seen by the element after it.
function changing(guest, n) {
  const list = numbers(n);
  const seen = guest.map(list, (x, i) => {
    if (i + 1 < n) list[i + 1] = x + 1;
    return x;
  });
  assert.equal(seen[n - 1], list[0] + n - 1);
}

async function cost(run, n) {
  const sandbox = await createSandbox(library, {});
  try {
    const before = sandbox.stats();
    run(sandbox.exports, n);
    const after = sandbox.stats();
    return { crossings: after.crossings - before.crossings, shipped: after.shipped - before.shipped };
  } finally {
    sandbox.dispose();
  }
}

for (const { name, run, order = line } of cases) {
  test(`values: ${name} costs what it touches`, async (t) => {
    const [least, ...more] = SIZES;
    const base = await cost(run, least);
    t.diagnostic(`n = ${least}: ${base.crossings} crossings, ${base.shipped} shipped`);
    assert.ok(base.crossings + base.shipped > 0, "nothing was counted");
    for (const n of more) {
      const seen = await cost(run, n);
      t.diagnostic(`n = ${n}: ${seen.crossings} crossings, ${seen.shipped} shipped`);
      const factor = (SLACK * order(n)) / order(least);
      assert.ok(seen.crossings <= factor * Math.max(base.crossings, 1), `${seen.crossings} crossings for ${n} elements, ${base.crossings} for ${least}`);
      // What is small at first must not hide behind nothing.
      assert.ok(seen.shipped <= factor * Math.max(base.shipped, least), `${seen.shipped} shipped for ${n} elements, ${base.shipped} for ${least}`);
    }
  });
}

// The counters are the membrane's own; a proxy on the host's side counts for itself.
for (const [name, use] of [
  ["map", (guest, list) => guest.map(list, (x) => x)],
  ["reduce", (guest, list) => guest.reduce(list, (sum, x) => sum + x)],
  ["a loop", (guest, list) => guest.loop(list, () => {})],
  ["a loop that writes", (guest, list) => guest.write(list, (x) => x)],
]) {
  test(`values: ${name} with a host callback reads a list of the host as often as it has elements, or three times that`, async (t) => {
    const asked = [];
    for (const n of SIZES) {
      const sandbox = await createSandbox(library, {});
      try {
        let traps = 0;
        const count =
          (f) =>
          (...args) => {
            traps++;
            return f(...args);
          };
        const handler = Object.fromEntries(["get", "has", "getOwnPropertyDescriptor"].map((trap) => [trap, count(Reflect[trap])]));
        use(sandbox.exports, new Proxy(numbers(n), handler));
        asked.push(traps);
      } finally {
        sandbox.dispose();
      }
    }
    t.diagnostic(`n = ${SIZES.join(", ")}: ${asked.join(", ")} reads`);
    assert.ok(asked[0] > 0);
    SIZES.forEach((n, i) => {
      assert.ok(asked[i] <= (SLACK * n * asked[0]) / SIZES[0], `${asked[i]} reads for ${n} elements, ${asked[0]} for ${SIZES[0]}`);
    });
  });
}

test("values: one element of a long list costs no more than a window", async () => {
  const few = await cost((guest, n) => guest.first(records(n), (x) => x.id), 1000);
  const many = await cost((guest, n) => guest.first(records(n), (x) => x.id), 10000);
  assert.equal(many.crossings, few.crossings);
});
