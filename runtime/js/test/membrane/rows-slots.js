// Dates, regular expressions, boxed primitives and arguments.
const slot = (group) => (name, make, more) => ({ group, name, make, brand: true, ...more });
const date = slot("dates");
const regexp = slot("regular expressions");
const boxed = slot("boxed primitives");
const args = slot("arguments");

const times = "(v) => [v instanceof Date, v.getTime(), v.toISOString(), JSON.stringify(v), v.getUTCFullYear(), +v]";
const matches = "(v) => [v instanceof RegExp, String(v), v.flags, v.global, v.test('aXa'), v.lastIndex, 'aXaX'.replace(v, '-'), 'aXaX'.split(v).length]";

export const slotRows = [
  date("a date", "(new Date(86400000))", { clones: true, probe: times, change: "(v) => { v.setTime(1); }" }),
  date("an invalid date", "(new Date(NaN))", {
    clones: true,
    probe: "(v, K) => [v.getTime(), K.attempt(() => v.toISOString()), JSON.stringify(v)]",
    change: "(v) => { v.setTime(5); }",
  }),
  date("a date that becomes invalid", "(new Date(5))", { change: "(v) => { v.setTime(NaN); }" }),
  date("the last date", "(new Date(8.64e15))", { probe: times }),
  date("a date before 1970", "(new Date(-1))", { probe: times }),
  date("a date's setters", "(new Date(Date.UTC(2020, 1, 29)))", { probe: times, change: "(v) => { v.setUTCFullYear(2021); v.setUTCHours(5); }" }),
  date("a date with properties of its own", "(Object.assign(new Date(0), { note: 'n', deep: { a: 1 } }))", {
    change: "(v) => { v.note = 2; v.deep.a = 2; v.setTime(9); }",
  }),
  date("a frozen date", "(Object.freeze(new Date(3)))", { probe: times, change: "(v) => { v.setTime(4); }" }),
  date("an object that inherits from Date.prototype", "(Object.create(Date.prototype, { a: { value: 1 } }))", {
    brand: false,
    life: "behaviour",
    probe: "(v, K) => [v instanceof Date, K.attempt(() => v.getTime())]",
  }),

  regexp("a regular expression", "(/a(X)?/g)", { clones: true, probe: matches }),
  regexp("every flag", "[/a/, /a/d, /a/g, /a/i, /a/m, /a/s, /a/u, /a/v, /a/y, /a/dgimsuy]", {
    probe: "(v) => v.map((r) => r.flags).concat(v.map((r) => r.test('A')))",
  }),
  regexp("lastIndex", "(Object.assign(/a/g, { lastIndex: 3 }))", {
    probe: "(v) => [v.lastIndex, v.test('aaaaa'), v.lastIndex]",
    change: "(v) => { v.lastIndex = 1; }",
  }),
  regexp("a search that goes on", "(/a/g)", { change: "(v) => { v.test('bab'); }" }),
  regexp("a sticky one", "(/foo/y)", { probe: "(v) => [v.test('foofoo'), v.lastIndex, v.test('foofoo'), v.lastIndex, v.test('foofoo'), v.lastIndex]" }),
  regexp("escapes, slashes and line ends", "(new RegExp('a/b\\\\/\\n[/]'))", { probe: "(v) => [v.source, String(v)]" }),
  regexp("named groups and look-behind", "(/(?<=\\$)(?<amount>\\d+)(?!\\d)/)", {
    probe: "(v) => [v.exec('cost $42').groups.amount, 'pay $7'.match(v).index, 'x $1'.replace(v, '<$<amount>>')]",
  }),
  regexp("code points", "(/^\\p{L}.$/u)", { probe: "(v) => [v.test('\\u00e9\\u{1f600}'), v.test('1a')]" }),
  regexp("an empty one", "(new RegExp(''))", { probe: "(v) => [v.source, v.test('')]" }),
  regexp("matchAll and replace with a function", "(/(\\w)=(\\d)/g)", {
    probe: "(v) => [[...'a=1 b=2'.matchAll(v)].map((m) => m[1] + m[2]).join(), 'a=1 b=2'.replace(v, (_, k, d) => d + k)]",
  }),
  regexp("a frozen one", "(Object.freeze(/a/))", { probe: "(v, K) => [v.test('a'), K.attempt(() => { v.lastIndex = 1; })]" }),
  regexp("properties of its own", "(Object.assign(/a/, { note: [1] }))", { change: "(v) => { v.note.push(2); }" }),

  boxed("Number", "(Object(1.5))", { clones: true, probe: "(v) => [typeof v, v + 1, v.toFixed(2), v instanceof Number]" }),
  boxed("Number of minus zero", "(Object(-0))", { probe: "(v) => [1 / v]" }),
  boxed("String", "(Object('a\\0\\ud800'))", { clones: true, probe: "(v) => [v.length, v[0], Object.keys(v).join(), v.concat('b'), v instanceof String]" }),
  boxed("Boolean", "(Object(false))", { clones: true, probe: "(v) => [v ? 1 : 2, v.valueOf()]" }),
  boxed("BigInt", "(Object(7n ** 30n))", { probe: "(v) => [v + 1n, v instanceof BigInt]" }),
  boxed("Symbol", "(Object(Symbol.iterator))", { probe: "(v) => [v.description, v == Symbol.iterator, typeof [][v]]" }),
  boxed("properties of their own", "(Object.assign(Object('ab'), { extra: 1, deep: [] }))", { change: "(v) => { v.extra = 2; v.deep.push(1); }" }),
  boxed("frozen", "(Object.freeze(Object('ab')))", { probe: "(v, K) => [Object.isFrozen(v), K.attempt(() => { v.x = 1; })]" }),

  args("strict arguments", "((function () { return arguments; })(1, 'two', { three: 3 }))", {
    probe: "(v, K) => [v.length, [...v].length, Array.prototype.slice.call(v, 1).length, Array.isArray(v), K.attempt(() => v.callee)]",
    change: "(v) => { v[0] = 5; v[2].three = 4; }",
  }),
  args("no arguments", "((function () { return arguments; })())", { probe: "(v) => [v.length, Array.from(v).length]" }),
  args("sloppy arguments, but for callee", "(Function('a', 'return arguments')(1, 2))", {
    bare: true,
    probe: "(v) => [v.length, Object.keys(v).join(), v[0], Array.prototype.slice.call(v).join(), Object.prototype.toString.call(v)]",
    change: "(v) => { v[0] = 3; v.length = 1; }",
  }),
  args("arguments with properties of their own", "(Object.assign((function () { return arguments; })(1), { note: 1 }))", {
    change: "(v) => { v.note = 2; delete v[0]; }",
  }),
];
