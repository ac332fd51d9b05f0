import assert from "node:assert/strict";
import { test } from "node:test";
import { SandboxError, SandboxManager } from "../index.js";
import { thrownBy } from "./sandboxes.js";

const source = `__SANDBOXED_LIB__ = {
  make: () => ({ run: () => 1, data: { a: [1] } }),
  list: (n) => Array.from({ length: n }, (_, i) => ({ i })),
  Thing: class { value() { return 2; } },
  call: (f) => f(),
}`;
const open = () => SandboxManager.createSandboxSync("lib", source);

test("scope: what was made in it goes with it, what it returns stays", () => {
  const sandbox = open();
  const { make, Thing } = sandbox.exports;
  let lost;
  let data;
  const kept = sandbox.scope(() => {
    lost = new Thing();
    ({ data } = make());
    return { thing: new Thing(), inside: [make().run] };
  });
  assert.equal(kept.thing.value(), 2);
  assert.equal(kept.inside[0](), 1);
  assert.deepEqual(data, { a: [1] });
  const error = thrownBy(() => lost.value());
  assert.ok(error instanceof SandboxError);
  assert.match(error.message, /went with the scope/);
  assert.equal(new Thing().value(), 2);
});

test("scope: the counts go back to what they were", () => {
  const sandbox = open();
  const { list, Thing } = sandbox.exports;
  const before = sandbox.stats();
  for (let round = 0; round < 3; round++) {
    const n = sandbox.scope(() => {
      const results = list(100);
      const things = Array.from({ length: 100 }, () => new Thing());
      assert.ok(sandbox.stats().held >= before.held + 200);
      return results.length + things.length;
    });
    assert.equal(n, 200);
    const { held, pins } = sandbox.stats();
    assert.deepEqual({ held, pins }, { held: before.held, pins: before.pins });
  }
});

test("scope: they nest, and an inner one's result belongs to the outer one", () => {
  const sandbox = open();
  const { Thing } = sandbox.exports;
  let inner;
  sandbox.scope(() => {
    inner = sandbox.scope(() => new Thing());
    assert.equal(inner.value(), 2);
  });
  assert.match(thrownBy(() => inner.value()).message, /went with the scope/);
});

test("scope: an error, a promise and the end of the sandbox inside it", async () => {
  const sandbox = open();
  let lost;
  assert.equal(
    thrownBy(() =>
      sandbox.scope(() => {
        lost = new sandbox.exports.Thing();
        throw new Error("mine");
      }),
    ).message,
    "mine",
  );
  assert.match(thrownBy(() => lost.value()).message, /went with the scope/);
  assert.match(thrownBy(() => sandbox.scope(async () => 1)).message, /returns a promise/);
  sandbox.scope(() => sandbox.dispose());
  assert.match(thrownBy(() => sandbox.scope(() => 1)).message, /disposed/);
});

test("scope: what hangs on the result stays, in collections, prototypes and what is thrown", () => {
  const sandbox = open();
  const { Thing } = sandbox.exports;
  assert.equal(
    sandbox
      .scope(() => new Map([["a", new Thing()]]))
      .get("a")
      .value(),
    2,
  );
  assert.equal([...sandbox.scope(() => new Set([new Thing()]))][0].value(), 2);
  const Sub = sandbox.scope(() => class extends sandbox.exports.Thing {});
  assert.equal(new Sub().value(), 2);
  const error = thrownBy(() =>
    sandbox.scope(() => {
      throw Object.assign(new Error("mine"), { thing: new Thing() });
    }),
  );
  assert.equal(error.thing.value(), 2);
  const hostile = new Proxy({}, { ownKeys: () => assert.fail("is not asked in vain") });
  assert.equal(
    sandbox.scope(() => hostile),
    hostile,
  );
  const fresh = open();
  const kept = fresh.scope(() => [fresh.exports])[0];
  assert.equal(kept, fresh.exports);
});

test("scope: the guest's own references outlive it", () => {
  const sandbox = SandboxManager.createSandboxSync(
    "lib",
    "let kept; __SANDBOXED_LIB__ = { make: () => (kept = { n: () => 5 }), kept: () => kept, call: (f) => f() }",
  );
  sandbox.scope(() => sandbox.exports.make().n());
  assert.equal(sandbox.exports.kept().n(), 5);
  let calls = 0;
  sandbox.scope(() => sandbox.exports.call(() => calls++));
  assert.equal(calls, 1);
});
