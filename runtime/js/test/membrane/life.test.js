// What lives how long, and what a call that fails leaves behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sandboxOf, thrownBy } from "../sandboxes.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

/** An object that cannot go in: its prototype cannot be asked for. */
function unfit() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test("life: what the garbage collector took comes back, and stays", async (t) => {
  const { exports } = await sandboxOf(t, `(() => { const g = new (class { m() { return 42; } })(); return { get: () => g }; })()`);
  const { get } = exports;
  (() => get().m())();
  await turn();
  collect(); // the first stand-in goes; nobody has heard of it yet
  const again = get();
  for (let i = 0; i < 3; i++) {
    await turn();
    collect();
  }
  assert.equal(again.m(), 42);
  assert.equal(get(), again);
});

test("life: a call that throws hands over what the guest changed, and reads nothing old afterwards", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{
      put(m) { m.set(1, 1); throw new Error("x"); }, size: (m) => m.size,
      read(o) { Object.keys(o); throw new Error("x"); }, a: (o) => o.a,
      see(d) { +d; throw new Error("x"); }, time: (d) => +d,
    }`,
  );
  const map = new Map();
  assert.throws(() => exports.put(map), { message: "x" });
  assert.deepEqual([...map], [[1, 1]]);
  map.set(2, 2).set(3, 3);
  assert.equal(exports.size(map), 3);
  const object = { a: 1 };
  assert.throws(() => exports.read(object), { message: "x" });
  object.a = 9;
  assert.equal(exports.a(object), 9);
  const date = new Date(1);
  assert.throws(() => exports.see(date), { message: "x" });
  date.setTime(5);
  assert.equal(exports.time(date), 5);
});

test("life: calls that throw leave nothing behind", async (t) => {
  const sandbox = await sandboxOf(t, `{ fails() { throw 1; } }`);
  const { fails } = sandbox.exports;
  for (let i = 0; i < 5000; i++) thrownBy(() => fails({ i }));
  const { exposed } = sandbox.stats();
  assert.ok(exposed < 100, `${exposed} host objects are known to the guest`);
});

test("life: a frame that is just full is given back whole", async (t) => {
  const { exports } = await sandboxOf(t, `{ count: (...a) => a.length }`);
  for (const n of [32760, 32764, 32765, 32766, 32767, 32768, 40000]) {
    const args = Array(n).fill(0);
    args.push(new Map([[1, 1]]));
    assert.equal(exports.count(...args), n + 1);
  }
  assert.equal(exports.count(1, "a", {}), 3);
});

test("life: bigints may make the memory grow", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{ wrong: (...a) => a.filter((v, i) => v !== (1n << 60n) + BigInt(i)).length, types: (o) => Object.values(o).filter((v) => typeof v !== "bigint").length }`,
  );
  const big = (i) => (1n << 60n) + BigInt(i);
  assert.equal(exports.wrong(...Array.from({ length: 30000 }, (_, i) => big(i))), 0);
  assert.equal(exports.types(Object.fromEntries(Array.from({ length: 60000 }, (_, i) => [`b${i}`, big(i)]))), 0);
});

test("life: an error that cannot go in says why it cannot", async (t) => {
  const { exports } = await sandboxOf(t, `{ caught(f) { try { f(); } catch (e) { return e instanceof TypeError; } }, ok: () => 1 }`);
  for (let i = 0; i < 50; i++)
    assert.equal(
      exports.caught(() => {
        throw unfit();
      }),
      true,
    );
  assert.equal(exports.ok(), 1);
});

test("life: a nested call that cannot begin ends by itself", async (t) => {
  const { exports } = await sandboxOf(t, `{ through(m, f) { m.size; f(); return 1; }, ok: () => 2 }`);
  const map = new Map();
  const inner = () => {
    map.set("x", unfit());
    assert.throws(() => exports.ok(), TypeError);
    map.delete("x");
  };
  for (let i = 0; i < 30; i++) assert.equal(exports.through(map, inner), 1);
  assert.equal(exports.ok(), 2);
});

