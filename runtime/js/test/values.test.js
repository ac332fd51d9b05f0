import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxOf } from "./sandboxes.js";

const library = `{
  id: (x) => x,
  is: (a, b) => Object.is(a, b),
  tag: (x) => Object.prototype.toString.call(x),
  same: (a, b) => a === b,
  call: (f, ...args) => f(...args),
  make: (source) => (0, eval)(source),
}`;

const values = {
  undefined: undefined,
  null: null,
  booleans: [true, false],
  "minus zero": -0,
  "not a number": Number.NaN,
  infinities: [Infinity, -Infinity],
  "a small bigint": -5n,
  "a bigint of 200 bits": -(2n ** 200n) + 1n,
  "an empty string": "",
  "a NUL in a string": "a\0b",
  "lone surrogates": "\ud800x\udfff",
  "text beyond the first plane": "grüße 𝒳 😀",
  "a nested object": { a: [1, { b: [[]] }], c: {} },
  "a NUL in a key": { "a\0b": 1, a: 2 },
  "a key named __proto__": JSON.parse('{"__proto__": {"polluted": true}}'),
  "an object without prototype": Object.assign(Object.create(null), { a: 1 }),
  "an array with holes": Object.assign(new Array(4), { 0: 1, 2: 3 }),
  "an array with a property": Object.assign([1, 2], { extra: "x" }),
  "a date": new Date(86400000),
  "a map": new Map([
    ["a", { b: 1 }],
    [[1], new Map()],
  ]),
  "a set": new Set([1, "1", Number.NaN]),
  "a regular expression": Object.assign(/a(?<n>\/)/giu, { lastIndex: 3 }),
  "an array buffer": new Uint8Array([1, 2, 255]).buffer,
  "typed arrays": [new Uint8ClampedArray([300]), new Int16Array([-1, 2]), new Float32Array([0.5]), new Float64Array([-0]), new BigInt64Array([-(2n ** 63n)])],
  "part of a buffer": new Uint16Array(new Uint16Array([1, 2, 3, 4]).buffer, 2, 2),
  "a data view": new DataView(new Uint8Array([9, 8, 7]).buffer, 1),
  "boxed primitives": [Object(1), Object("s"), Object(false), Object(7n)],
};

for (const [name, value] of Object.entries(values)) {
  test(`values: ${name} comes back as itself, unchanged`, async (t) => {
    const { exports } = await sandboxOf(t, library);
    const back = exports.id(value);
    assert.ok(Object.is(back, value));
    assert.equal(Object.prototype.toString.call(back), Object.prototype.toString.call(value));
    assert.equal(exports.tag(value), Object.prototype.toString.call(value), "inside the guest");
  });
}

test("values: an invalid date stays one", async (t) => {
  const { exports } = await sandboxOf(t, library);
  const back = exports.id(new Date(Number.NaN));
  assert.ok(back instanceof Date);
  assert.ok(Number.isNaN(back.getTime()));
});

test("values: minus zero and NaN are themselves inside the guest", async (t) => {
  const { exports } = await sandboxOf(t, `{ minusZero: (x) => Object.is(x, -0), nan: (x) => Number.isNaN(x), length: (s) => s.length }`);
  assert.equal(exports.minusZero(-0), true);
  assert.equal(exports.minusZero(0), false);
  assert.equal(exports.nan(Number.NaN), true);
  assert.equal(exports.length("a\0b\ud800"), 4);
});

test("values: cycles and shared references keep their shape both ways", async (t) => {
  const { exports } = await sandboxOf(t, `{ id: (x) => x, closes: (x) => x.self === x && x.list[0] === x.list[1] }`);
  const shared = { n: 1 };
  const value = { list: [shared, shared] };
  value.self = value;
  assert.equal(exports.closes(value), true);
  const back = exports.id(value);
  assert.equal(back.self, back);
  assert.equal(back.list[0], back.list[1]);
});

test("values: one argument shared by two parameters is one object in the guest", async (t) => {
  const { exports } = await sandboxOf(t, library);
  const x = {};
  assert.equal(exports.same(x, x), true);
  assert.equal(exports.same(x, {}), false);
});

