// The interface between the engine and the membrane, from inside: names and ids of host
// functions, forged proxies and handlers, what the traps are made of, and re-entry.
import { MARK } from "./loot.js";

const program = ([name, text, more]) => ({ name, program: text, quiet: true, ...more });

// Everything that can be reached from the guest's global object, what it was given, and a
// call site; and how much that was.
const crawl = `
const seen = new Set();
const queue = [globalThis, x, x.fn, x.Thing, x.instance, x.calls, x.promise];
Error.prepareStackTrace = (e, list) => list;
x.calls(() => queue.push(...new Error("here").stack));
Object.defineProperty(x.object, "here", { get() { queue.push(...new Error("here").stack); }, configurable: true });
x.object.here;
Error.prepareStackTrace = undefined;
for (let i = 0; i < queue.length && i < 6000; i++) {
  const v = queue[i];
  if (Object(v) !== v || seen.has(v)) continue;
  seen.add(v);
  if (typeof v === "function") kit.spied("a crawl", v);
  try { queue.push(Object.getPrototypeOf(v)); } catch {}
  let keys = [];
  try { keys = Reflect.ownKeys(v); } catch {}
  for (const key of keys) {
    try {
      const d = Object.getOwnPropertyDescriptor(v, key);
      queue.push(d.value, d.get, d.set);
      if (d.get) queue.push(Reflect.get(v, key));
    } catch (error) { queue.push(error); }
  }
}
if (seen.size < 500) throw new Error("the crawl saw only " + seen.size);
`;