test("life: no guest code runs while a result is read", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `(() => {
      let ran = 0;
      const evil = (list) => new Proxy({}, new Proxy({}, { getPrototypeOf() { ran++; Object.defineProperty(list, 0, { get: () => 7, configurable: true }); return null; } }));
      return {
        list() { const list = []; list.push(evil(list)); for (let i = 0; i < 2000; i++) list.push({ i }); return list; },
        ran: () => ran,
      };
    })()`,
  );
  const list = exports.list();
  assert.equal(list.length, 2001);
  assert.ok(list.every((item) => typeof item === "object"));
  assert.equal(exports.ran(), 0);
});

test("life: host objects that the guest kept and let go of are not counted as kept", async (t) => {
  const sandbox = await sandboxOf(t, `(() => { let kept; return { keep(o) { kept = o; o.f; }, drop(o) { kept = undefined; o.f; } }; })()`);
  for (let i = 0; i < 1000; i++) {
    const object = { f() {} };
    sandbox.exports.keep(object);
    sandbox.exports.drop(object);
  }
  assert.ok(sandbox.stats().weak <= 300, `${sandbox.stats().weak}`);
});

test("life: a timer that is cleared holds nothing", async (t) => {
  const sandbox = await sandboxOf(t, `{ debounce() { clearTimeout(setTimeout(() => {}, 100000)); } }`, { permissions: ["setTimeout", "clearTimeout"] });
  const { debounce } = sandbox.exports;
  debounce();
  await turn();
  const { held } = sandbox.stats();
  for (let i = 0; i < 1000; i++) debounce();
  for (let i = 0; i < 3; i++) {
    await turn();
    collect();
  }
  debounce();
  assert.ok(sandbox.stats().held < held + 100, `${sandbox.stats().held} after ${held}`);
});

test("life: data may be as deep as it likes where arguments are data", async (t) => {
  const { exports } = await sandboxOf(t, `{ ok: () => 1 }`, { arguments: "data" });
  let deep = {};
  for (let i = 0; i < 20000; i++) deep = { deep };
  assert.equal(exports.ok(deep), 1);
});

test("life: what a granted async function gives reaches a guest whose arguments are data", async (t) => {
  class Answer {
    value = 1;
  }
  const { exports } = await sandboxOf(t, `{ async value() { return (await ask()).value; } }`, {
    arguments: "data",
    permissions: ["ask"],
    capabilities: { ask: async () => new Answer() },
  });
  assert.equal(await exports.value(), 1);
});

test("life: a promise that cannot be settled with its value is rejected with the reason", async (t) => {
  const { exports } = await sandboxOf(t, `{ async wait(p) { try { return await p(); } catch (e) { return e instanceof TypeError; } } }`);
  // A promise asks what it is given for \`then\`, so the value has to be inside.
  assert.equal(await exports.wait(async () => new Map([[1, unfit()]])), true);
});

test("life: what is revoked is out of reach, frozen or not", async (t) => {
  const sandbox = await sandboxOf(t, `(() => { let kept; return { keep(o) { kept = o; Object.keys(o); return o.a; }, read: () => kept.a }; })()`);
  for (const object of [{ a: 1, f() {} }, Object.freeze({ a: 1, f() {} })]) {
    assert.equal(sandbox.exports.keep(object), 1);
    sandbox.revoke(object);
    assert.throws(() => sandbox.exports.read(), { name: "SandboxRevokedError" });
  }
});

test("life: the exports are the same object each time, also when they crossed as data before", async (t) => {
  const sandbox = await sandboxOf(t, `(() => { const lib = { a: 1 }; see(lib); return lib; })()`, { permissions: ["see"], capabilities: { see() {} } });
  assert.equal(sandbox.exports, sandbox.exports);
});
