// Classes and calls across: see plays.js for what a play is.
const inherits = (name, source) => ({ group: "classes across", name, play: source });
const calls = (name, source) => ({ group: "calls across", name, play: source });

export const callPlays = [
  inherits(
    "a subclass of their class",
    `(theirs, K) => {
    const Base = theirs("class Base { #p = 1; constructor(x) { this.x = x; this.t = new.target.name; } hi() { return 'base ' + this.x + this.#p; } get up() { return this.x + 1; } static make(...a) { return new this(...a); } }");
    class Sub extends Base { #q = 2; y = 5; constructor(x) { super(x * 2); } hi() { return 'sub ' + super.hi() + this.#q; } static is(o) { return #q in o; } }
    const o = new Sub(4);
    return [o.hi(), o.x, o.y, o.t, o.up, o instanceof Base, o instanceof Sub, Sub.make(1).hi(), Sub.is(o), Object.getPrototypeOf(Sub) === Base, Object.getPrototypeOf(o) === Sub.prototype, Object.keys(o).join(), o.constructor === Sub].map(String).join(" | ");
  }`,
  ),
  inherits(
    "their subclass of my class",
    `(theirs, K) => {
    class Base { #p = 1; constructor(x) { this.x = x; this.t = new.target.name; } hi() { return 'base ' + this.x + this.#p; } }
    const Sub = theirs("(Base) => class Sub extends Base { y = this.x + 1; constructor(x) { super(x); } hi() { return 'sub ' + super.hi(); } }")(Base);
    const o = new Sub(4);
    return [o.hi(), o.x, o.y, o.t, o instanceof Base, o instanceof Sub, Base.prototype.hi.call(o), Sub.name, Object.getPrototypeOf(Sub) === Base].map(String).join(" | ");
  }`,
  ),
  inherits(
    "four classes in turn",
    `(theirs, K) => {
    class A { who() { return 'A'; } }
    const B = theirs("(A) => class B extends A { who() { return super.who() + 'B'; } }")(A);
    class C extends B { who() { return super.who() + 'C'; } }
    const D = theirs("(C) => class D extends C { who() { return super.who() + 'D'; } }")(C);
    const d = new D();
    return [d.who(), new C().who(), d instanceof A, d instanceof B, d instanceof C, d.constructor.name].join(" | ");
  }`,
  ),
  inherits(
    "overrides are called from the base class",
    `(theirs, K) => {
    const Base = theirs("class Base { run(x) { this.before(); return this.step(x) + this.step(x); } before() { this.log = ['base']; } step() { throw new Error('abstract'); } }");
    class Sub extends Base { before() { super.before(); this.log.push('sub'); } step(x) { return x * 2; } }
    const o = new Sub();
    return [o.run(3), o.log.join(), K.attempt(() => new Base().run(1))].join(" | ");
  }`,
  ),
  inherits(
    "accessors are overridden and inherited",
    `(theirs, K) => {
    const Base = theirs("class Base { get a() { return 'base ' + this.b; } set a(v) { this.b = v; } get c() { return 1; } }");
    class Sub extends Base { get a() { return super.a + '!'; } set a(v) { super.a = v + 1; } }
    const o = new Sub();
    o.a = 1;
    return [o.a, o.b, o.c, 'c' in o, Object.keys(o).join()].join(" | ");
  }`,
  ),
  inherits(
    "a subclass of their array, map and error classes",
    `(theirs, K) => {
    const { List, Counts, Fault } = theirs("{ List: class List extends Array { sum() { return this.reduce((a, b) => a + b, 0); } }, Counts: class Counts extends Map { up(k) { return this.set(k, (this.get(k) ?? 0) + 1); } }, Fault: class Fault extends Error { get name() { return 'Fault'; } } }");
    class L extends List { mean() { return this.sum() / this.length; } }
    class C extends Counts { total() { let n = 0; for (const x of this.values()) n += x; return n; } }
    class F extends Fault { constructor(m) { super(m); this.code = 3; } }
    const l = L.of(1, 2, 6);
    const f = new F('m');
    return [l.mean(), Array.isArray(l), l.map((x) => x).constructor === L, new C().up('a').up('a').up('b').total(), f.message, f.code, f.name, f instanceof Error, f instanceof Fault, String(f)].join(" | ");
  }`,
  ),
  inherits(
    "Reflect.construct with their class and my target",
    `(theirs, K) => {
    const Base = theirs("class Base { constructor(x) { this.x = x; this.n = new.target.name; } }");
    class Mine {}
    const o = Reflect.construct(Base, [1], Mine);
    return [o.x, o.n, o instanceof Mine, o instanceof Base, Object.getPrototypeOf(o) === Mine.prototype].join(" | ");
  }`,
  ),
  inherits(
    "instanceof with their class on mine and the reverse",
    `(theirs, K) => {
    const { Their, is } = theirs("(() => { class Their {} return { Their, is: (o, C) => o instanceof C }; })()");
    class Mine {}
    return [is(new Mine(), Mine), is(new Their(), Their), is(new Mine(), Their), new Their() instanceof Mine, is(new Their(), Object), is([], Array), is(() => 1, Function)].join(" | ");
  }`,
  ),
  inherits(
    "Symbol.hasInstance of theirs",
    `(theirs, K) => {
    const C = theirs("class { static [Symbol.hasInstance](o) { return o?.tag === 'yes'; } }");
    return [{ tag: "yes" } instanceof C, {} instanceof C].join(" | ");
  }`,
  ),
  inherits(
    "a mixin of theirs, twice",
    `(theirs, K) => {
    const mix = theirs("(Base) => class extends Base { levels() { return (super.levels?.() ?? 0) + 1; } }");
    class Root {}
    return [new (mix(mix(Root)))().levels(), new (mix(mix(Root)))() instanceof Root].join(" | ");
  }`,
  ),
  inherits(
    "private members seen from static methods",
    `(theirs, K) => {
    const Box = theirs("class Box { #v; constructor(v) { this.#v = v; } static is(o) { return #v in o; } static read(o) { return o.#v; } static swap(a, b) { [a.#v, b.#v] = [b.#v, a.#v]; } }");
    const [a, b] = [new Box(1), new Box({ o: 2 })];
    Box.swap(a, b);
    return [Box.is(a), Box.is({}), Box.read(a).o, Box.read(b), K.attempt(() => Box.read({}))].join(" | ");
  }`,
  ),

  calls(
    "this is what it was called on",
    `(theirs, K) => {
    const f = theirs("(function () { return this; })");
    const o = { f };
    class A { constructor() { this.f = f; } }
    const a = new A();
    return [o.f() === o, a.f() === a, f() === undefined, f.call(o) === o, f.call(f) === f].join(" | ");
  }`,
  ),
  calls(
    "callbacks of callbacks",
    `(theirs, K) => {
    const twice = theirs("(f) => (x) => f(f(x))");
    return [twice((x) => x + 1)(1), twice(twice((x) => x * 2))(1), twice(twice)((x) => x + 1)(0)].join(" | ");
  }`,
  ),
  calls(
    "array methods with my callbacks on their array",
    `(theirs, K) => {
    const list = theirs("[3, 1, 2].concat([{ n: 4 }])");
    return [list.map((x, i) => (x.n ?? x) + i).join(), list.filter((x) => x > 1).length, list.findIndex((x) => x.n), list.some((x) => x.n === 4), list.reduce((a, x) => a + (x.n ?? x), 0), list.flatMap((x) => [x, x]).length, list.indexOf(list[3])].join(" | ");
  }`,
  ),
  calls(
    "their array methods on my array",
    `(theirs, K) => {
    const list = [{ n: 3 }, { n: 1 }, { n: 2 }];
    const first = list[0];
    const t = theirs("{ sort: (l, f) => l.sort(f), max: (l, f) => l.reduce((m, x) => (f(x) > f(m) ? x : m)), filter: (l, f) => l.filter(f), push: (l, x) => l.push(x), splice: (l) => l.splice(0, 1) }");
    const n = (x) => x.n;
    const picked = t.filter(list, (x) => x.n > 1);
    const sorted = t.sort(list, (a, b) => a.n - b.n);
    const most = t.max(list, n);
    t.push(list, first);
    const cut = t.splice(list);
    return [sorted === list, list.map(n).join(), picked[0] === first, most === first, list[2] === first, list.length, cut[0].n, Array.isArray(picked)].join(" | ");
  }`,
  ),
  calls(
    "errors go through both sides as themselves",
    `(theirs, K) => {
    const through = theirs("(f) => { try { return f(); } catch (e) { throw e; } }");
    const mine = new RangeError("mine");
    let caught;
    try { through(() => through(() => { throw mine; })); } catch (e) { caught = e; }
    const thrower = theirs("(() => { const e = new TypeError('theirs'); return Object.assign(() => { throw e; }, { is: (x) => x === e }); })()");
    let other;
    try { through(() => thrower()); } catch (e) { other = e; }
    return [caught === mine, other instanceof TypeError, other.message, thrower.is(other), through(() => 5)].join(" | ");
  }`,
  ),
  calls(
    "finally runs on both sides",
    `(theirs, K) => {
    const log = [];
    const guard = theirs("(f, log) => { try { return f(); } finally { log('theirs'); } }");
    const seen = K.attempt(() => guard(() => { try { throw new RangeError('x'); } finally { log.push('mine'); } }, (x) => { log.push(x); }));
    return [seen, log.join()].join(" | ");
  }`,
  ),
  calls(
    "changes during a callback are seen at once",
    `(theirs, K) => {
    const o = { n: 0, list: [1], at: new Date(0), by: new Map() };
    const log = [];
    theirs("(o, f) => { o.n = 1; o.list.push(2); o.at.setTime(1); o.by.set('k', 1); f(); return o.n; }")(o, () => { log.push(o.n, o.list.join(), o.at.getTime(), o.by.get('k')); o.n = 5; o.list.push(3); o.at.setTime(2); o.by.set('k', 2); });
    const seen = theirs("(o, f) => { f(); return [o.n, o.list.join(), o.at.getTime(), o.by.get('k'), o.by.size].join(); }")(o, () => { o.n++; o.list.length = 1; o.at.setTime(7); o.by.delete('k'); });
    return [log.join(), o.n, o.list.join(), seen].join(" | ");
  }`,
  ),
  calls(
    "what they do to a map while I iterate it",
    `(theirs, K) => {
    const m = new Map([[1, 'a'], [2, 'b'], [3, 'c']]);
    const drop = theirs("(m, k) => { m.delete(k); m.set(k + 10, 'x'); }");
    const seen = [];
    for (const [k] of m) { seen.push(k); if (k < 3) drop(m, k + 1); if (seen.length > 9) break; }
    return seen.join();
  }`,
  ),
  calls(
    "getters and setters of mine in their hands",
    `(theirs, K) => {
    const log = [];
    const o = { get a() { log.push('get'); return 1; }, set a(v) { log.push('set ' + v); } };
    const seen = theirs("(o) => [o.a, (o.a = 5), Object.keys(o).join(), JSON.stringify(o), typeof Object.getOwnPropertyDescriptor(o, 'a').get].join()")(o);
    return [seen, log.join()].join(" | ");
  }`,
  ),
  calls(
    "what they define on mine",
    `(theirs, K) => {
    const o = { a: 1 };
    theirs("(o) => { Object.defineProperty(o, 'b', { get() { return this.a + 1; }, enumerable: true, configurable: true }); o.c = function () { return this.a; }; Object.defineProperty(o, 'd', { value: 4 }); delete o.gone; }")(o);
    o.a = 10;
    return [o.b, o.c(), o.d, K.attempt(() => { o.d = 5; }), Object.keys(o).join()].join(" | ");
  }`,
  ),
  calls(
    "delete, freeze and prototypes by them",
    `(theirs, K) => {
    const o = { a: 1, b: 2 };
    const proto = { inherited: 3 };
    const kept = theirs("(o, p) => { delete o.a; Object.setPrototypeOf(o, p); return Object.getPrototypeOf(o) === p && o.inherited; }")(o, proto);
    theirs("(o) => { Object.freeze(o); }")(o);
    return [kept, Object.getPrototypeOf(o) === proto, Object.keys(o).join(), Object.isFrozen(o), K.attempt(() => { o.b = 3; })].join(" | ");
  }`,
  ),
  calls(
    "JSON and their toJSON, reviver and replacer",
    `(theirs, K) => {
    const t = theirs("{ value: { at: new Date(0), x: { toJSON: () => 'json' } }, reviver: (k, v) => (k === 'n' ? v + 1 : v), replacer: (k, v) => (typeof v === 'number' ? v * 2 : v) }");
    return [JSON.stringify(t.value), JSON.parse('{"n":1,"m":[{"n":2}]}', t.reviver).m[0].n, JSON.stringify({ a: [1, { b: 2 }] }, t.replacer)].join(" | ");
  }`,
  ),
  calls(
    "replace, sort and matchAll with theirs",
    `(theirs, K) => {
    const t = theirs("{ up: (m) => m.toUpperCase(), by: (a, b) => (a < b ? 1 : -1), re: /[a-c]/g, splitter: { [Symbol.split]: (s) => s.length } }");
    return ["xaybzc".replace(t.re, t.up), ["b", "a", "c"].sort(t.by).join(""), "abc".split(t.splitter), [..."abx".matchAll(t.re)].length].join(" | ");
  }`,
  ),
  calls(
    "a bound function of theirs and of mine",
    `(theirs, K) => {
    const f = theirs("(function (...a) { return [this.n, ...a].join(); })");
    const b = f.bind({ n: 1 }, 2);
    const by = theirs("(f) => f.bind({ n: 7 }, 8)")(function (...a) { return [this.n, ...a].join(); });
    return [b(3), by(9), b.length, typeof by].join(" | ");
  }`,
  ),
  calls(
    "memory of callbacks by identity",
    `(theirs, K) => {
    const bus = theirs("(() => { const on = new Set(); return { add: (f) => on.add(f).size, remove: (f) => on.delete(f), fire: (x) => [...on].map((f) => f(x)).join(), has: (f) => on.has(f) }; })()");
    const f = (x) => x + 1;
    const g = (x) => x * 10;
    return [bus.add(f), bus.add(f), bus.add(g), bus.fire(2), bus.remove(f), bus.has(f), bus.has(g), bus.fire(3)].join(" | ");
  }`,
  ),
  calls(
    "a memo by object, in their map and weak map",
    `(theirs, K) => {
    const memo = theirs("(() => { const m = new Map(); const w = new WeakMap(); return (o, f) => { if (!m.has(o)) { m.set(o, f(o)); w.set(o, 'weak'); } return [m.get(o), m.size, w.get(o)].join(); }; })()");
    let n = 0;
    const [a, b] = [{ a: 1 }, { a: 1 }];
    return [memo(a, () => ++n), memo(a, () => ++n), memo(b, () => ++n), memo(a, () => ++n), n].join(" | ");
  }`,
  ),
];
