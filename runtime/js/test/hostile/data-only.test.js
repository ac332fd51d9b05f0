// `arguments: "data"`: no route brings a host function or instance into the guest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxOf } from "./tools.js";

const source = `{
  got: [],
  take(...args) { this.got.push(...args); return args.length; },
  self() { "use strict"; return typeof this; },
  Taker: class { constructor(v) { this.v = v; } },
  box: { n: 1, keep() {} },
  callback: () => 1,
  calls: (f) => f(),
  types: (v) => [typeof v, Array.isArray(v), Object.prototype.toString.call(v)].join(),
  count() { return this.got.length; },
}`;

class Instance {
  method() {
    return 1;
  }
}

const behaviour = {
  "a function": () => () => 1,
  "a class": () => Instance,
  "an instance": () => new Instance(),
  "a function in an object": () => ({ deep: { f() {} } }),
  "a function in a list": () => [[() => 1]],
  "an instance in a map": () => new Map([["k", new Instance()]]),
  "a function as a map's key": () => new Map([[() => 1, 1]]),
  "a function in a set": () => new Set([() => 1]),
  "a getter": () => ({
    get n() {
      return 1;
    },
  }),
  "a setter": () => ({ set n(_) {} }),
  "a proxy of a function": () => new Proxy(() => 1, {}),
  // What it will resolve to is not there to be looked at.
  "a promise": () => Promise.resolve(() => 1),
  "a generator": () =>
    (function* () {
      yield 1;
    })(),
  "a function at a symbol": () => ({ [Symbol.iterator]: () => 1 }),
  "a function at a hidden key": () => Object.defineProperty({}, "f", { value: () => 1 }),
  "a function on an error": () => Object.assign(new Error("e"), { f: () => 1 }),
  "a function as an error's cause": () => new Error("e", { cause: () => 1 }),
  "a function on a list's own key": () => Object.assign([1], { f: () => 1 }),
  "a function on a date": () => Object.assign(new Date(0), { f: () => 1 }),
  "an object whose prototype has behaviour": () => Object.create({ f() {} }),
  "a list of a class of its own": () => new (class List extends Array {})(),
};

const routes = {
  "an argument": (e, v) => e.take(v),
  "a later argument": (e, v) => e.take(1, "two", v),
  "the receiver": (e, v) => Reflect.apply(e.self, v, []),
  "an argument of a constructor": (e, v) => new e.Taker(v),
  "a written field": (e, v) => {
    e.box.n = v;
  },
  "a defined field": (e, v) => Object.defineProperty(e.box, "d", { value: v, configurable: true }),
  "the target of Reflect.set": (e, v) => Reflect.set(e.box, "s", v),
};

for (const [what, make] of Object.entries(behaviour)) {
  for (const [how, route] of Object.entries(routes)) {
    test(`arguments "data": ${what} is refused as ${how}`, async (t) => {
      const { exports } = await sandboxOf(t, source, { arguments: "data" });
      assert.throws(() => route(exports, make()), { name: "TypeError", message: /data only/ });
      assert.equal(exports.count(), 0);
      assert.equal(exports.box.n, 1);
    });
  }
}

test('arguments "data": an accessor is refused where it is defined', async (t) => {
  const { exports } = await sandboxOf(t, source, { arguments: "data" });
  assert.throws(() => Object.defineProperty(exports.box, "g", { get: () => 1 }), { name: "TypeError", message: /data only/ });
  assert.throws(() => Object.setPrototypeOf(exports.box, new Instance()), { name: "TypeError", message: /data only/ });
});

test('arguments "data": data of every kind goes in', async (t) => {
  const { exports } = await sandboxOf(t, source, { arguments: "data" });
  const shared = { n: 1 };
  const cyclic = { shared, again: shared };
  cyclic.self = cyclic;
  const values = {
    "object,false,[object Object]": cyclic,
    "object,true,[object Array]": [1, [2, { three: 3 }]],
    "object,false,[object Date]": new Date(0),
    "object,false,[object Map]": new Map([[1, new Set([2])]]),
    "object,false,[object Uint8Array]": new Uint8Array(3),
    "object,false,[object RegExp]": /a/g,
    "object,false,[object Error]": new TypeError("e"),
    "bigint,false,[object BigInt]": 1n,
    "string,false,[object String]": "text",
    "undefined,false,[object Undefined]": undefined,
  };
  for (const [types, value] of Object.entries(values)) assert.equal(exports.types(value), types);
});

test('arguments "data": what came out of the guest goes back in', async (t) => {
  const { exports } = await sandboxOf(t, source, { arguments: "data" });
  assert.equal(exports.calls(exports.callback), 1);
  assert.equal(exports.take(exports.Taker, new exports.Taker(1), { deep: exports.callback }), 3);
});
