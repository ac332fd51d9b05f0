// What a hostile library tries with the host values that it was given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxOf } from "./sandboxes.js";

const library = `{ run: (source, x) => (0, eval)("(x) => " + source)(x) }`;
const granted = { permissions: ["Intl", "URL", "structuredClone", "TextEncoder", "AbortController", "console", "setTimeout", "SharedThing"] };

// Each expression tries to reach a function that compiles code in the host's realm.
const compilers = [
  "URL.constructor",
  "new URL('https://a.example').constructor.constructor",
  "URL.__proto__.constructor",
  "Object.getPrototypeOf(URL).constructor",
  "Object.getPrototypeOf(Object.getPrototypeOf(new URL('https://a.example'))).constructor.constructor",
  "Reflect.get(URL, 'constructor')",
  "structuredClone.constructor",
  "Intl.NumberFormat.constructor",
  "new Intl.NumberFormat('en').format.constructor",
  "Object.getOwnPropertyDescriptor(URL.prototype, 'constructor').value.constructor",
  "x.constructor.constructor",
  "x.method.constructor",
  "x.constructor.prototype.constructor.constructor",
  "x.generator.constructor",
  "Object.getPrototypeOf(x.generator).constructor",
  "x.generator.__proto__.constructor",
  "x.asyncFunction.constructor",
  "x.asyncGenerator.constructor",
  "x.compiler",
  "x.indirectEval",
  "(() => { try { x.fails(); } catch (e) { return e.constructor.constructor; } })()",
  "x.toString.constructor",
  "x.__lookupGetter__.constructor",
];

class Thing {
  method() {
    return 1;
  }
  fails() {
    throw new TypeError("no");
  }
}
const thing = () =>
  Object.assign(new Thing(), {
    *generator() {
      yield 1;
    },
    async asyncFunction() {},
    async *asyncGenerator() {},
    compiler: Function,
    indirectEval: eval,
  });
// Written as functions too, since those have a prototype of their own.
function* generator() {
  yield 1;
}

for (const expression of compilers) {
  test(`escape: ${expression} compiles inside the guest or not at all`, async (t) => {
    const { exports } = await sandboxOf(t, library, granted);
    for (const x of [thing(), Object.assign(thing(), { generator })]) {
      const reached = exports.run(
        `(() => {
        const f = ${expression};
        if (typeof f !== "function") return "no function";
        for (const code of ["return typeof process", "typeof process"]) {
          try { const r = f(code); const found = typeof r === "function" ? r() : r; if (found === "object") return "the host"; } catch {}
        }
        return "the guest";
      })()`,
        x,
      );
      assert.notEqual(reached, "the host");
    }
  });
}

test("escape: writes to what the host shares do not reach the host", async (t) => {
  const shared = { SharedThing: class SharedThing {} };
  const { exports } = await sandboxOf(t, library, { ...granted, capabilities: shared });
  const writes = [
    "Object.getPrototypeOf(new URL('https://a.example')).polluted = 1",
    "URL.prototype.polluted = 1",
    "URL.__proto__.polluted = 1",
    "URL.polluted = 1",
    "Object.getPrototypeOf(URL.prototype).polluted = 1",
    "Object.defineProperty(URL.prototype, 'href', { value: 'x' })",
    "delete URL.prototype.href",
    "Intl.NumberFormat = 1",
    "Intl.polluted = 1",
    "console.log = 1",
    "Object.getPrototypeOf(x).polluted = 1",
    "x.__defineGetter__.call(URL.prototype, 'polluted', () => 1)",
    "Object.getPrototypeOf([][Symbol.iterator]()).polluted = 1",
    "Object.getPrototypeOf(Object.getPrototypeOf(x.iterator)).polluted = 1",
    "SharedThing.prototype.polluted = 1",
  ];
  const x = Object.assign(new Thing(), { iterator: [][Symbol.iterator]() });
  const { log } = console;
  const { NumberFormat } = Intl;
  for (const write of writes) exports.run(`(() => { try { ${write}; } catch {} })()`, x);
  for (const object of [
    {},
    URL,
    URL.prototype,
    new URL("https://a.example"),
    Intl,
    () => 1,
    Thing.prototype,
    x,
    [][Symbol.iterator](),
    shared.SharedThing.prototype,
  ]) {
    assert.equal(object.polluted, undefined);
  }
  assert.equal(Object.getPrototypeOf(x), Thing.prototype);
  assert.equal(new URL("https://a.example/").href, "https://a.example/");
  assert.equal(console.log, log);
  assert.equal(Intl.NumberFormat, NumberFormat);
});

test("escape: a granted timer takes functions only, since a string would be code", async (t) => {
  const ran = [];
  const { exports } = await sandboxOf(t, library, { permissions: ["setTimeout"], capabilities: { setTimeout: (f) => ran.push(typeof f) } });
  exports.run("setTimeout(() => 1, 0)");
  assert.throws(() => exports.run("setTimeout('alert(1)', 0)"), { name: "TypeError", message: /setTimeout takes a function/ });
  assert.throws(() => exports.run("setTimeout({ toString: () => 'alert(1)' }, 0)"), { name: "TypeError" });
  assert.deepStrictEqual(ran, ["function"]);
});

test("escape: a forged stand-in, a stolen id, and proxies that lie change nothing outside", async (t) => {
  const { exports } = await sandboxOf(t, library, granted);
  const bytes = exports.run("new Proxy([], { get: (t, k) => k === 'length' ? 1e9 : 1 })");
  assert.equal(bytes.length, 1e9, "a proxy stays in the guest");
  const hidden = exports.run("new Proxy(class {}, { getPrototypeOf: () => { throw 1; } })");
  assert.equal(typeof hidden, "function");
  const endless = exports.run("(() => { const p = new Proxy({}, { getPrototypeOf: () => p }); return p; })()");
  assert.equal(typeof endless, "object");
});

test("escape: intrinsics are the guest's own inside, and ours again outside", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{ is: (a) => [a === Object, a === Array, a === Map, a === Object.prototype], id: (x) => x, filter: (list, f) => list.filter(f), leak: () => Function }`,
  );
  assert.deepStrictEqual(exports.is(Object), [true, false, false, false]);
  assert.deepStrictEqual(exports.is(Object.prototype), [false, false, false, true]);
  assert.equal(exports.id(Map), Map);
  assert.deepStrictEqual(exports.filter([0, 1, ""], Boolean), [1]);
  assert.notEqual(exports.leak(), Function);
  assert.equal(exports.leak()("return typeof process")(), "undefined");
});
