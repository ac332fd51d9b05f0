// Functions of every kind.
const fn = (name, make, more) => ({ group: "functions", name, make, life: "behaviour", ...more });

export const functionRows = [
  fn("an arrow function", "((a, b) => [a, b])", {
    probe: "(v, K) => [v.name, v.length, v(1, 2).join(), K.attempt(() => new v()), typeof v, v instanceof Function]",
  }),
  fn("a named function", "(function named(a, b = 1, ...c) { return a; })", {
    probe: "(v) => [v.name, v.length, v('x'), typeof v.prototype, v.prototype.constructor === v]",
  }),
  fn("an anonymous function", "(function () {})", { probe: "(v) => [v.name, v.length, v()]" }),
  fn("a name given by its place", "({ place: () => 1 }).place", { probe: "(v) => [v.name]" }),
  fn("its source", "(function original(a) { /* why */ return a + 1; })", { from: "guest", probe: "(v) => [String(v), v.toString(), v + '']" }),
  fn("its source, of a class", "(class Original { #a = 1; m() {} })", { from: "guest", probe: "(v) => [String(v), v.toString()]" }),
  fn("its this", "(function () { return this; })", {
    probe: "(v) => { const o = { v }; return [v() === undefined, o.v() === o, v.call(5), v.apply('s'), v.call(null), typeof v.bind(o)]; }",
  }),
  fn("sloppy this", "(Function('return typeof this + (this === globalThis)'))", { probe: "(v) => [v.call(5), v.call('s'), v.call({})]" }),
  fn("no argument, one, two, many", "(function (...args) { return args.length + ':' + args.join(); })", {
    probe: "(v) => [v(), v(1), v(1, 2), v(1, 2, 3), v(...Array(300).keys()).length, v(undefined), v(undefined, undefined)]",
  }),
  fn("more and fewer arguments than declared", "((a, b) => String([a, b]))", { probe: "(v) => [v(), v(1), v(1, 2, 3), v.length]" }),
  fn("arguments that are objects", "((o, list) => { o.seen = list.length; list.push(o); return list; })", {
    probe: "(v) => { const o = {}; const list = [1]; const back = v(o, list); return [o.seen, list.length, list[1] === o, back === list]; }",
  }),
  fn("what it returns", "((x) => x)", {
    probe:
      "(v) => { const o = {}; const f = () => {}; const s = Symbol(); return [v(o) === o, v(f) === f, v(s) === s, v(v) === v, v(-0), v(NaN), v('\\0'), v()]; }",
  }),
  fn("a function of functions", "((f, ...args) => (g) => g(f(...args)))", { probe: "(v) => [v((a, b) => a + b, 1, 2)((x) => x * 2)]" }),
  fn("a callback given and kept", "(() => { let kept; return (f) => { const before = kept; kept = f; return before; }; })()", {
    probe: "(v) => { const f = () => 1; const first = v(f); return [first, v(null) === f]; }",
  }),
  fn("state in a closure", "(() => { let n = 0; return () => ++n; })()", { probe: "(v) => { const at = v(); return [v() - at, v() - at]; }" }),
  fn("properties of its own", "(Object.assign(function lib() { return 'called'; }, { version: '1', nested: { deep: () => 'deep' }, list: [1] }))", {
    probe: "(v) => [v(), v.version, v.nested.deep(), Object.keys(v).join()]",
    change: "(v) => { v.version = '2'; v.more = { a: 1 }; v.list = [1, 2]; }",
  }),
  fn("a name and length defined anew", "(Object.defineProperties(() => {}, { name: { value: 'renamed' }, length: { value: 9 } }))", {
    probe: "(v) => [v.name, v.length]",
  }),
  fn("no name at all", "(() => { const f = () => 1; delete f.name; delete f.length; return f; })()", {
    probe: "(v) => [v.name, v.length, Object.hasOwn(v, 'name')]",
  }),
  fn(
    "a symbol for a name",
    "({ [Symbol('sym')]: () => 1, get g() { return 1; } })[Symbol.for('none')] ?? Object.getOwnPropertyDescriptor({ get g() { return 1; } }, 'g').get",
    { probe: "(v) => [v.name, v()]" },
  ),
  fn("a frozen function", "(Object.freeze(() => 1))", {
    probe: "(v, K) => [v(), Object.isFrozen(v), K.attempt(() => { v.x = 1; }), K.attempt(() => { delete v.name; })]",
  }),
  fn("a function fixed while it is held", "(() => 1)", { change: "(v) => { v.extra = 1; Object.seal(v); }" }),
  fn("another prototype", "(Object.setPrototypeOf(() => 1, { inherited: 5 }))", { probe: "(v) => [v(), v.inherited, v instanceof Function, typeof v.call]" }),
  fn("no prototype", "(Object.setPrototypeOf(() => 1, null))", { probe: "(v) => [v(), v.name, typeof v.call, Reflect.apply(v, undefined, [])]" }),
  fn("a method", "({ method(a) { return [this.n, a].join(); }, n: 1 }).method", {
    probe: "(v, K) => [v.name, v.call({ n: 2 }, 3), K.attempt(() => new v()), 'prototype' in v]",
  }),
  fn("a bound function", "((function target(a, b) { return [this.n, a, b].join(); }).bind({ n: 1 }, 2))", {
    probe: "(v, K) => [v.name, v.length, v(3), v.call({ n: 9 }, 4)]",
  }),
  fn("a bound constructor", "((class Point { constructor(x, y) { this.x = x; this.y = y; } }).bind(null, 1))", {
    probe: "(v) => { const p = new v(2); return [p.x, p.y, p.constructor.name]; }",
  }),
  fn("a constructor", "(function Old(x) { if (!new.target) return new Old(x); this.x = x; })", {
    probe: "(v) => [new v(1).x, v(2).x, new v(1) instanceof v, v(3) instanceof v, Object.keys(new v(4)).join()]",
  }),
  fn(
    "a constructor with a prototype",
    "(() => { function Old() {} Old.prototype.hi = function () { return 'hi ' + this.n; }; Old.prototype.n = 1; return Old; })()",
    {
      probe:
        "(v) => { const o = new v(); const before = o.hi(); o.n = 2; return [before, o.hi(), Object.getPrototypeOf(o) === v.prototype, v.prototype.isPrototypeOf(o)]; }",
    },
  ),
  fn("a constructor that returns another object", "(function Factory() { return { made: true }; })", { probe: "(v) => [new v().made, new v() instanceof v]" }),
  fn("new.target", "(function Target() { this.t = new.target === Target; this.n = new.target.name; })", {
    probe: "(v) => { class Sub {} const o = Reflect.construct(v, [], Sub); return [new v().t, o.t, o.n, o instanceof Sub, o instanceof v]; }",
  }),
  fn("an async function", "(async function later(x) { await null; return x; })", {
    probe: "async (v, K) => { const p = v({ a: 1 }); return [p instanceof Promise, v.name, (await p).a, K.attempt(() => new v())]; }",
  }),
  fn("an async arrow function that fails", "(async () => { await null; throw new TypeError('late'); })", { probe: "async (v, K) => [await K.outcome(v())]" }),
  fn("a generator function", "(function* count(n) { for (let i = 0; i < n; i++) yield i; return 'end'; })", {
    probe:
      "(v, K) => { const it = v(2); return [[...v(3)].join(), it.next().value, it.next().value, it.next().value, it.next().done, v(1) instanceof v, K.attempt(() => new v())]; }",
  }),
  fn("an async generator function", "(async function* count(n) { for (let i = 0; i < n; i++) yield i; })", {
    probe: "async (v) => { const seen = []; for await (const x of v(3)) seen.push(x); return [seen.join(), v(1) instanceof v]; }",
  }),
  fn("it throws", "(function fails(x) { throw x; })", {
    probe:
      "(v) => { const e = new RangeError('mine'); const caught = []; for (const x of [e, 5, null, undefined]) { try { v(x); } catch (c) { caught.push(c === x); } } return caught; }",
  }),
  fn("it catches", "((f) => { try { return f(); } catch (e) { return [e]; } })", {
    probe: "(v) => { const e = new RangeError('mine'); return [v(() => { throw e; })[0] === e, v(() => 4)]; }",
  }),
  fn("recursion from side to side", "(function down(n, f) { return n <= 0 ? 'end' : f(n - 1, down); })", {
    probe: "(v) => { const mine = (n, f) => (n <= 0 ? 'mine' : f(n - 1, mine)); return [v(8, mine), v(7, mine)]; }",
  }),
  fn("a comparator", "((a, b) => b - a)", { probe: "(v) => [[3, 1, 2].sort(v).join()]" }),
  fn("call, apply and bind", "(function (a, b) { return [this?.t, a, b].join(); })", {
    probe: "(v) => [v.call({ t: 1 }, 2, 3), v.apply({ t: 1 }, [2]), v.bind({ t: 4 }, 5)(6), Reflect.apply(v, { t: 7 }, [8]), v.bind(null).name]",
  }),
  fn("a proxy's target", "(Object.assign((x) => x, { [Symbol.toPrimitive]: () => 9 }))", { probe: "(v) => [+v, v(2)]" }),
  fn("a curried function", "((a) => (b) => (c) => a + b + c)", { probe: "(v) => [v(1)(2)(3)]" }),
  fn("default parameters that are called", "((a = 1, { b = 2, c } = {}, [d] = [4]) => [a, b, c, d].join())", {
    probe: "(v) => [v(), v(undefined, { c: 3 }), v(0, {}, [9]), v.length]",
  }),
  fn("a tagged template", "((strings, ...values) => strings.raw.join('|') + values.join())", {
    probe: "(v) => [v({ raw: ['a', 'b'] }, 1), v(Object.assign(['c'], { raw: ['d'] })), v`ab`]",
  }),

  { group: "intrinsics", name: "Array", make: "Array", probe: "(v) => [v === Array, v.isArray([]), [] instanceof v, new v(1, 2).length]", life: "any" },
  {
    group: "intrinsics",
    name: "Object.prototype",
    make: "Object.prototype",
    probe: "(v) => [v === Object.prototype, Object.getPrototypeOf({}) === v]",
    life: "any",
  },
  {
    group: "intrinsics",
    name: "%TypedArray%",
    make: "Object.getPrototypeOf(Int8Array)",
    probe: "(v) => [v === Object.getPrototypeOf(Uint8Array)]",
    life: "any",
  },
  {
    group: "intrinsics",
    name: "a generator's prototype",
    make: "Object.getPrototypeOf(function* () {}).prototype",
    probe: "(v) => [v === Object.getPrototypeOf(function* () {}).prototype]",
    life: "any",
  },
  {
    group: "intrinsics",
    name: "Promise, Map and Error in a list",
    make: "[Promise, Map, Error, TypeError.prototype]",
    probe: "(v) => [v[0] === Promise, v[1] === Map, new v[2]() instanceof Error]",
    life: "any",
  },
  { group: "intrinsics", name: "a method", make: "Array.prototype.map", probe: "(v) => [v.name, v.call([1, 2], (x) => x * 2).join()]", life: "any" },
  { group: "intrinsics", name: "a static method", make: "Math.max", probe: "(v) => [v.name, v.length, v(1, 3, 2), v()]", life: "any" },
  {
    group: "intrinsics",
    name: "methods that look for slots",
    make: "({ slice: Array.prototype.slice, has: Object.prototype.hasOwnProperty, time: Date.prototype.getTime })",
    probe: "(v) => [v.slice.call([1, 2, 3], 1).join(), v.has.call({ a: 1 }, 'a'), v.time.call(new Date(5))]",
    life: "any",
  },
];