const tricks = [
  ["a crawl of everything that can be reached", crawl],
  [
    "host functions renamed to other ids",
    `for (let id = 0; id < 40; id++) attempts(() => Object.defineProperty(x.fn, "name", { value: String(id) }), () => x.fn(1, id, {}, "${MARK}"), () => x.fn(3, id, {}), () => x.fn(5, id, {}, "a", 1, {}));`,
  ],
  [
    "guest functions named like ids",
    `for (let id = 0; id < 40; id++) { const f = { [id]() { return 1; } }[id]; attempts(() => x.calls(f, 1, id), () => x.keep(f), () => f.call(x.fn, id)); }`,
  ],
  [
    "names and lengths of host functions",
    `for (const key of Reflect.ownKeys(x)) if (typeof x[key] === "function") { if (/^\\d+$/.test(x[key].name)) throw new Error("the name of x." + key + " is the id " + x[key].name); take(x[key].name, x[key].length, x[key].toString()); }`,
  ],
  [
    "numbers where a trap takes them",
    `for (let op = 0; op < 14; op++) for (const id of [0, 1, 2, 3, -1, 0.5, NaN, 2 ** 31, 2 ** 32, "1", 1n, null, undefined, x, {}]) attempts(() => x.fn(op, id, {}, "${MARK}"), () => x.arrow(op), () => x.calls(x.fn, op, id));`,
  ],
  [
    "forged handlers and shadows",
    `for (let id = 0; id < 30; id++) { const handler = { __proto__: null, id }; const p = new Proxy({}, handler); attempts(() => x.arrow(p)["${MARK}"], () => x.arrow(handler), () => x.keep(p), () => x.fn.call(p, p), () => x.object.nested === x.arrow(p)); if (x.arrow(p) !== p) throw new Error("a forged proxy came back as another"); }`,
  ],
  [
    "handlers that are proxies",
    `const hostile = (what) => new Proxy({ __proto__: null, id: 1 }, { getPrototypeOf: what, get: (t, k, r) => (what(), k === "id" ? 1 : undefined), ownKeys: what }); for (const what of [() => { throw x.fn; }, () => null, () => x.fn, () => (x.keep(1), null), () => (x.calls(() => x.object.a), Object.prototype), () => { x.object.list.push(1); return null; }]) { const p = new Proxy({}, hostile(what)); attempts(() => x.keep(p), () => x.arrow(p), () => x.use("text", p), () => x.fn(p, p, [p], { p }), () => (x.object.p = p)); }`,
  ],
  [
    "handlers whose prototype is a host proxy",
    `for (const proto of [x.object, x.fn, x.instance, x.proxy, x.array, x.Thing]) { const handler = Object.create(proto, { id: { value: 1 } }); const p = new Proxy(function () {}, handler); attempts(() => x.arrow(p), () => p(1), () => new p(), () => p.a, () => x.keep(p)); }`,
  ],
  [
    "a host proxy as target, handler and receiver",
    `for (const v of [x.object, x.fn, x.instance, x.array]) attempts(() => new Proxy(v, x.object).a, () => new Proxy({}, v).a, () => Reflect.get(x.object, "a", v), () => Reflect.set(x.object, "a", 1, v), () => Reflect.construct(x.Thing, [], v), () => Reflect.apply(v, v, [v]), () => Object.setPrototypeOf(v, v), () => Object.create(v).a);`,
  ],
  [
    "many arguments",
    `for (const n of [0, 1, 2, 3, 4, 5, 8, 16, 300, 5000, 40000]) attempt(() => { if (x.fn(...new Array(n).fill(x.object)) !== n) throw 1; }); attempts(() => x.fn.apply(null, { length: 60000 }), () => x.fn.apply(null, { length: 2 ** 32 }), () => x.calls((...all) => all.length, ...new Array(3000)), () => new x.Thing(...new Array(5000)));`,
  ],
  [
    "odd keys",
    `for (const key of ["", "__proto__", "constructor", "0", "00", "-0", "-1", "1.5", "1e3", "2147483647", "2147483648", "4294967294", "4294967295", "4294967296", "\\0", "a\\0b", "\\ud800", "\\udfff\\ud800", "length", "name", "id", "toString", "x".repeat(70), "x".repeat(100000), Symbol("k"), Symbol.for("k"), Symbol.iterator, Symbol("")]) for (const o of [x.object, x.array, x.fn, x.instance]) attempts(() => o[key], () => key in o, () => { const d = Object.getOwnPropertyDescriptor(o, key); if (!d) { o[key] = 1; if (key !== "__proto__" && o[key] !== 1) throw new Error("a lost write"); return delete o[key]; } });`,
  ],
  [
    "long strings and many symbols",
    `attempts(() => x.arrow("ab".repeat(300000)).length, () => x.arrow("\\ud800".repeat(100000)).length, () => x.arrow("\\0".repeat(5000)).length); for (let i = 0; i < 500; i++) { const s = Symbol("s" + i); if (x.arrow(s) !== s) throw new Error("a symbol came back as another"); x.object[s] = i; } for (let i = 0; i < 3000; i++) x.object["key" + i];`,
  ],
  [
    "numbers of every kind",
    `for (const n of [0, -0, 1, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53, 1.5, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, -2.5e-310]) if (!Object.is(x.arrow(n), n)) throw new Error("a lost number " + n); const f = new Float64Array(1); const u = new Uint32Array(f.buffer); for (const high of [0xfff00000, 0xfff80000, 0xffffffff, 0x7ff80000, 0x7fffffff, 0xfff7ffff, 0xfffffff9, 0x80000000]) for (const low of [0, 1, 4, 0xffffffff, 0x1000]) { u[1] = high; u[0] = low; if (!Object.is(x.arrow(f[0]), +f[0])) throw new Error("a forged number " + high.toString(16)); }`,
  ],
  [
    "bigints of every size",
    `for (const n of [0n, 1n, -1n, 2n ** 31n, 2n ** 62n, 2n ** 63n, -(2n ** 63n), 2n ** 64n, -(2n ** 64n) - 1n, 2n ** 1000n]) if (x.arrow(n) !== n) throw new Error("a lost bigint " + n); const own = BigInt.prototype.toString; BigInt.prototype.toString = () => "666"; if (x.arrow(2n ** 70n) !== 2n ** 70n) throw new Error("a forged bigint"); BigInt.prototype.toString = own; globalThis.BigInt = () => 1n; if (x.arrow(2n ** 80n) !== 2n ** 80n) throw new Error("a forged bigint");`,
  ],
  [
    "objects that die while they cross",
    `for (let i = 0; i < 300; i++) { const list = [{ i }, () => i, Symbol("i")]; x.fn(list.pop(), list.pop(), list); x.calls((a) => { list.length = 0; return a; }, { get gone() { return list; } }); x.arrow(new Proxy({}, { get() { list.push({}); } })); }`,
  ],
  [
    "arguments that change while they are read",
    `const list = [1, 2, 3]; attempts(() => x.fn.apply(null, Object.defineProperty([1, 2, 3], 1, { get() { list.length = 0; return list; } })), () => x.use("json", Object.defineProperty({ a: list }, "b", { enumerable: true, get() { list.push(list); return 1; } })), () => x.use("spread", new Proxy(list, { getOwnPropertyDescriptor(t, k) { t.length = 0; return { value: x.fn, configurable: true, enumerable: true, writable: true }; } })));`,
  ],
  [
    "results that are what the membrane answers with",
    `for (const v of [undefined, null, true, false, 0, 1, Object.freeze(Object.create(null)), Object.freeze({ __proto__: null })]) { Object.defineProperty(x.object, "answer", { get: () => v, configurable: true }); if (x.object.answer !== v) throw new Error("an answer was taken for another"); x.object.plain = v; if (x.object.plain !== v) throw new Error("a field was taken for another"); if (x.arrow(v) !== v) throw new Error("a result was taken for another"); }`,
  ],
  [
    "a revived handle after collection",
    `for (let i = 0; i < 200; i++) { let o = x.calls(() => ({ i })); const again = x.arrow(o); if (again !== o || again.i !== i) throw new Error("another object came back"); o = null; }`,
  ],
];

