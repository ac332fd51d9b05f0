import assert from "node:assert/strict";
import { test } from "node:test";
import { SandboxManager } from "../index.js";
import { sandboxOf, thrownBy } from "./sandboxes.js";

const spinning = `{ spin() { for (;;); }, ok: () => 1, tries() { try { for (;;); } catch { return "caught"; } }, through: (f) => f(), twice: (f) => { try { f(); } catch {} for (;;); }, wait: () => new Promise(() => {}), regex: () => /^(a+)+$/.test("a".repeat(40) + "b") }`;

test("limits: a loop is stopped, cannot be caught inside, and leaves the sandbox dead", async (t) => {
  for (const name of ["spin", "tries", "regex"]) {
    const { exports } = await sandboxOf(t, spinning, { limits: { timeoutMs: 50 } });
    const error = thrownBy(() => exports[name]());
    assert.equal(error.name, "SandboxLimitError");
    assert.equal(error.limit, "time");
    assert.match(error.message, /longer than the 50 ms of limits\.timeoutMs/);
    assert.throws(() => exports.ok(), { name: "SandboxDeadError", message: /dead since it ran longer/ });
  }
});

test("limits: the clock does not run while host code does", async (t) => {
  const { exports } = await sandboxOf(t, spinning, { limits: { timeoutMs: 50 } });
  const slow = () => {
    const end = performance.now() + 120;
    while (performance.now() < end);
    return "done";
  };
  assert.equal(exports.through(slow), "done");
  assert.equal(exports.ok(), 1);
});

test("limits: a host callback that swallows a limit does not revive the guest", async (t) => {
  const { exports } = await sandboxOf(t, spinning, { limits: { timeoutMs: 50 } });
  let inner;
  const outer = thrownBy(() =>
    exports.twice(() => {
      inner = thrownBy(() => exports.spin());
    }),
  );
  assert.equal(inner.name, "SandboxLimitError");
  assert.match(outer.name, /SandboxLimitError|SandboxDeadError/);
});

test("limits: a promise that waits when a limit fires is rejected with that limit", async (t) => {
  const limits = { timeoutMs: 50, memoryMB: 8 };
  const source = `{ spin() { for (;;); }, wait: () => new Promise(() => {}), later: async () => { await 0; for (;;); }, eats: async () => { await 0; for (let all = []; ; ) all.push(new Array(1000).fill(0)); } }`;
  const { exports } = await sandboxOf(t, source, { limits });
  const waiting = exports.wait();
  thrownBy(() => exports.spin());
  await assert.rejects(waiting, { name: "SandboxLimitError", limit: "time", message: /longer than the 50 ms/ });
  await assert.rejects((await sandboxOf(t, source, { limits })).exports.later(), { name: "SandboxLimitError", limit: "time" });
  await assert.rejects((await sandboxOf(t, source, { limits: { memoryMB: 8 } })).exports.eats(), { name: "SandboxLimitError", limit: "memory" });
});

for (const [what, source] of Object.entries({
  objects: "() => { const all = []; for (;;) all.push({ n: all.length }); }",
  buffers: "() => { const all = []; for (;;) all.push(new Uint8Array(512 * 1024)); }",
  "one string": "() => { let s = 'x'; for (;;) s = (s + s).normalize(); }",
})) {
  test(`limits: memory ends for ${what} and the sandbox is dead`, async (t) => {
    const { exports } = await sandboxOf(t, `{ eat: ${source}, ok: () => 1 }`, { limits: { memoryMB: 16 } });
    const error = thrownBy(() => exports.eat());
    assert.equal(error.name, "SandboxLimitError", error.stack);
    assert.equal(error.limit, "memory");
    assert.throws(() => exports.ok(), { name: "SandboxDeadError" });
  });
}

for (const [what, source] of Object.entries({
  recursion: "() => { const f = (n) => f(n + 1) + 1; return f(0); }",
  "a deep source": "() => (0, eval)('('.repeat(20000) + ')'.repeat(20000))",
  "deep JSON": "() => JSON.parse('['.repeat(200000))",
})) {
  test(`limits: ${what} overflows inside the guest, which can catch it, 200 times`, async (t) => {
    const { exports } = await sandboxOf(t, `{ deep: ${source}, caught(f) { try { f(); } catch (e) { return e instanceof Error; } }, ok: () => 1 }`);
    for (let i = 0; i < 200; i++) assert.ok(thrownBy(() => exports.deep()) instanceof Error);
    assert.equal(exports.caught(exports.deep), true);
    assert.equal(exports.ok(), 1);
  });
}

test("limits: calls back and forth end with a RangeError and leave the sandbox usable", async (t) => {
  const { exports } = await sandboxOf(t, `{ through: (f) => f(), ok: () => 1 }`);
  const again = () => exports.through(again);
  assert.throws(again, RangeError);
  assert.equal(exports.ok(), 1);
});

test("limits: one sandbox's death leaves the others alone", async (t) => {
  const dying = await sandboxOf(t, spinning, { limits: { timeoutMs: 50 } });
  const living = await sandboxOf(t, spinning);
  thrownBy(() => dying.exports.spin());
  assert.equal(living.exports.ok(), 1);
});

test("limits: loading counts too", async () => {
  await assert.rejects(SandboxManager.createSandbox("spins", "for (;;);", { limits: { timeoutMs: 50 } }), { name: "SandboxLimitError", limit: "time" });
});

test("limits: 50,000 callbacks in one turn, and data both ways, fit into little memory", async (t) => {
  const { exports } = await sandboxOf(t, `{ map: (list, f) => list.map(f) }`, { limits: { memoryMB: 4 } });
  for (let i = 0; i < 500; i++)
    exports.map(
      Array.from({ length: 100 }, (_, n) => ({ n })),
      ({ n }) => ({ n: n + i }),
    );
});

test("disposal: every later use says so, from whatever was taken before", async (t) => {
  const sandbox = await sandboxOf(t, `{ Foo: class { m() { return 1; } }, f: () => 1, wait: () => new Promise(() => {}) }`);
  const { exports } = sandbox;
  const [foo, f, waiting] = [new exports.Foo(), exports.f, exports.wait()];
  sandbox.dispose();
  sandbox.dispose();
  for (const use of [
    () => f(),
    () => foo.m(),
    () => new exports.Foo(),
    () => exports.x,
    () => sandbox.exports,
    () => sandbox.fn("f"),
    () => sandbox.value("f"),
    () => sandbox.loadWorkload("w", ""),
    () => sandbox.createInstance("Foo"),
  ]) {
    assert.throws(use, { name: "SandboxDisposedError", message: /was disposed of/ });
  }
  await assert.rejects(waiting, { name: "SandboxDisposedError" });
});

test("disposal: inside a callback it ends the running call", async (t) => {
  const sandbox = await sandboxOf(t, `{ through: (f) => f() }`);
  assert.throws(() => sandbox.exports.through(() => sandbox.dispose()), { name: "SandboxDisposedError" });
  assert.throws(() => sandbox.exports, { name: "SandboxDisposedError" });
});

test("synchronous creation needs nothing but the engine, which Node has at hand", (t) => {
  const make = () => SandboxManager.createSandboxSync("lib", "var __SANDBOXED_LIB__ = { one: () => 1 }");
  const both = [make(), make()];
  t.after(() => {
    for (const sandbox of both) sandbox.dispose();
  });
  assert.deepStrictEqual(
    both.map((sandbox) => sandbox.exports.one()),
    [1, 1],
  );
});
