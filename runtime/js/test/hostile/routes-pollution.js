// Prototype pollution: by the guest in the host's realm, and by the host in the guest's.

const program = ([name, text, more]) => ({ name, program: text, ...more });

// The host's realm is compared with what it was; in a realm without walls each shows.
const fromGuest = [
  ["Object.prototype by __proto__", "x.object.__proto__.polluted = 1;"],
  ["Object.prototype by getPrototypeOf", "Object.getPrototypeOf(x.object).polluted = 1;"],
  ["Object.prototype by constructor.prototype", "x.object.constructor.prototype.polluted = 1;"],
  ["Object.prototype by defineProperty", "Object.defineProperty(Object.getPrototypeOf(x.object), 'polluted', { get: () => 1, configurable: true });"],
  ["Object.prototype by __defineGetter__", "x.object.__defineGetter__.call(x.object.__proto__, 'polluted', () => 1);"],
  [
    "Object.prototype by a host class's ancestor",
    "attempt(() => { let p = x.Thing.prototype; while (Object.getPrototypeOf(p)) p = Object.getPrototypeOf(p); p.polluted = 1; });",
  ],
  ["Object.prototype by Object.assign", "attempt(() => Object.assign(x.object.__proto__, { polluted: 1 }));"],
  [
    "Object.prototype by JSON with __proto__",
    "attempt(() => { const merge = (to, from) => { for (const key in from) { if (typeof from[key] === 'object') merge(to[key], from[key]); else to[key] = from[key]; } }; merge(x.object, { constructor: { prototype: { polluted: 1 } } }); });",
  ],
  [
    "Object.prototype by a key path",
    "attempt(() => { let at = x.object; for (const key of ['__proto__', 'polluted']) { if (key === 'polluted') at[key] = 1; else at = at[key]; } });",
  ],
  ["Array.prototype", "Object.getPrototypeOf(x.array).polluted = 1; x.array.__proto__.push = take;"],
  ["Array.prototype's iterator", "attempt(() => { Object.getPrototypeOf(x.array)[Symbol.iterator] = function* () { yield 'mine'; }; });"],
  ["the array iterator's prototype", "attempt(() => { Object.getPrototypeOf(x.array[Symbol.iterator]()).next = take; });"],
  ["Function.prototype", "Object.getPrototypeOf(x.fn).polluted = 1; attempt(() => { x.fn.__proto__.call = take; });"],
  ["Function.prototype by a class", "attempt(() => { Object.getPrototypeOf(x.Base).polluted = 1; });"],
  [
    "Error.prototype and TypeError",
    "attempt(() => { try { x.fails(); } catch (e) { Object.getPrototypeOf(e).polluted = 1; e.constructor.polluted = 1; Object.getPrototypeOf(Object.getPrototypeOf(e)).toString = take; } });",
  ],
  [
    "Error.prepareStackTrace of the host",
    "attempt(() => { try { x.fails(); } catch (e) { Object.getPrototypeOf(e.constructor).prepareStackTrace = () => 'mine'; } });",
  ],
  ["Promise.prototype", "Object.getPrototypeOf(x.promise).polluted = 1; attempt(() => { x.promise.constructor.polluted = 1; });"],
  [
    "Map, Set and WeakMap prototypes",
    "for (const v of [x.map, x.set, x.weakMap]) attempts(() => { Object.getPrototypeOf(v).polluted = 1; }, () => { Object.getPrototypeOf(v).has = () => true; });",
  ],
  [
    "Date, RegExp and buffer prototypes",
    "for (const v of [x.date, x.regexp, x.bytes, x.buffer, x.view]) attempt(() => { Object.getPrototypeOf(v).polluted = 1; v.constructor.polluted = 1; });",
  ],
  [
    "String, Number and Symbol prototypes",
    "for (const v of [x.boxed, Object(x.symbol), Object(x.big)]) attempt(() => { Object.getPrototypeOf(v).polluted = 1; });",
  ],
  [
    "generator prototypes",
    "attempts(() => { Object.getPrototypeOf(Object.getPrototypeOf(x.iterator)).polluted = 1; }, () => { Object.getPrototypeOf(x.generator).polluted = 1; }, () => { Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(x.asyncIterator))).polluted = 1; });",
  ],
  [
    "the iterator prototype",
    "attempt(() => { let p = x.iterator; while (Object.getPrototypeOf(Object.getPrototypeOf(p))) p = Object.getPrototypeOf(p); p[Symbol.iterator] = take; p.polluted = 1; });",
  ],
  ["the typed array prototype", "attempt(() => { Object.getPrototypeOf(Object.getPrototypeOf(x.bytes)).polluted = 1; });"],
  ["the prototype of the host's class", "attempts(() => { Object.getPrototypeOf(x.instance).polluted = 1; }, () => { x.Thing.prototype.polluted = 1; });"],
  [
    "methods of the host's class",
    "attempts(() => { Object.getPrototypeOf(x.instance).method = take; }, () => { x.Thing.prototype.method = take; }, () => delete x.Thing.prototype.fails);",
  ],
  [
    "the prototype of the host's base class",
    "attempts(() => { Object.getPrototypeOf(Object.getPrototypeOf(x.instance)).inherited = take; }, () => { Object.getPrototypeOf(x.Thing.prototype).polluted = 1; });",
  ],
  [
    "another prototype for a host prototype",
    "attempts(() => Object.setPrototypeOf(x.Thing.prototype, { polluted: 1 }), () => { Object.getPrototypeOf(x.instance).__proto__ = { polluted: 1 }; });",
  ],
  [
    "another prototype for Array.prototype",
    "attempts(() => Object.setPrototypeOf(Object.getPrototypeOf(x.array), { polluted: 1 }), () => Object.setPrototypeOf(Object.getPrototypeOf(x.fn), { polluted: 1 }));",
  ],
  [
    "freezing the host's prototypes",
    "attempts(() => Object.freeze(x.Thing.prototype), () => Object.preventExtensions(Object.getPrototypeOf(x.instance)), () => Object.seal(Object.getPrototypeOf(x.instance)));",
    { quiet: false, last: true },
  ],
  [
    "a setter on Object.prototype for what the host assigns",
    "attempt(() => Object.defineProperty(x.object.__proto__, 'kept', { set(v) { take(v, this); }, configurable: true }));",
  ],
  [
    "__proto__ as an own key of what the host copies",
    "attempts(() => x.use('assign', JSON.parse('{\"__proto__\": {\"polluted\": 1}}')), () => x.use('spread', JSON.parse('{\"__proto__\": {\"polluted\": 1}}')), () => x.use('fromEntries', [['__proto__', { polluted: 1 }]]), () => x.keep(JSON.parse('{\"__proto__\": {\"polluted\": 1}}')));",
    { quiet: true },
  ],
  [
    "__proto__ writes to host objects",
    "attempts(() => { x.nullProto.__proto__ = { polluted: 1 }; }, () => { x.frozen.__proto__ = { polluted: 1 }; }, () => { x.object.nested.__proto__ = x.fn; }, () => x.object.nested.apply);",
    { quiet: true },
  ],
  [
    "__proto__ setter of the host on the host's own",
    "attempt(() => Object.getOwnPropertyDescriptor(x.object.__proto__, '__proto__').set.call(x.Thing.prototype, { polluted: 1 }));",
  ],
  [
    "write through the host's Reflect by a callback",
    "attempts(() => x.callsOn(Reflect.set, null, x.Thing.prototype, 'polluted', 1), () => x.calls(Object.assign, x.Thing.prototype, { polluted: 1 }), () => x.calls(Object.defineProperty, x.object.__proto__, 'polluted', { value: 1, configurable: true }));",
  ],
  [
    "write through a host function given the prototype",
    "attempts(() => x.calls(Object.assign, Object.prototype, { polluted: 1 }), () => x.calls(Reflect.set, Array.prototype, 'polluted', 1), () => x.calls(Object.setPrototypeOf, Function.prototype, { polluted: 1 }));",
  ],
  [
    "write through Array methods on the host's objects",
    "attempts(() => Array.prototype.push.call(x.object.__proto__, 1), () => Array.prototype.push.call(x.Thing.prototype, 1));",
  ],
  [
    "write with the host's prototype as receiver",
    "attempts(() => Reflect.set({}, 'polluted', 1, x.object.__proto__), () => Reflect.set({}, 'polluted', 1, x.Thing.prototype), () => { class C extends (function (o) { return o; }) { polluted = 1; } new C(x.Thing.prototype); });",
  ],
  [
    "private-looking stamps on the host's prototype",
    "class Stamp extends (function (o) { return o; }) { #mine = 1; polluted = 2; } attempts(() => new Stamp(x.object.__proto__), () => new Stamp(x.Thing.prototype));",
  ],
  [
    "global bindings",
    "attempts(() => { globalThis.polluted = 1; }, () => { (0, eval)('var pollutedToo = 1'); }, () => { x.sloppyThis().pollutedThree = 1; }, () => { x.sloppyThis.call(null).pollutedFour = 1; });",
  ],
  [
    "intrinsics that are paired",
    "attempts(() => { x.object.constructor.polluted = 1; }, () => { x.array.constructor.from = take; }, () => { x.date.constructor.now = take; }, () => { x.map.constructor.polluted = 1; });",
  ],
];