test("values: data may be as deep as it likes, both ways", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{ id: (x) => x, deep: (n) => { let x = {}; for (let i = 0; i < n; i++) x = { x }; return x; }, depth: (x) => { let n = 0; for (; x.deep; x = x.deep) n++; return n; } }`,
  );
  let deep = {};
  for (let i = 0; i < 20000; i++) deep = { deep };
  assert.equal(exports.id(deep), deep);
  assert.equal(exports.depth(deep), 20000);
  let levels = 0;
  for (let at = exports.deep(20000); at.x; at = at.x) levels++;
  assert.equal(levels, 20000);
});

test("values: symbols keep their identity", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `(() => { const own = Symbol("own"); return { id: (x) => x, own: () => own, isOwn: (s) => s === own, iterator: () => Symbol.iterator, registered: () => Symbol.for("r") }; })()`,
  );
  assert.equal(exports.iterator(), Symbol.iterator);
  assert.equal(exports.registered(), Symbol.for("r"));
  assert.equal(exports.id(Symbol.asyncIterator), Symbol.asyncIterator);
  const own = exports.own();
  assert.equal(own.description, "own");
  assert.equal(exports.own(), own);
  assert.equal(exports.isOwn(own), true);
  const mine = Symbol("mine");
  assert.equal(exports.id(mine), mine);
});

test("values: a host function can be called from the guest, with this and arguments", async (t) => {
  const { exports } = await sandboxOf(t, `{ call: (f, self, ...args) => f.apply(self, args), id: (x) => x, shape: (f) => [f.name, f.length, typeof f] }`);
  const calls = [];
  const f = function named(a, b) {
    calls.push([this, a, b]);
    return { sum: a + b };
  };
  assert.deepStrictEqual(exports.call(f, { self: 1 }, 2, 3), { sum: 5 });
  assert.deepStrictEqual(calls, [[{ self: 1 }, 2, 3]]);
  assert.deepStrictEqual(exports.shape(f), ["named", 2, "function"]);
  assert.deepStrictEqual(
    exports.shape((x) => x),
    ["", 1, "function"],
  );
  assert.equal(exports.id(f), f);
});

test("values: a callback's undeclared arguments are live, so that map over a long list stays linear", async (t) => {
  const { exports } = await sandboxOf(t, `{ map: (list, f) => list.map(f), touch: (list, f) => { list.forEach((x, i) => f(x, i, list)); return list; } }`);
  const lists = new Set();
  const last = (...args) => {
    lists.add(args[2]);
    return args[0];
  };
  const list = Array.from({ length: 50 }, (_, n) => ({ n }));
  assert.deepStrictEqual(exports.map(list, last), list);
  assert.equal(lists.size, 1);
  const [live] = lists;
  assert.ok(Array.isArray(live));
  assert.equal(live.length, 50);
  assert.deepStrictEqual(live[49], { n: 49 });
  const back = exports.touch([1], (...args) => args[2].push(2));
  assert.deepStrictEqual(back, [1, 2]);
});

test("values: a host instance is a live object in the guest and itself again coming back", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{ id: (x) => x, use: (c) => { c.add(2); c.label = "set"; return [c.total, "add" in c, "none" in c]; }, isA: (x, C) => x instanceof C, make: (C, n) => new C(n) }`,
  );
  class Counter {
    #n;
    constructor(n) {
      this.#n = n;
    }
    add(k) {
      this.#n += k;
    }
    get total() {
      return this.#n;
    }
  }
  const counter = new Counter(1);
  assert.deepStrictEqual(exports.use(counter), [3, true, false]);
  assert.equal(counter.total, 3);
  assert.equal(counter.label, "set");
  assert.equal(exports.id(counter), counter);
  assert.equal(exports.isA(counter, Counter), true);
  assert.equal(exports.make(Counter, 4).total, 4);
  assert.ok(exports.make(Counter, 4) instanceof Counter);
});

test("values: guest functions, classes and instances work from outside", async (t) => {
  const sandbox = await sandboxOf(
    t,
    `(() => {
      class Base { #secret = 7; get secret() { return this.#secret; } inc() { this.#secret++; return this; } }
      class Child extends Base { static label = "child"; static make() { return new Child(); } }
      function* numbers() { yield 1; yield 2; }
      const counter = { n: 0, next() { return ++this.n; } };
      return { Base, Child, numbers, counter, add: (a) => (b) => a + b };
    })()`,
  );
  const { exports } = sandbox;
  const child = new exports.Child();
  assert.equal(child.secret, 7);
  assert.equal(child.inc().secret, 8);
  assert.equal(child.inc(), child);
  assert.ok(child instanceof exports.Child);
  assert.ok(child instanceof exports.Base);
  assert.equal(exports.Child.label, "child");
  assert.equal(Object.getPrototypeOf(child), exports.Child.prototype);
  assert.equal(exports.add(1)(2), 3);
  assert.deepStrictEqual([...exports.numbers()], [1, 2]);
  assert.deepStrictEqual([exports.counter.next(), exports.counter.next()], [1, 2]);
  assert.equal(sandbox.createInstance("Child").inc().secret, 8);
  assert.equal(sandbox.createInstance(["Child"], []).secret, 7);
  assert.equal(exports.add, sandbox.fn("add"));
  assert.throws(() => sandbox.fn("counter"), { name: "SandboxError", message: "lib exports no function counter" });
  assert.throws(() => sandbox.createInstance("counter"), { name: "SandboxError", message: "lib exports no class counter" });
});

