// Classes, their instances, and proxies.
const cls = (name, make, more) => ({ group: "classes", name, make, life: "behaviour", ...more });
const instance = (name, make, more) => ({ group: "instances", name, make, life: "behaviour", ...more });
const proxy = (name, make, more) => ({ group: "proxies", name, make, life: "behaviour", ...more });

const counter =
  "class Counter { #n; static made = 0; constructor(n = 0) { this.#n = n; this.tag = 'c'; Counter.made++; } inc(by = 1) { this.#n += by; return this; } get n() { return this.#n; } set n(x) { this.#n = x; } static of(n) { return new Counter(n); } static is(o) { return #n in o; } same(o) { return this.#n === o.#n; } }";

export const classRows = [
  cls("a class", "(class Plain { constructor(x) { this.x = x; } m() { return this.x; } })", {
    probe:
      "(v, K) => { const o = new v(3); return [v.name, v.length, o.x, o.m(), o instanceof v, o.constructor === v, K.attempt(() => v(1)), Object.getPrototypeOf(o) === v.prototype, Object.keys(o).join()]; }",
  }),
  cls("a class without a name", "(class {})", { probe: "(v) => [v.name, new v() instanceof v]" }),
  cls(
    "static members",
    "(class S { static a = 1; static get b() { return this.a + 1; } static c() { return this === S; } static #p = 5; static p() { return S.#p; } static { this.d = 'block'; } })",
    { probe: "(v) => [v.a, v.b, v.c(), v.p(), v.d, Object.keys(v).join()]", change: "(v) => { v.a = 10; }" },
  ),
  cls("fields", "(class F { a = 1; ['b' + 1] = this.a + 1; f = () => this.a; static s = this.name; })", {
    probe: "(v) => { const o = new v(); o.a = 5; return [o.b1, o.f(), v.s, Object.keys(o).join()]; }",
  }),
  cls("private members", `(${counter})`, {
    probe:
      "(v, K) => { const a = new v(1); const b = v.of(2); a.inc().inc(4); b.n = 6; return [a.n, b.n, a.same(b), v.is(a), v.is({}), v.made >= 2, K.attempt(() => v.prototype.inc.call({})), K.attempt(() => a.same({})), Object.keys(a).join()]; }",
  }),
  cls(
    "a class that extends another",
    "(() => { class A { constructor(x) { this.x = x; } hi() { return 'A' + this.x; } static make() { return new this(9); } } return class B extends A { constructor() { super(1); this.y = 2; } hi() { return super.hi() + 'B'; } }; })()",
    {
      probe:
        "(v) => { const o = new v(); const A = Object.getPrototypeOf(v); return [o.hi(), o.x, o.y, o instanceof v, o instanceof A, v.make().x, A.name, new A(5).hi()]; }",
    },
  ),
  cls("a class that extends an array", "(class List extends Array { sum() { return this.reduce((a, b) => a + b, 0); } })", {
    probe:
      "(v) => { const l = v.from([1, 2, 3]); const m = l.map((x) => x * 2); return [l.sum(), l.length, Array.isArray(l), m instanceof v, m.sum(), l.filter(Boolean).constructor === v, JSON.stringify(l)]; }",
  }),
  cls("a class that extends Map", "(class Counts extends Map { count(k) { this.set(k, (this.get(k) ?? 0) + 1); return this; } })", {
    probe:
      "(v) => { const m = new v([['a', 1]]); m.count('a').count('b'); return [m.get('a'), m.get('b'), m.size, m instanceof Map, m instanceof v, [...m].join()]; }",
  }),
  cls("a class that extends Error", "(class Own extends Error { constructor(m) { super(m); this.code = 1; } get name() { return 'Own'; } })", {
    probe: "(v) => { const e = new v('m'); return [e instanceof Error, e instanceof v, e.message, e.code, String(e)]; }",
  }),
  cls("a class that extends Promise", "(class Own extends Promise { twice() { return this.then((x) => x * 2); } })", {
    probe: "async (v) => { const p = v.resolve(2).twice(); return [p instanceof v, p instanceof Promise, await p]; }",
  }),
  cls("a class that extends null", "(class Bare extends null { static s() { return 1; } })", {
    probe: "(v, K) => [v.s(), Object.getPrototypeOf(v.prototype), K.attempt(() => new v())]",
  }),
  cls(
    "a class that extends a function",
    "(() => { function Old(x) { this.x = x; } Old.prototype.get = function () { return this.x; }; return class extends Old {}; })()",
    { probe: "(v) => [new v(4).get()]" },
  ),
  cls(
    "new.target and abstract classes",
    "(class Abstract { constructor() { if (new.target === Abstract) throw new TypeError('abstract'); this.t = new.target.name; } })",
    { probe: "(v, K) => { class Sub extends v {} return [K.attempt(() => new v()), new Sub().t]; }" },
  ),
  cls("Symbol.hasInstance", "(class Even { static [Symbol.hasInstance](n) { return n % 2 === 0; } })", { probe: "(v) => [2 instanceof v, 3 instanceof v]" }),
  cls("Symbol.species", "(class Special extends Array { static get [Symbol.species]() { return Array; } })", {
    probe: "(v) => { const m = v.of(1, 2).map((x) => x); return [m instanceof v, m.constructor === Array]; }",
  }),
  cls("a class made by a class", "((Base) => class Mixed extends Base { mixed() { return 'mixed' + this.base(); } })", {
    probe: "(v) => { class Base { base() { return 'base'; } } const M = v(Base); return [new M().mixed(), new M() instanceof Base]; }",
  }),
  cls("a class with its prototype changed", "(class Open { a() { return 1; } })", {
    probe:
      "(v) => { const o = new v(); const b = () => 2; v.prototype.b = b; const seen = [o.a(), o.b(), v.prototype.b === b]; delete v.prototype.b; return [...seen, o.b]; }",
    change: "(v) => { v.prototype.c = 3; }",
  }),
  cls("iteration of instances", "(class Range { constructor(n) { this.n = n; } *[Symbol.iterator]() { for (let i = 0; i < this.n; i++) yield i; } })", {
    probe: "(v) => [[...new v(3)].join(), Math.max(...new v(5)), Array.from(new v(2)).length, new Set(new v(2)).size]",
  }),

  instance(
    "an instance",
    "(new (class Point { constructor() { this.x = 1; this.list = [1]; } get len() { return this.x * 2; } grow() { this.x++; return this; } })())",
    {
      probe: "(v) => { const seen = [v.len, v.grow() === v, v.x, v.constructor.name, v instanceof v.constructor, JSON.stringify(v)]; v.x = 1; return seen; }",
      change: "(v) => { v.x = 5; v.list = [1, 2]; v.added = {}; }",
    },
  ),
  instance("an instance with private members", `(new (${counter})(5))`, {
    probe:
      "(v) => { const at = v.n; v.inc(2); const seen = [v.n - at, v.same(v), v.constructor.is(v), 'n' in v, Object.hasOwn(v, 'n')]; v.n = at; return seen; }",
    change: "(v) => { v.n = 50; v.tag = 't'; }",
  }),
  instance(
    "an instance of a class two deep",
    "(() => { class A { a() { return 'a'; } } class B extends A { b() { return this.a() + 'b'; } } return new B(); })()",
    { probe: "(v) => [v.b(), Object.getPrototypeOf(Object.getPrototypeOf(v)) === Object.getPrototypeOf(v.constructor).prototype]" },
  ),
  instance("an instance of an array's subclass", "(() => { class List extends Array { last() { return this.at(-1); } } return List.of(1, 2, 3); })()", {
    probe: "(v) => [Array.isArray(v), v.last(), v.length, v.join()]",
    change: "(v) => { v.push(4); v[0] = 9; }",
  }),
  instance(
    "an instance of Map's subclass",
    "(() => { class Counts extends Map { sum() { let n = 0; for (const x of this.values()) n += x; return n; } } return new Counts([['a', 1], ['b', 2]]); })()",
    { brand: true, probe: "(v) => [v.sum(), v.get('b'), v.size, v instanceof Map]", change: "(v) => { v.set('c', 10); }" },
  ),
  instance("an instance of Date's subclass", "(() => { class Day extends Date { day() { return this.getTime() / 864e5; } } return new Day(864e5 * 3); })()", {
    brand: true,
    probe: "(v) => [v.day(), v instanceof Date, v.getTime()]",
    change: "(v) => { v.setTime(864e5); }",
  }),
  instance(
    "an instance of a typed array's subclass",
    "(() => { class Bytes extends Uint8Array { total() { return this.reduce((a, b) => a + b, 0); } } return Bytes.of(1, 2); })()",
    { brand: true, probe: "(v) => [v.total(), v.length, v instanceof Uint8Array]", change: "(v) => { v[0] = 5; }" },
  ),
  instance("an instance in plain data", "({ list: [new (class A { m() { return 1; } })()], n: 1 })", {
    probe: "(v) => [v.list[0].m(), Array.isArray(v.list), v.n]",
    change: "(v) => { v.n = 2; v.list.push(3); }",
  }),
  instance("a frozen instance", "(Object.freeze(new (class Cold { #h = 1; x = 1; heat() { return ++this.#h; } })()))", {
    probe: "(v, K) => [Object.isFrozen(v), K.attempt(() => { v.x = 2; }), v.heat() > 1]",
  }),
  instance(
    "an instance with toString and valueOf",
    "(new (class Money { constructor() { this.c = 250; } toString() { return '$' + this.c / 100; } valueOf() { return this.c; } toJSON() { return 'money'; } [Symbol.toPrimitive](h) { return h === 'string' ? this.toString() : this.c; } })())",
    { probe: "(v) => [String(v), v + 1, v > 100, JSON.stringify({ v })]" },
  ),
  instance(
    "a tree of instances with parents",
    "(() => { class Node { constructor(parent) { this.parent = parent; this.children = []; parent?.children.push(this); } get depth() { return this.parent ? this.parent.depth + 1 : 0; } } const root = new Node(null); new Node(new Node(root)); return root; })()",
    { probe: "(v) => [v.children[0].children[0].depth, v.children[0].parent === v]" },
  ),
  instance(
    "an event emitter",
    "(new (class Emitter { #on = new Map(); on(k, f) { const l = this.#on.get(k) ?? []; this.#on.set(k, [...l, f]); return this; } off(k, f) { this.#on.set(k, (this.#on.get(k) ?? []).filter((g) => g !== f)); return this; } emit(k, ...a) { for (const f of this.#on.get(k) ?? []) f.apply(this, a); return this; } })())",
    {
      probe:
        "(v) => { const got = []; const f = function (...a) { got.push(a.join() + (this === v)); }; v.on('x', f).emit('x', 1, 2); v.off('x', f).emit('x', 3); return got; }",
    },
  ),

  proxy("a proxy of an object", "(new Proxy({ a: 1 }, {}))", {
    life: "any",
    probe: "(v) => [v.a, 'a' in v, Object.keys(v).join()]",
    change: "(v) => { v.a = 2; v.b = 3; }",
  }),
  proxy("a proxy of an array", "(new Proxy([1, 2], {}))", {
    life: "any",
    probe: "(v) => [Array.isArray(v), v.length, v.map((x) => x + 1).join(), JSON.stringify(v)]",
    change: "(v) => { v.push(3); }",
  }),
  proxy("a proxy of a function", "(new Proxy(function f(a) { return a; }, {}))", { probe: "(v) => [typeof v, v(3), v.name]" }),
  proxy("a proxy with a get trap", "(new Proxy({ real: 1 }, { get: (t, k) => (typeof k === 'string' && k !== 'real' ? 'got ' + k : t[k]) }))", {
    life: "any",
    probe: "(v) => [v.anything, v.real]",
  }),
  proxy(
    "a proxy with traps for writes",
    "(() => { const log = []; return new Proxy({ log }, { set(t, k, x) { log.push('set ' + String(k)); t[k] = x; return true; }, deleteProperty(t, k) { log.push('delete ' + String(k)); return delete t[k]; } }); })()",
    { life: "any", probe: "(v) => { v.a = 1; delete v.a; return [v.log.slice(-2).join()]; }" },
  ),
  proxy("a proxy that refuses", "(new Proxy({ a: 1 }, { set: () => false, deleteProperty: () => false, defineProperty: () => false }))", {
    life: "any",
    probe:
      "(v, K) => [K.attempt(() => { v.a = 2; }), K.attempt(() => { delete v.a; }), Reflect.set(v, 'a', 3), Reflect.defineProperty(v, 'b', { value: 1 }), v.a]",
  }),
  proxy("a proxy that throws", "(new Proxy({}, { get(_, k) { if (k === 'bad') throw new RangeError('trap'); } }))", {
    life: "any",
    probe: "(v, K) => [K.attempt(() => v.bad), v.good]",
  }),
  proxy(
    "a proxy with apply and construct traps",
    "(new Proxy(function () {}, { apply: (_, self, args) => 'applied ' + args.join(), construct: (_, args) => ({ made: args.length }) }))",
    { probe: "(v) => [v(1, 2), new v(1, 2, 3).made]" },
  ),
  proxy(
    "a proxy with made-up keys",
    "(new Proxy({}, { ownKeys: () => ['x', 'y'], getOwnPropertyDescriptor: (_, k) => (k === 'x' || k === 'y' ? { value: k + k, enumerable: true, configurable: true } : undefined), get: (_, k) => (k === 'x' || k === 'y' ? k + k : undefined), has: (_, k) => k === 'x' || k === 'y' }))",
    { life: "any", probe: "(v) => [Object.keys(v).join(), JSON.stringify(v), 'x' in v, 'y' in v, Object.entries(v).join()]" },
  ),
];