// The host soils its own realm; the guest's stays clean.
const fromHost = [
  ["a field on Object.prototype", () => (Object.prototype.polluted = 1)],
  [
    "a setter on Object.prototype",
    ({ say }) => Object.defineProperty(Object.prototype, "own", { set: () => say("a setter of the host's saw a guest value"), configurable: true }),
  ],
  ["a field on Array.prototype", () => (Array.prototype.polluted = 1)],
  ["a field on Function.prototype", () => (Function.prototype.polluted = 1)],
  ["a field on Map.prototype", () => (Map.prototype.polluted = 1)],
  ["a field on Error.prototype", () => (Error.prototype.polluted = 1)],
].map(([name, soil]) => ({
  name: `the host's ${name}`,
  quiet: true,
  drive: (host) => {
    const { exports, x } = host;
    soil(host);
    let seen;
    try {
      exports.run(
        `take(String([{}.polluted, [].polluted, (() => 1).polluted, new Error("x").polluted, new Map().polluted, [1].map((n) => n + 1).join(), "polluted" in {}].concat(Object.keys(Object.prototype).length)));`,
        x,
      );
      seen = exports.collect()[0];
    } finally {
      for (const object of [Object.prototype, Function.prototype, Array.prototype, Map.prototype, Error.prototype]) {
        delete object.polluted;
        delete object.own;
      }
    }
    return seen === ",,,,,2,false,0" ? undefined : `the guest's realm is ${seen}`;
  },
}));