// A long random program that nests everything in everything; the seed makes it repeatable.
const fuzz = (seed) => `
let s = ${seed};
const random = (n) => { s = (Math.imul(s, 1103515245) + 12345) >>> 0; return (s >>> 8) % n; };
const pool = [x.object, x.array, x.instance, x.fn, x.arrow, x.Thing, x.date, x.map, x.set, x.proxy, x.frozen, x.error, x.bytes, x.symbol, 1, "text", null, undefined, {}, [], () => 1, class {}, new Map(), new Date(0)];
const any = () => pool[random(pool.length)];
const key = () => ["a", "b", "length", "0", "nested", "constructor", "__proto__", "then", "toString", "valueOf", Symbol.iterator, Symbol.toPrimitive, "${MARK}"][random(13)];
const uses = ["text", "number", "json", "spread", "spreadList", "from", "keys", "entries", "assign", "call", "construct", "instanceOf", "isInstance", "sort", "map", "species", "concatLists", "replace", "mapOf", "setOf", "resolve", "handler", "tag", "reflect", "bind", "getter", "throws", "cause", "bytes"];
let budget = 250;
const step = (depth) => {
  if (budget-- <= 0) return any();
  const inner = (...all) => { if (all.length && pool.length < 60) pool.push(all[random(all.length)]); if (depth < 4) return step(depth + 1); return any(); };
  try {
    switch (random(16)) {
      case 0: return any()[key()];
      case 1: { const o = any(), k = key(); if (k !== "__proto__") o[k] = any(); return o; }
      case 2: return delete any()[key()];
      case 3: return Reflect.ownKeys(any()).length;
      case 4: return Object.defineProperty(any(), key(), { get: inner, set: inner, configurable: true });
      case 5: return Object.defineProperty(any(), key(), { value: any(), configurable: true, writable: true });
      case 6: return x.calls(inner, any(), any());
      case 7: return x.callsOn(inner, any(), any());
      case 8: return x.use(uses[random(uses.length)], any());
      case 9: return x.use(uses[random(uses.length)], inner);
      case 10: return x.use(uses[random(uses.length)], new Proxy(Object(any()), { get: inner, has: inner, ownKeys: inner, getOwnPropertyDescriptor: inner, getPrototypeOf: inner, apply: inner, construct: inner }));
      case 11: return Reflect.construct(x.Thing, [any()], any());
      case 12: return Object.getPrototypeOf(any());
      case 13: return Reflect.apply(any(), any(), [any(), inner]);
      case 14: return x.keep(any());
      default: return new (class extends x.Thing { constructor() { super(); inner(this); } })();
    }
  } catch (error) {
    if (pool.length < 60) pool.push(error);
    return error;
  }
};
while (budget > 0) take(step(0));
`;

const works = ({ exports, x }) => {
  const sum = exports.add(1, 2);
  if (sum !== 3) return `afterwards 1 + 2 is ${sum}`;
  return exports.echo(x.fn) === x.fn ? undefined : "afterwards an echo is another value";
};

export const engine = {
  "the engine's interface": tricks.map(([name, text]) => ({ ...program([name, text]), drive: works })),
  "random programs": Array.from({ length: 12 }, (_, i) => ({
    name: `seed ${i + 1}`,
    program: fuzz(i + 1),
    quiet: true,
    options: { limits: { timeoutMs: 60_000 } }, // slow hosts come to an end as well
    drive: works,
  })),
};
