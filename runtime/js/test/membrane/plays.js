// Plays: code of one realm at work on what the other made. `theirs(source)` has the
// other realm make a value. Each runs in one realm for what is expected, then with the
// guest's things in the host's hands, then with the host's in the guest's.
import { callPlays } from "./plays-calls.js";

const play = (group, name, source) => ({ group, name, play: source });
const symbols = (name, source) => play("symbols across", name, source);
const shapes = (name, source) => play("shapes across", name, source);
const waits = (name, source) => play("promises across", name, source);
const matchers = (name, source) => play("matchers", name, source);

// What a test runner's toStrictEqual does, in the language alone.
const equal = `((a, b) => {
  const seen = new Map();
  const eq = (x, y) => {
    if (y !== null && typeof y === "object" && typeof y.asymmetricMatch === "function") return y.asymmetricMatch(x);
    if (Object.is(x, y)) return true;
    if (typeof x !== "object" || typeof y !== "object" || x === null || y === null) return false;
    if (Object.prototype.toString.call(x) !== Object.prototype.toString.call(y)) return false;
    if (x.constructor !== y.constructor || Object.getPrototypeOf(x) !== Object.getPrototypeOf(y)) return false;
    if (seen.get(x) === y) return true;
    seen.set(x, y);
    if (x instanceof Date) return Object.is(x.getTime(), y.getTime());
    if (x instanceof RegExp) return x.source === y.source && x.flags === y.flags;
    if (x instanceof Error) return x.name === y.name && x.message === y.message;
    if (x instanceof Map || x instanceof Set) return x.size === y.size && eq([...x], [...y]);
    if (Array.isArray(x) && x.length !== y.length) return false;
    const keys = Reflect.ownKeys(x);
    return keys.length === Reflect.ownKeys(y).length && keys.every((k) => Object.hasOwn(y, k) && eq(x[k], y[k]));
  };
  return eq(a, b);
})`;