// The guest soils its own realm; what it gives the host is what the host expects.
const ownRealm = [
  [
    "fields on Object.prototype",
    "Object.prototype.polluted = 1; Object.prototype.toJSON = () => 'mine';",
    (e) => [JSON.stringify(e.data()), "polluted" in e.data()],
  ],
  [
    "an own Symbol.iterator for lists",
    "Array.prototype[Symbol.iterator] = function* () { yield 'mine'; };",
    (e) => [
      [...e.data().list].length,
      e
        .data()
        .list.map((v) => typeof v)
        .join(),
    ],
  ],
  [
    "another prototype for Object.prototype's heirs",
    "Object.setPrototypeOf(Array.prototype, { polluted: 1 });",
    (e) => [e.data().list.length, e.data().list.polluted],
  ],
  [
    "a setter for what the membrane assigns",
    "for (const key of ['list', 'text', '0', 'value', 'get', 'id']) Object.defineProperty(Object.prototype, key, { __proto__: null, set(v) { take(v, this); }, get: () => 'mine', configurable: true });",
    (e) => [JSON.stringify(e.data())],
  ],
].map(([name, text, look]) => ({
  name: `the guest's ${name}`,
  quiet: true,
  drive: ({ exports, x }) => {
    const clean = JSON.stringify(look(exports));
    exports.run(text, x);
    const soiled = JSON.stringify(look(exports));
    return clean === soiled ? undefined : `the host got ${soiled}, not ${clean}`;
  },
}));

export const pollution = {
  "pollution of the host's realm": fromGuest.map(program),
  "pollution of the guest's realm": fromHost,
  "a realm that the guest polluted for itself": ownRealm,
};
