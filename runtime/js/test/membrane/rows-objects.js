// Objects without internal slots: plain data, and what makes it less plain.
const data = (name, make, more) => ({ group: "plain data", name, make, clones: true, ...more });
const object = (name, make, more) => ({ group: "objects", name, make, life: "behaviour", ...more });

const set = (key, value) => `(v) => { v.${key} = ${value}; }`;

export const objectRows = [
  data("an empty object", "({})", { change: set("a", 1) }),
  data("a plain object", '({ a: 1, b: "two", c: null, d: undefined, e: -0, f: 5n, g: true })', { change: "(v) => { v.a++; delete v.b; v.z = 1; }" }),
  data("a nested object", "({ a: [1, { b: [[]] }], c: { d: { e: {} } } })", { change: "(v) => { v.a[1].b.push(3); v.c.d.e.f = []; }" }),
  data("index-like keys before the others", '({ b: 1, 2: "two", a: 2, 1: "one", "01": 3, "-1": 4, 4294967295: 5 })'),
  data("keys with a NUL, a lone surrogate, nothing", '({ "a\\0b": 1, a: 2, "\\ud800": 3, "": 4, "\\u{1f600}": 5 })'),
  data("an own key __proto__", '(JSON.parse(\'{"__proto__": {"polluted": true}, "a": 1}\'))', {
    probe: '(v) => [({}).polluted, v.a, Object.hasOwn(v, "__proto__")]',
  }),
  data("own keys constructor, then, toString as data", "({ constructor: 1, toString: 2, valueOf: 3, hasOwnProperty: 4, toJSON: 5 })"),
  data("two thousand keys", '(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => ["k" + i, i])))', { change: "(v) => { delete v.k7; v.k1999 = 0; }" }),
  data("a null prototype", "(Object.assign(Object.create(null), { a: 1, b: {} }))", { change: set("a", 2) }),
  data("frozen", "(Object.freeze({ a: 1, b: { c: 2 } }))", {
    probe: "(v, K) => [Object.isFrozen(v), K.attempt(() => { v.a = 2; }), K.attempt(() => { delete v.a; }), K.attempt(() => { v.z = 1; })]",
    change: "(v) => { v.b.c = 3; }",
  }),
  data("sealed", "(Object.seal({ a: 1, b: 2 }))", {
    probe: "(v, K) => [Object.isSealed(v), Object.isFrozen(v), K.attempt(() => { delete v.a; })]",
    change: set("a", 5),
  }),
  data("not extensible", "(Object.preventExtensions({ a: 1 }))", {
    probe: "(v, K) => [Object.isExtensible(v), K.attempt(() => { v.z = 1; })]",
    change: "(v) => { delete v.a; }",
  }),
  data("frozen, sealed and fixed parts", "({ f: Object.freeze([1, { x: 1 }]), s: Object.seal({ y: 1 }), p: Object.preventExtensions([2]) })"),
  data("frozen while it is held", "({ a: 1, b: [] })", { change: "(v) => { Object.freeze(v); }" }),
  data("sealed while it is held", "([1, 2])", { change: "(v) => { Object.seal(v); }" }),
  data("a property that cannot be written", '(Object.defineProperty({ b: 1 }, "a", { value: 1, enumerable: true, configurable: true }))', {
    probe: "(v, K) => [K.attempt(() => { v.a = 2; }), v.a]",
  }),
  data("a property that cannot be configured", '(Object.defineProperty({ b: 1 }, "a", { value: 1, writable: true, enumerable: true }))', {
    probe: '(v, K) => [K.attempt(() => { delete v.a; }), K.attempt(() => Object.defineProperty(v, "a", { get() {} }) && 1)]',
    change: set("a", 9),
  }),
  data("a property that can neither be written nor configured", '(Object.defineProperty({}, "a", { value: { deep: 1 } }))', { change: set("a.deep", 2) }),
  data("a property that is not enumerable", '(Object.defineProperty({ b: 1 }, "a", { value: 1, writable: true, configurable: true }))', {
    probe: "(v) => [Object.keys(v).join(), JSON.stringify(v)]",
  }),
  data("redefined while it is held", "({ a: 1, b: 2 })", { change: '(v) => { Object.defineProperty(v, "a", { enumerable: false, writable: false }); }' }),
  data("an element hidden while it is held", "[1, { a: 2 }]", { change: "(v) => { Object.defineProperty(v, 0, { enumerable: false }); }" }),
  data("keys put into another order", "({ a: 1, b: 2, c: 3 })", { change: "(v) => { const a = v.a; delete v.a; v.a = a; }" }),
  data("a unique symbol as key", '({ [Symbol("key")]: 1, a: 2 })', {
    probe: "(v) => [v[Object.getOwnPropertySymbols(v)[0]]]",
    change: "(v) => { v[Object.getOwnPropertySymbols(v)[0]] = 3; }",
  }),
  data("registered and well-known symbols as keys", '({ [Symbol.for("r")]: 1, [Symbol.toStringTag]: "Tagged", [Symbol.isConcatSpreadable]: false })', {
    probe: '(v) => [v[Symbol.for("r")], String(v)]',
  }),
  data("the same symbol as key and value", '(() => { const s = Symbol("s"); return { [s]: 1, s }; })()', { probe: "(v) => [v[v.s]]", clones: false }),
  data("an empty array", "[]", { change: "(v) => { v.push(1, 2); }" }),
  data("an array", '[1, "two", [3], { four: 4 }, null, undefined]', {
    probe: "(v) => [Array.isArray(v), v.length, v.concat([9]).length, JSON.stringify(v)]",
    change: "(v) => { v.reverse(); v.splice(1, 2, 7); }",
  }),
  data("a sparse array", "(() => { const a = [1, , 3]; a[9] = 9; return a; })()", {
    probe: "(v) => [1 in v, v.length, Object.keys(v).join()]",
    change: "(v) => { delete v[0]; v[5] = 5; }",
  }),
  data("an array of holes", "(new Array(5))", { change: "(v) => { v[2] = undefined; }" }),
  data("an array with a length far beyond its elements", "(() => { const a = [1]; a.length = 4294967295; return a; })()", {
    probe: "(v) => [v.length, Object.keys(v).join()]",
    change: "(v) => { v.length = 3; }",
  }),
  data("an array cut short", "[1, 2, 3, 4]", { change: "(v) => { v.length = 1; }" }),
  data("extra properties of an array", '(Object.assign([1, 2], { extra: "x", "-1": "minus", [Symbol.for("s")]: 1 }))', {
    change: "(v) => { v.extra = {}; v.more = 1; }",
  }),
  data("an array like a regular expression's match", '(/(?<year>\\d+)-(\\d+)?/d.exec("on 2024-"))', {
    probe: "(v) => [v.index, v.input, v.groups.year, v.indices[0].join()]",
  }),
  data("a frozen array", "(Object.freeze([1, [2]]))", { probe: "(v, K) => [K.attempt(() => v.push(3)), v.length]" }),
  data("an array whose length cannot be written", '(Object.defineProperty([1, 2], "length", { writable: false }))', {
    probe: "(v, K) => [K.attempt(() => v.push(3)), K.attempt(() => { v[0] = 5; })]",
    change: "(v) => { v[0] = 7; }",
  }),
  data("ten thousand numbers", "(Array.from({ length: 10000 }, (_, i) => i * 1.5))", { change: "(v) => { v.fill(0, 10, 9000); }" }),
  data("a matrix", "(Array.from({ length: 20 }, (_, i) => Array.from({ length: 20 }, (_, j) => i * j)))"),
  data("a list of records", '(Array.from({ length: 50 }, (_, i) => ({ id: i, name: "n" + i, address: { city: "c" + (i % 5) } })))', {
    change: "(v) => { v.sort((a, b) => b.id - a.id); v[3].address.city = 0; }",
  }),
  data("a cycle", "(() => { const a = { n: 1 }; a.self = a; return a; })()", { probe: "(v) => [v.self === v, v.self.self.n]", change: set("n", 2) }),
  data("a cycle of three, with an array", "(() => { const a = {}; const b = [a]; const c = { b }; a.c = c; return a; })()", {
    probe: "(v) => [v.c.b[0] === v]",
  }),
  data("shared references", "(() => { const shared = { n: 1 }; return { list: [shared, shared], again: { shared } }; })()", {
    probe: "(v) => [v.list[0] === v.list[1], v.again.shared === v.list[0]]",
    change: "(v) => { v.list[0].n = 2; v.list.push(v.again); }",
  }),
  data("a graph ten thousand deep", "(() => { let v = { end: 1 }; for (let i = 0; i < 10000; i++) v = { v }; return v; })()", {
    probe: "(v) => { let n = 0; while (v.v) { v = v.v; n++; } return [n, v.end]; }",
    bare: true,
    clones: false,
  }),
  data("arrays ten thousand deep", "(() => { let v = []; for (let i = 0; i < 10000; i++) v = [v]; return v; })()", {
    probe: "(v) => { let n = 0; while (v.length) { v = v[0]; n++; } return [n]; }",
    bare: true,
    clones: false,
  }),
  data(
    "dates, maps and typed arrays inside of it",
    "({ at: new Date(5), by: new Map([[{ k: 1 }, new Set([1])]]), raw: new Uint8Array([1, 2]), re: /x/g, no: new RangeError('r') })",
    { probe: "(v) => [v.at.getTime(), v.by.size, v.raw[1], v.re.test('x'), v.no instanceof RangeError]" },
  ),
  data("arrays that look alike", "[[1], [1], [1]]", { probe: "(v) => [v[0] === v[1]]" }),

  object("a getter", "({ n: 1, get a() { return this.n + 1; } })", { probe: "(v, K) => [v.a, K.attempt(() => { v.a = 5; })]", change: set("n", 7) }),
  object("a getter and a setter", "({ n: 1, get a() { return this.n; }, set a(x) { this.n = x * 2; } })", {
    probe: "(v) => [v.a, (v.a = 4, v.n), Object.keys(v).join()]",
    change: set("a", 10),
  }),
  object("a setter alone", "({ log: [], set a(x) { this.log.push(x); } })", { probe: "(v) => [v.a, (v.a = 1, v.a = 2, v.log.length)]" }),
  object("a getter that throws", '({ get a() { throw new RangeError("no"); } })', { probe: "(v, K) => [K.attempt(() => v.a)]" }),
  object("a getter that defines itself anew", '({ get a() { Object.defineProperty(this, "a", { value: 1, configurable: true }); return 0; } })', {
    probe: '(v) => [v.a, v.a, "value" in Object.getOwnPropertyDescriptor(v, "a")]',
  }),
  object(
    "a getter that is inherited, with its receiver",
    "(Object.create({ get who() { return this.name; } }, { name: { value: 'own', enumerable: true } }))",
    { probe: "(v) => [v.who, Object.keys(v).join(), 'who' in v, Object.hasOwn(v, 'who'), Reflect.get(v, 'who', { name: 'other' })]" },
  ),
  object("a getter that cannot be configured", '(Object.defineProperty({ n: 3 }, "a", { get() { return this.n; }, enumerable: false }))', {
    probe: "(v, K) => [v.a, K.attempt(() => { delete v.a; })]",
  }),
  object(
    "a setter on an array's element",
    "(() => { const a = [1, 2]; Object.defineProperty(a, 1, { get() { return this.length; }, enumerable: true, configurable: true }); return a; })()",
    { probe: "(v) => [v[1], v.join(), (v.push(0), v[1])]" },
  ),
  object("methods", "({ n: 1, inc() { return ++this.n; }, arrow: (x) => x * 2 })", { probe: "(v) => [v.inc(), v.inc(), v.n, v.arrow(4)]" }),
  object(
    "a prototype that is an object of one's own",
    "(Object.create({ inherited: 1, f() { return this.own; } }, { own: { value: 2, writable: true, enumerable: true } }))",
    {
      probe: "(v) => [v.inherited, v.f(), Object.keys(v).join(), (() => { const k = []; for (const key in v) k.push(key); return k.join(); })()]",
      change: set("inherited", 3),
      life: "behaviour",
    },
  ),
  object("toString, valueOf and toJSON", '({ toString() { return "text"; }, valueOf() { return 42; }, toJSON() { return { j: 1 }; } })', {
    probe: "(v) => [String(v), v + 1, JSON.stringify(v)]",
  }),
  object("Symbol.toPrimitive", "({ [Symbol.toPrimitive](hint) { return hint === 'number' ? 7 : hint; } })", { probe: "(v) => [String(v), +v, v + '']" }),
  object("Symbol.toStringTag by a getter", '({ get [Symbol.toStringTag]() { return "Tagged"; } })', { probe: "(v) => [String(v)]" }),
  object("Symbol.isConcatSpreadable by a getter", "({ length: 2, 0: 'a', 1: 'b', get [Symbol.isConcatSpreadable]() { return true; } })", {
    probe: "(v) => [[0].concat(v).join()]",
  }),
  object("frozen, with methods", "(Object.freeze({ n: { c: 0 }, f() { return ++this.n.c; } }))", {
    probe: "(v, K) => [v.f(), v.f(), Object.isFrozen(v), K.attempt(() => { v.f = 1; })]",
  }),
  object("fixed, with a getter", "(Object.seal({ get a() { return 1; } }))", {
    probe: "(v, K) => [v.a, K.attempt(() => { v.b = 1; }), K.attempt(() => { delete v.a; })]",
  }),
  object("an array that holds functions", "[(x) => x + 1, function named() { return this; }]", {
    probe: "(v) => [v[0](1), v.map((f) => typeof f).join(), Array.isArray(v)]",
  }),
  object("a map that holds functions", "(new Map([['f', (x) => x + 1]]))", { probe: "(v) => [v.get('f')(1)]", brand: true }),
  object("an object that inherits from an array", "(Object.create([1, 2], { own: { value: 1, enumerable: true } }))", {
    probe: "(v) => [v.length, v[0], Array.isArray(v), v.map((x) => x * 2).join()]",
  }),
  object("an object that inherits from a bare one", "(Object.create(Object.assign(Object.create(null), { far: () => 1 })))", {
    probe: "(v) => [v.far(), 'toString' in v]",
  }),
];