test("values: reflection on a guest object tells the truth", async (t) => {
  const { exports } = await sandboxOf(t, `{ a: 1, f() {}, list: [1, 2] }`);
  assert.deepStrictEqual(Object.keys(exports), ["a", "f", "list"]);
  assert.equal("a" in exports, true);
  assert.equal("z" in exports, false);
  assert.deepStrictEqual(Object.getOwnPropertyDescriptor(exports, "a"), { value: 1, writable: true, enumerable: true, configurable: true });
  exports.a = { b: 2 };
  assert.deepStrictEqual(exports.a, { b: 2 });
  assert.equal(delete exports.a, true);
  assert.equal("a" in exports, false);
  assert.equal(Object.getPrototypeOf(exports), Object.prototype);
  assert.ok(exports.f instanceof Function);
  assert.ok(Object.isFrozen(Object.freeze(exports)));
  assert.ok(Reflect.ownKeys(exports.f).includes("name"));
});

test("values: a callable singleton is called, constructed and read through one proxy", async (t) => {
  const sandbox = await sandboxOf(
    t,
    `Object.assign(function lib(x) { return new.target ? { made: x } : "called " + x; }, { version: "1", nested: { deep: () => "deep" } })`,
  );
  const lib = sandbox.callable();
  assert.equal(lib("a"), "called a");
  assert.deepStrictEqual(new lib("b"), { made: "b" });
  assert.equal(lib.version, "1");
  assert.equal(lib.nested.deep(), "deep");
  assert.equal(sandbox.value("version"), "1");
});

test("values: results stay live when that is asked for", async (t) => {
  const sandbox = await sandboxOf(t, `(() => { const state = { n: [1] }; return { state: () => state, bump: () => state.n.push(2) }; })()`, {
    results: "live",
  });
  const { n } = sandbox.exports.state();
  assert.ok(Array.isArray(n));
  sandbox.exports.bump();
  assert.deepStrictEqual([...n], [1, 2]);
  assert.equal(n.length, 2);
});

test("values: promises settle on both sides", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{
    later: async (x) => { await null; return x; },
    fails: async () => { await null; throw new TypeError("late"); },
    waits: async (f) => (await f()) + 1,
    catches: (p) => p.catch((e) => [e instanceof RangeError, e.message]),
  }`,
  );
  assert.deepStrictEqual(await exports.later({ a: 1 }), { a: 1 });
  await assert.rejects(exports.fails(), { name: "TypeError", message: "late" });
  assert.equal(await exports.waits(async () => 41), 42);
  assert.deepStrictEqual(await exports.catches(Promise.reject(new RangeError("no"))), [true, "no"]);
});

test("values: what belongs to one sandbox crosses into another as a host object", async (t) => {
  const a = await sandboxOf(t, `{ Box: class { constructor(v) { this.v = v; } read() { return this.v; } } }`);
  const b = await sandboxOf(t, `{ read: (box) => box.read() + 1, id: (x) => x }`);
  const box = new a.exports.Box(1);
  assert.equal(b.exports.read(box), 2);
  assert.equal(b.exports.id(box), box);
});

test("values: data-only arguments refuse functions and instances", async (t) => {
  const { exports } = await sandboxOf(t, `{ id: (x) => x }`, { arguments: "data" });
  assert.deepStrictEqual(exports.id({ a: [new Date(0)] }), { a: [new Date(0)] });
  assert.throws(() => exports.id(() => 1), { name: "TypeError", message: /data only/ });
  assert.throws(() => exports.id({ deep: [new (class {})()] }), { name: "TypeError", message: /data only/ });
});

test("values: what a library does to its built-ins changes neither marshalling nor the host", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `(() => {
    const lib = { id: (x) => x, call: (f) => f(1) };
    for (const name of ["map", "push", "forEach", Symbol.iterator]) Array.prototype[name] = () => { throw new Error("patched"); };
    Object.keys = Reflect.apply = Reflect.ownKeys = Object.getOwnPropertyDescriptor = () => { throw new Error("patched"); };
    Object.prototype.value = "polluted"; Object.prototype.get = () => "polluted";
    Map.prototype.get = Map.prototype.forEach = WeakRef.prototype.deref = () => undefined;
    Function.prototype.call = Function.prototype.apply = () => { throw new Error("patched"); };
    return lib;
  })()`,
  );
  assert.deepStrictEqual(exports.id({ a: [1, new Map([[1, 2]])] }), { a: [1, new Map([[1, 2]])] });
  assert.equal(
    exports.call((x) => x + 1),
    2,
  );
  assert.equal({}.value, undefined);
});
