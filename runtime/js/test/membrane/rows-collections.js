// Maps, sets and what holds its members weakly.
const of = (group) => (name, make, more) => ({ group, name, make, brand: true, ...more });
const map = of("maps");
const set = of("sets");
const weak = of("weak collections");

export const collectionRows = [
  map("an empty map", "(new Map())", {
    clones: true,
    probe: "(v) => [v instanceof Map, v.size, v.get(1), [...v].length]",
    change: "(v) => { v.set('a', 1); }",
  }),
  map("the order of entries", "(new Map([['b', 1], ['a', 2], [1, 3], ['1', 4]]))", {
    clones: true,
    probe: "(v) => [[...v.keys()].join(), [...v.values()].join(), v.get(1), v.get('1'), v.has(2)]",
    change: "(v) => { v.delete('b'); v.set('b', 5); v.set('a', 9); }",
  }),
  map("NaN and zeros as keys", "(new Map([[NaN, 'nan'], [-0, 'zero']]))", { probe: "(v) => [v.get(NaN), v.get(0), Object.is([...v.keys()][1], 0)]" }),
  map("objects as keys", "(() => { const k = { k: 1 }; return new Map([[k, 'v'], ['key', k]]); })()", {
    clones: true,
    probe: "(v) => [v.get(v.get('key'))]",
    change: "(v) => { v.get('key').k = 2; v.delete(v.get('key')); }",
  }),
  map("symbols as keys", "(new Map([[Symbol.iterator, 1], [Symbol.for('r'), 2]]))", { probe: "(v) => [v.get(Symbol.iterator), v.get(Symbol.for('r'))]" }),
  map("a map in a map", "(new Map([['in', new Map([['deep', new Set([1])]])]]))", {
    clones: true,
    probe: "(v) => [v.get('in').get('deep').has(1)]",
    change: "(v) => { v.get('in').get('deep').add(2); }",
  }),
  map("a map that inherits from another object", "(Object.setPrototypeOf(new Map([['a', 1]]), { own: 1 }))", {
    probe: "(v) => [v.own, typeof v.get, Map.prototype.get.call(v, 'a')]",
    change: "(v) => { Map.prototype.set.call(v, 'b', 2); }",
  }),
  map("a map that inherits nothing", "(Object.setPrototypeOf(new Map([['a', 1]]), null))", { probe: "(v) => [typeof v.get, Map.prototype.get.call(v, 'a')]" }),
  map("a map that holds itself", "(() => { const m = new Map(); m.set('self', m); m.set(m, 1); return m; })()", {
    probe: "(v) => [v.get('self') === v, v.get(v)]",
  }),
  map("a map cleared", "(new Map([[1, 2], [3, 4]]))", { change: "(v) => { v.clear(); }" }),
  map("a map cleared and filled", "(new Map([[1, 2], [3, 4]]))", { change: "(v) => { v.clear(); v.set(3, 5); v.set(1, {}); }" }),
  map("two hundred entries", "(new Map(Array.from({ length: 200 }, (_, i) => ['k' + i, { i }])))", {
    probe: "(v) => [v.get('k199').i]",
    change: "(v) => { for (let i = 0; i < 200; i += 3) v.delete('k' + i); v.set('new', 1); }",
  }),
  map("properties of its own", "(Object.assign(new Map([[1, 2]]), { note: { a: 1 } }))", { change: "(v) => { v.note.a = 2; v.set(2, 3); v.more = 1; }" }),
  map("a frozen map", "(Object.freeze(new Map([[1, 2]])))", {
    probe: "(v, K) => [v.get(1), K.attempt(() => { v.x = 1; })]",
    change: "(v) => { v.set(1, 3); }",
  }),
  map("iterators of a map", "(new Map([['a', 1], ['b', 2]]))", {
    probe:
      "(v) => { const it = v.entries(); return [it.next().value.join(), [...it].length, it.next().done, it[Symbol.toStringTag], typeof it[Symbol.iterator]]; }",
  }),
  map("changed while it is iterated", "(new Map([[1, 1], [2, 2]]))", {
    probe: "(v) => { const seen = []; for (const [k] of v) { seen.push(k); if (k === 1) { v.delete(2); v.set(3, 3); } } return seen; }",
  }),
  map("forEach with its arguments", "(new Map([['k', 'v']]))", {
    probe: "(v) => { let text = ''; v.forEach(function (a, b, c) { text = a + b + (c === v) + (this === v); }, v); return [text]; }",
  }),

  set("an empty set", "(new Set())", { clones: true, probe: "(v) => [v instanceof Set, v.size]", change: "(v) => { v.add(1); }" }),
  set("the order of members", "(new Set(['b', 'a', 1, '1', NaN, 0]))", {
    clones: true,
    probe: "(v) => [[...v].join(), v.has(NaN), v.has(-0)]",
    change: "(v) => { v.delete('b'); v.add('b'); v.add('c'); }",
  }),
  set("objects as members", "(() => { const o = { n: 1 }; return new Set([o, [o]]); })()", {
    clones: true,
    probe: "(v) => { const [o, [again]] = v; return [o === again, v.has(o), v.has({})]; }",
    change: "(v) => { for (const o of [...v]) if (!Array.isArray(o)) { o.n = 2; v.add(3); } }",
  }),
  set("a set that holds itself", "(() => { const s = new Set(); s.add(s); return s; })()", { probe: "(v) => [v.has(v)]" }),
  set("a set cleared and filled", "(new Set([1, 2, 3]))", { change: "(v) => { v.clear(); v.add(3); v.add(1); }" }),
  set("properties of its own", "(Object.assign(new Set([1]), { note: 1 }))", { change: "(v) => { v.note = [2]; v.delete(1); }" }),
  set("iterators of a set", "(new Set(['a', 'b']))", { probe: "(v) => [[...v.entries()].join(), v.keys === v.values, v.values().next().value]" }),

  weak("a weak map", "(new WeakMap())", {
    life: "behaviour",
    bare: true,
    probe:
      "(v, K) => { const k = {}; return [v instanceof WeakMap, v.set(k, 1) === v, v.get(k), v.has(k), v.has({}), v.delete(k), v.get(k), K.attempt(() => v.set(1, 1))]; }",
  }),
  weak("a weak map with a member", "(() => { const k = { k: 1 }; return Object.assign(new WeakMap([[k, { v: 1 }]]), { k }); })()", {
    life: "behaviour",
    bare: true,
    probe: "(v) => [v.get(v.k).v, v.has(v.k), v.get({})]",
    change: "(v) => { v.k.k = 2; v.get(v.k).v = 3; v.set(v.k, { v: 4 }); }",
  }),
  weak("a weak set", "(() => { const k = {}; return Object.assign(new WeakSet([k]), { k }); })()", {
    life: "behaviour",
    bare: true,
    probe: "(v) => { const o = {}; return [v instanceof WeakSet, v.has(v.k), v.has(o), v.add(o).has(o), v.delete(v.k), v.has(v.k)]; }",
  }),
  weak("a weak reference", "(() => { const target = { t: 1 }; return Object.assign(new WeakRef(target), { target }); })()", {
    life: "data",
    bare: true,
    probe: "(v) => [v instanceof WeakRef, v.deref() === v.target, v.deref().t]",
    change: "(v) => { v.deref().t = 2; }",
  }),
];