export const plays = [
  ...callPlays,

  symbols(
    "one unique symbol on both sides",
    `(theirs, K) => {
    const s = Symbol("shared");
    const t = theirs("(() => { const own = Symbol('own'); return { own: () => own, is: (s) => s === own, put: (o, s) => { o[s] = 1; return Object.getOwnPropertySymbols(o).length; }, id: (s) => s }; })()");
    const o = {};
    t.put(o, s);
    t.put(o, t.own());
    return [t.id(s) === s, t.own() === t.own(), t.is(t.own()), t.is(s), o[s], o[t.own()], Object.getOwnPropertySymbols(o).length, t.own().description].join(" | ");
  }`,
  ),
  symbols(
    "registered and well-known symbols are one",
    `(theirs, K) => {
    const t = theirs("{ reg: Symbol.for('app.key'), iter: Symbol.iterator, key: (s) => Symbol.keyFor(s), make: () => ({ [Symbol.for('app.key')]: 'r', [Symbol.iterator]: function* () { yield 1; } }) }");
    const o = t.make();
    return [t.reg === Symbol.for("app.key"), t.iter === Symbol.iterator, t.key(Symbol.for("other")), o[Symbol.for("app.key")], [...o].join()].join(" | ");
  }`,
  ),
  symbols(
    "symbols as keys of classes",
    `(theirs, K) => {
    const tag = Symbol("tag");
    const C = theirs("(tag) => class { [tag]() { return 'tagged'; } static [tag] = 'static'; get [Symbol.toStringTag]() { return 'Cool'; } }")(tag);
    return [new C()[tag](), C[tag], String(new C())].join(" | ");
  }`,
  ),

  shapes(
    "live bindings are read at access",
    `(theirs, K) => {
    const m = theirs("(() => { let n = 0; return { get n() { return n; }, bump() { return ++n; } }; })()");
    const seen = [m.n];
    m.bump();
    seen.push(m.n);
    m.bump();
    return [...seen, m.n].join();
  }`,
  ),
  shapes(
    "a namespace with everything",
    `(theirs, K) => {
    const lib = theirs("Object.freeze(Object.defineProperties({ __proto__: null, default: function main() { return 'main'; }, version: '1.0', Thing: class Thing {}, options: { deep: { a: 1 } } }, { [Symbol.toStringTag]: { value: 'Module' } }))");
    return [Object.keys(lib).join(), lib.default(), lib.version, new lib.Thing() instanceof lib.Thing, lib.options.deep.a, Object.prototype.toString.call(lib), Object.getPrototypeOf(lib), K.attempt(() => { lib.version = 2; }), Object.isFrozen(lib)].join(" | ");
  }`,
  ),
  shapes(
    "a chain that returns itself",
    `(theirs, K) => {
    const q = theirs("(() => { class Q { #parts = []; add(x) { this.#parts.push(x); return this; } map(f) { this.#parts = this.#parts.map(f); return this; } end() { return this.#parts.join(); } } return () => new Q(); })()");
    const one = q();
    return [one.add(1) === one, one.add(2).map((x) => x * 3).end()].join(" | ");
  }`,
  ),
  shapes(
    "Object.assign, spread and rest",
    `(theirs, K) => {
    const t = theirs("{ o: { a: 1, b: { c: 2 }, get d() { return 4; } }, list: [1, 2], merge: (...o) => Object.assign({}, ...o), rest: ({ a, ...r }) => JSON.stringify(r) }");
    return [JSON.stringify({ ...t.o }), [...t.list, 3].join(), JSON.stringify(t.merge({ x: 1 }, { y: [2] })), t.rest({ a: 1, b: 2, c: { d: 3 } })].join(" | ");
  }`,
  ),
  shapes(
    "for-in, entries and hasOwn",
    `(theirs, K) => {
    const o = theirs("Object.create({ up: 1 }, { a: { value: 1, enumerable: true }, hid: { value: 2 }, b: { value: 3, enumerable: true } })");
    const keys = [];
    for (const k in o) keys.push(k);
    return [keys.join(), Object.entries(o).join(), Object.hasOwn(o, "up"), "up" in o, o.propertyIsEnumerable("hid"), Object.getOwnPropertyNames(o).join()].join(" | ");
  }`,
  ),
  shapes(
    "concat and flat with theirs",
    `(theirs, K) => {
    const l = theirs("[1, [2, [3]]]");
    return [[0].concat(l).length, JSON.stringify(l.flat(2)), [l].flat().length, Array.from(l).length, Array.prototype.concat.call(l, l).length].join(" | ");
  }`,
  ),
  shapes(
    "their proxy's traps are asked as in one realm",
    `(theirs, K) => {
    const t = theirs("(() => { const log = []; const p = new Proxy({ a: 1 }, { get(t, k) { if (k !== 'log') log.push('get ' + String(k)); return t[k]; }, has(t, k) { log.push('has ' + String(k)); return k in t; }, set(t, k, v) { log.push('set ' + String(k)); t[k] = v; return true; } }); return { p: () => p, f: (x) => x.a, log: () => log.filter((x) => / [a-z]$/.test(x)).join() }; })()");
    const p = t.p();
    p.b = 2;
    return ["a" in p, p.b, t.f(p), t.log().includes("set b")].join(" | ");
  }`,
  ),
  shapes(
    "expandos on what is theirs",
    `(theirs, K) => {
    const t = theirs("(() => { const f = () => 1; class A {} const a = new A(); return { f: () => f, a: () => a, see: () => [f.mine, a.mine?.deep].join() }; })()");
    t.f().mine = 5;
    t.a().mine = { deep: 6 };
    return [t.see(), t.f().mine, t.a().mine.deep].join(" | ");
  }`,
  ),
  shapes(
    "results that hold what was given",
    `(theirs, K) => {
    const users = [{ n: 1 }, { n: 2 }, { n: 1 }];
    const { groups, pairs, same } = theirs("(l) => ({ groups: l.reduce((g, x) => { (g[x.n] ??= []).push(x); return g; }, {}), pairs: new Map(l.map((x) => [x, x.n])), same: l })")(users);
    return [groups[1][0] === users[0], groups[1][1] === users[2], groups[2][0] === users[1], pairs.get(users[1]), same === users].join(" | ");
  }`,
  ),
  shapes(
    "a result changed and given back",
    `(theirs, K) => {
    const t = theirs("(() => { const state = { n: 1, list: [{ a: 1 }], by: new Map() }; return { get: () => state, put: (s) => [s === state, state.n, state.list.length, state.list[0].a, state.by.size].join() }; })()");
    const s = t.get();
    s.n = 2;
    s.list.push(3);
    s.list[0].a = 9;
    s.by.set(1, 2);
    const first = t.put(s);
    return [first, t.get() === s, t.get().n].join(" | ");
  }`,
  ),
  shapes(
    "what is set on another receiver is seen there",
    `(theirs, K) => {
    const t = theirs("(o, x, y) => [Reflect.set(o, 'a', x, y), y.a === x].join()");
    const x = {};
    return [{}, [], new Set(), Object(5), () => {}].map((y) => [t({ a: 1 }, x, y), y.a === x].join()).join(" | ");
  }`,
  ),
  shapes(
    "a result changed by its owner",
    `(theirs, K) => {
    const t = theirs("(() => { const state = { n: 1, list: [], set: new Set() }; return { get: () => state, bump: () => { state.n++; state.list.push(state.n); state.set.add(state.n); return state; } }; })()");
    const s = t.get();
    t.bump();
    const again = t.bump();
    return [again === s, s.n, s.list.join(), [...s.set].join()].join(" | ");
  }`,
  ),

  waits(
    "two awaits in sequence",
    `async (theirs, K) => {
    const t = theirs("{ one: async (x) => x + 1, two: async (f) => { const a = await f(1); const b = await f(a); return [a, b].join(); } }");
    const a = await t.one(1);
    const b = await t.one(a);
    return [a, b, await t.two(t.one), await t.two(async (x) => { await null; return x * 10; })].join(" | ");
  }`,
  ),
  waits(
    "rejections and finally across",
    `async (theirs, K) => {
    const t = theirs("{ fail: async (e) => { await null; throw e; }, guard: async (f) => { const log = []; try { await f(); } catch (e) { log.push(e.name); } finally { log.push('done'); } return log.join(); } }");
    const e = new RangeError("mine");
    let caught;
    try { await t.fail(e); } catch (c) { caught = c; }
    return [caught === e, await t.guard(async () => { throw new TypeError('x'); }), await t.guard(() => t.fail(e))].join(" | ");
  }`,
  ),
  waits(
    "all, race, any, allSettled over both sides' promises",
    `async (theirs, K) => {
    const t = theirs("{ p: (x) => Promise.resolve(x), all: (l) => Promise.all(l).then((r) => r.join()), r: (x) => { const p = Promise.reject(x); p.catch(() => {}); return p; } }");
    return [(await Promise.all([t.p(1), Promise.resolve(2), 3])).join(), await t.all([Promise.resolve(4), t.p(5), 6]), await Promise.any([t.r(1), t.p(7)]), (await Promise.allSettled([t.r(8), t.p(9)])).map((x) => x.status).join()].join(" | ");
  }`,
  ),
  waits(
    "one promise back and forth is one",
    `async (theirs, K) => {
    const t = theirs("(() => { const p = Promise.resolve({ v: 1 }); return { p: () => p, is: (x) => x === p, id: (x) => x }; })()");
    const mine = Promise.resolve(2);
    return [t.p() === t.p(), t.is(t.p()), t.id(mine) === mine, Promise.resolve(t.p()) === t.p(), (await t.p()) === (await t.p())].join(" | ");
  }`,
  ),
  waits(
    "settled from the other side",
    `async (theirs, K) => {
    const d = theirs("(() => { let ok; let no; const p = new Promise((a, b) => { ok = a; no = b; }); return { p: () => p, ok: (x) => ok(x), no: (x) => no(x) }; })()");
    const before = await K.outcome(d.p());
    d.ok("now");
    d.no("never");
    let resolve;
    const mine = new Promise((r) => { resolve = r; });
    const got = theirs("async (p) => 'got ' + (await p)")(mine);
    resolve("mine");
    return [before, await d.p(), await got].join(" | ");
  }`,
  ),
  waits(
    "thenables of both sides",
    `async (theirs, K) => {
    const t = theirs("{ thenable: { then(ok) { ok('theirs'); } }, wait: async (x) => 'saw ' + (await x) }");
    return [await t.thenable, await t.wait({ then(ok) { ok('mine'); } }), await t.wait(t.thenable)].join(" | ");
  }`,
  ),
  waits(
    "an async pipeline with callbacks",
    `async (theirs, K) => {
    const t = theirs("{ map: async (l, f) => { const out = []; for (const x of l) out.push(await f(x)); return out; }, gen: async function* (n, f) { for (let i = 0; i < n; i++) yield await f(i); } }");
    const seen = [];
    for await (const x of t.gen(3, async (i) => i * i)) seen.push(x);
    return [(await t.map([1, 2, 3], async (x) => { await null; return x * 2; })).join(), seen.join()].join(" | ");
  }`,
  ),
  waits(
    "for await over their iterables and mine",
    `async (theirs, K) => {
    const t = theirs("{ collect: async (it) => { const l = []; for await (const x of it) l.push(x); return l.join(); }, sync: [Promise.resolve(1), 2] }");
    const l = [];
    for await (const x of t.sync) l.push(x);
    return [l.join(), await t.collect((async function* () { yield 1; yield 2; })()), await t.collect([Promise.resolve(5), 6])].join(" | ");
  }`,
  ),
  waits(
    "a promise executor of theirs",
    `async (theirs, K) => {
    const executor = theirs("(ok, no) => { ok(5); no(6); }");
    const thrower = theirs("() => { throw new RangeError('x'); }");
    return [await new Promise(executor), await K.outcome(new Promise(thrower))].join(" | ");
  }`,
  ),

  matchers(
    "their result strictly equals mine",
    `(theirs, K) => {
    const equal = ${equal};
    const made = "({ a: [1, { b: new Date(3) }], m: new Map([['k', { s: new Set([1, 2]) }]]), r: /x/gi, e: new TypeError('t'), n: null, z: -0, u: undefined, t: new Uint8Array([1, 2]) })";
    const mine = K.compile(made);
    const other = K.compile(made.replace("b: new Date(3)", "b: new Date(4)"));
    return [equal(theirs(made), mine), equal(mine, theirs(made)), equal(theirs(made), other), equal(theirs("[1, [2]]"), [1, [2]]), equal(theirs("[1, , 2]"), [1, undefined, 2])].join(" | ");
  }`,
  ),
  matchers(
    "asymmetric matchers go along",
    `(theirs, K) => {
    const equal = ${equal};
    const any = (C) => ({ asymmetricMatch: (x) => Object(x) instanceof C });
    const their = theirs("((equal) => (x, y) => equal(x, y))")(equal);
    return [equal(theirs("({ a: 5, d: new Date(0), f: () => 1 })"), { a: any(Number), d: any(Date), f: any(Function) }), equal(theirs("({ a: '5' })"), { a: any(Number) }), their({ a: 5 }, { a: any(Number) })].join(" | ");
  }`,
  ),
  matchers(
    "a spy is called with what it was called with",
    `(theirs, K) => {
    const spy = Object.assign(function (...args) { spy.calls.push({ self: this, args }); return spy.result; }, { calls: [], result: "r" });
    const o = { spy };
    const back = theirs("(o, x) => [o.spy(1, x), o.spy.call(null, [2])].join()")(o, o);
    return [back, spy.calls.length, spy.calls[0].self === o, spy.calls[0].args[1] === o, Array.isArray(spy.calls[1].args[0]), spy.calls[1].self].join(" | ");
  }`,
  ),
  matchers(
    "a method of theirs is mocked",
    `(theirs, K) => {
    const api = theirs("({ n: 2, real() { return 'real ' + this.n; }, viaSelf() { return this.real(); } })");
    const real = api.real;
    api.real = function () { return "mocked " + this.n; };
    const seen = [api.real(), api.viaSelf()];
    api.real = real;
    return [...seen, api.real(), api.viaSelf(), api.real === real].join(" | ");
  }`,
  ),
  matchers(
    "errors are matched by class, message and fields",
    `(theirs, K) => {
    const f = theirs("(() => { class Own extends RangeError { constructor() { super('own message'); this.code = 'E'; } } return Object.assign(() => { throw new Own(); }, { Own }); })()");
    try { f(); } catch (e) { return [e instanceof f.Own, e instanceof RangeError, /own/.test(e.message), e.code, Object.prototype.toString.call(e), Object.keys(e).join()].join(" | "); }
  }`,
  ),
];
