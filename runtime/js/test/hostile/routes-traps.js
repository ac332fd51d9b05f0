// Code that the host runs without meaning to: conversions, accessors, well-known symbols.

const shown = { quiet: false };
// A loop without end, which only the clock can stop; what follows is a dead sandbox.
const endless = { options: { limits: { timeoutMs: 20 } }, mayEnd: true };
const program = ([name, text, more]) => ({ name, program: text, quiet: true, ...more });

// A hook sees its receiver, its arguments and the stack. None of them may lead outside.
const look =
  "function () { take(this, new Error('here').stack); for (let i = 0; i < arguments.length; i++) take(arguments[i], arguments[i] && arguments[i].constructor); return 1; }";

const conversions = [
  [
    "toString",
    `attempts(() => x.use("text", { toString: ${look} }), () => x.use("concat", { toString: ${look} }), () => x.use("index", { toString: ${look} }));`,
  ],
  ["valueOf", `attempts(() => x.use("number", { valueOf: ${look} }), () => x.use("plus", { valueOf: ${look} }), () => x.use("equal", { valueOf: ${look} }));`],
  [
    "toJSON",
    `attempts(() => x.use("json", { toJSON: ${look} }), () => x.use("json", { toJSON() { return x.compiler; } }), () => x.use("json", { toJSON: x.compiler }));`,
  ],
  [
    "Symbol.toPrimitive",
    `attempts(() => x.use("text", { [Symbol.toPrimitive]: ${look} }), () => x.use("date", { [Symbol.toPrimitive]: ${look} }), () => x.use("index", { [Symbol.toPrimitive]: ${look} }));`,
  ],
  [
    "a toString that is the host's compiler",
    `attempts(() => x.use("text", { toString: x.compiler }), () => x.use("text", { toString: x.indirectEval }), () => x.use("plus", { valueOf: x.compiler }));`,
  ],
  [
    "a toPrimitive that answers with the host's function",
    `attempts(() => x.use("text", { [Symbol.toPrimitive]: () => x.fn }), () => x.use("concat", { toString: () => x.object }));`,
  ],
  [
    "a key that is another one the second time",
    `let n = 0; const key = { toString: () => (n++ ? "constructor" : "n") }; attempts(() => x.use("index", key), () => x.object[key], () => Reflect.get(x.object, key), () => Object.getOwnPropertyDescriptor(x.instance, key));`,
  ],
  [
    "a length that is another one the second time",
    `let n = 0; const list = { get length() { return n++ ? 3 : 1; }, 0: x.compiler, 1: 1, 2: 2 }; attempts(() => x.use("from", list), () => x.use("apply", list), () => x.fn.apply(null, list), () => x.use("bytes", list));`,
  ],
  [
    "a length that is no number",
    `attempts(() => x.use("from", { length: { valueOf: ${look} } }), () => x.use("from", { length: -1 }), () => x.use("from", { length: "3" }), () => x.use("bytes", { length: "2" }));`,
  ],
  [
    "a Symbol.toStringTag that lies",
    `attempts(() => x.use("tag", { get [Symbol.toStringTag]() { take(this); return "Function"; } }), () => x.use("isArray", new Proxy([], {})), () => x.keep({ [Symbol.toStringTag]: "Promise", then: ${look} }));`,
  ],
];

const accessors = [
  [
    "a getter that the host reads",
    `x.use("getter", { get value() { take(this, new Error("here").stack, this.constructor.constructor); return x.compiler; } });`,
    shown,
  ],
  [
    "a getter that redefines itself",
    `const o = { get value() { Object.defineProperty(this, "value", { get: () => x.compiler }); return 1; } }; x.use("getter", o); x.use("getter", o); x.use("assign", o); x.use("spread", o);`,
  ],
  [
    "a setter of the host's with a guest receiver",
    `const d = Object.getOwnPropertyDescriptor(x, "lazily"); attempts(() => d.set.call({}, x.compiler), () => d.get.call(1), () => Reflect.set(x, "lazily", 1, { set lazily(v) { take(v, this); } }), () => Reflect.get(x, "lazily", {}));`,
    shown,
  ],
  [
    "an accessor smuggled onto a host object",
    `Object.defineProperty(x.object, "smuggled", { get: ${look}, set: ${look}, configurable: true, enumerable: true }); attempts(() => x.use("json", x.object), () => x.use("spread", x.object), () => x.use("entries", x.object));`,
  ],
  [
    "the host's accessor smuggled onto a guest object",
    `const d = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(x.instance), "accessor"); const o = Object.defineProperty({}, "accessor", d); attempts(() => o.accessor, () => { o.accessor = 1; }, () => d.get.call(x.frozen), () => d.set.call(x.object, 1));`,
  ],
  [
    "a descriptor that is a proxy",
    `attempts(() => Object.defineProperty(x.object, "p", new Proxy({}, { has: () => true, get: (t, k) => { take(k); return k === "get" || k === "set" ? undefined : k === "value" ? x.compiler : true; } })), () => x.object.p("return globalThis")());`,
    shown,
  ],
  [
    "a descriptor with inherited fields",
    `Object.prototype.get = () => x.compiler; attempts(() => Object.defineProperty(x.object, "p", { value: 1 }), () => x.object.p); delete Object.prototype.get;`,
  ],
  [
    "descriptors that the host applies",
    `attempts(() => x.use("define", { get value() { take(this); return x.compiler; } }), () => x.use("defineAll", { a: { get: ${look} } }), () => x.use("define", x.fn), () => x.use("define", Object.getOwnPropertyDescriptor(x, "lazily")));`,
  ],
  [
    "an accessor at an index of a list that the host reads",
    `const list = [1, 2]; Object.defineProperty(list, 1, { get: ${look}, enumerable: true }); attempts(() => x.use("spreadList", list), () => x.use("concatLists", list), () => x.use("json", list), () => x.fn.apply(null, list));`,
  ],
  [
    "an accessor named like a field of the membrane's",
    `const o = {}; for (const key of ["id", "ref", "handle", "link", "target", "proxy", "value", "then", "toJSON", "constructor", "prototype", "__proto__", "name", "length", "message", "stack", "cause"]) Object.defineProperty(o, key, { get: ${look}, configurable: true, enumerable: true }); attempts(() => x.keep(o), () => x.use("json", o), () => x.use("throws", o), () => x.use("text", o), () => x.use("await", o));`,
  ],
  [
    "getters on the prototype of a class that crosses",
    `class C { get then() { take(this); } } Object.defineProperty(C.prototype, "constructor", { get() { take(new Error("here").stack); return x.compiler; } }); attempts(() => x.keep(new C()), () => x.use("await", new C()), () => x.use("tag", new C()), () => x.use("species", Object.assign([1], { constructor: x.compiler })));`,
  ],
];

const symbols = [
  [
    "Symbol.hasInstance of a guest class",
    `attempts(() => x.use("instanceOf", class { static [Symbol.hasInstance](v) { take(v, this, v.constructor.constructor, new Error("here").stack); return true; } }), () => x.use("instanceOf", { [Symbol.hasInstance]: x.compiler }));`,
    shown,
  ],
  [
    "Symbol.hasInstance of the host's classes",
    `attempts(() => x.Thing[Symbol.hasInstance].constructor, () => x.Thing[Symbol.hasInstance].call(x.compiler, x.instance), () => Object.defineProperty(x.Thing, Symbol.hasInstance, { value: take }), () => x.instance instanceof x.Thing, () => x.use("isInstance", x.instance));`,
    shown,
  ],
  [
    "Symbol.species of a guest list",
    `const list = [1, 2]; list.constructor = { get [Symbol.species]() { take(this, new Error("here").stack); return function (n) { take(n, this, new.target); return [x.compiler]; }; } }; attempts(() => x.use("species", list), () => x.use("flat", list), () => x.use("concatLists", list));`,
  ],
  [
    "Symbol.species of a host list",
    `attempts(() => x.array.constructor[Symbol.species].constructor, () => { x.array.constructor = { [Symbol.species]: class extends Array { constructor(n) { super(n); take(this, n); } } }; return x.array.map((v) => v); }, () => x.use("species", x.array));`,
    shown,
  ],
  [
    "Symbol.species of host brands",
    `attempts(() => x.promise.constructor[Symbol.species], () => x.bytes.constructor[Symbol.species], () => x.buffer.constructor[Symbol.species], () => { x.bytes.constructor = { [Symbol.species]: x.compiler }; return x.bytes.slice(0); }, () => { x.regexp.constructor = { [Symbol.species]: x.compiler }; return "ab".split(x.regexp); });`,
  ],
  [
    "Symbol.unscopables in a host's with",
    `attempts(() => x.use("with", { answer: 1, get [Symbol.unscopables]() { take(this, new Error("here").stack); return { answer: false }; } }), () => x.use("with", new Proxy({}, { has: (t, k) => { take(k); return k === "answer"; }, get: (t, k) => { take(k); return x.compiler; } })));`,
  ],
  [
    "a scope of the host's objects in a guest's with",
    `attempts(() => Function("x", "with (x) { return [typeof fn, typeof compiler, compiler]; }")(x)[2]("return globalThis")(), () => Function("x", "with (x.instance) { return constructor.constructor; }")(x));`,
    shown,
  ],
  [
    "Symbol.iterator on a host object",
    `attempts(() => { x.object[Symbol.iterator] = function* () { take(this); yield x.compiler; }; return x.use("spreadList", x.object); }, () => x.use("mapOf", { [Symbol.iterator]: x.compiler }), () => x.use("setOf", { [Symbol.iterator]: x.fn }));`,
  ],
  [
    "Symbol.isConcatSpreadable",
    `attempts(() => x.use("concatLists", { get [Symbol.isConcatSpreadable]() { take(this); return true; }, length: 2, get 0() { return x.compiler; } }), () => x.use("flat", new Proxy([], { get: (t, k, r) => { take(k, r); return t[k]; } })));`,
  ],
  [
    "Symbol.match, replace, search and split",
    `attempts(() => x.use("match", { [Symbol.match]: ${look} }), () => x.use("replace", { [Symbol.replace]: ${look} }), () => x.use("search", { [Symbol.search]: ${look} }), () => x.use("split", { [Symbol.split]: ${look} }), () => x.use("replace", x.compiler));`,
  ],
  [
    "a RegExp whose exec is the guest's",
    `const r = /a/g; r.exec = ${look}; attempts(() => x.use("regexp", r), () => x.use("match", r), () => x.use("replace", r)); x.regexp.exec = ${look}; attempts(() => x.use("match", x.regexp), () => x.regexp.test("a"));`,
  ],
  [
    "the host's well-known symbols as keys",
    `for (const key of Reflect.ownKeys(Symbol)) if (typeof Symbol[key] === "symbol") attempts(() => x.object[Symbol[key]], () => x.Thing[Symbol[key]], () => x.promise[Symbol[key]], () => x.fn[Symbol[key]]);`,
  ],
  [
    "symbols that look like the membrane's own",
    `for (const key of ["proxy", "target", "id", "READ", "sandbox-lsp", "membrane", "nodejs.util.inspect.custom", "nodejs.rejection"]) attempts(() => x.instance[Symbol.for(key)], () => { x.object[Symbol.for(key)] = ${look}; return x.use("text", x.object); });`,
  ],
];

const proxies = [
  [
    "a proxy argument whose traps see everything",
    `const seen = new Proxy({}, { get: (t, trap) => function (...args) { take(this, new Error("here").stack); for (const a of args) take(a); return Reflect[trap](...args); } }); for (const how of ["json", "spread", "keys", "text", "isInstance", "tag", "reflect", "entries", "assign"]) attempt(() => x.use(how, new Proxy({ a: 1 }, seen)));`,
  ],
  [
    "a proxy of a function, called and constructed",
    `const f = new Proxy(function () {}, { apply: (t, self, args) => { take(self, args, args.constructor.constructor); return 1; }, construct: (t, args, nt) => { take(args, nt, nt.constructor); return {}; } }); for (const how of ["call", "construct", "extends", "super", "sort", "map", "bind", "apply"]) attempt(() => x.use(how, f));`,
    shown,
  ],
  [
    "a proxy as the host's handler",
    `attempts(() => x.use("handler", new Proxy({}, { get: (t, k) => { take(k); return (...args) => { for (const a of args) take(a, a && a.constructor); return 1; }; } })), () => x.use("handlerSet", new Proxy({}, { get: () => x.compiler })));`,
  ],
  [
    "a proxy whose prototype is itself",
    `const p = new Proxy({}, { getPrototypeOf: () => p }); for (const how of ["isInstance", "text", "tag", "json", "proto", "reflect"]) attempt(() => x.use(how, p)); attempt(() => x.keep(p));`,
    endless,
  ],
  [
    "a proxy that breaks its invariants",
    `const fixed = Object.freeze({ a: 1 }); const p = new Proxy(fixed, { get: () => x.compiler, ownKeys: () => ["b"], getOwnPropertyDescriptor: () => ({ value: 2, configurable: false }), getPrototypeOf: () => x.fn, isExtensible: () => true }); for (const how of ["spread", "json", "keys", "entries", "reflect", "isInstance", "getter"]) attempt(() => x.use(how, p)); attempt(() => x.keep(p));`,
  ],
  [
    "a proxy with endless keys and length",
    `const p = new Proxy([], { get: (t, k) => (k === "length" ? 2 ** 32 : 1), ownKeys: () => ["length", ..."abcdefghij"] }); attempts(() => x.keep(p), () => x.use("keys", p), () => x.use("isArray", p));`,
  ],
  [
    "a revoked proxy in each place",
    `const { proxy, revoke } = Proxy.revocable(function () {}, {}); revoke(); for (const how of ["call", "text", "json", "reflect", "tag", "isArray", "spread", "await", "construct", "throws"]) attempt(() => x.use(how, proxy)); attempts(() => x.keep(proxy), () => x.fn.call(proxy), () => x.receiver.call(proxy), () => (x.object.p = proxy));`,
  ],
  [
    "a proxy revoked while the host reads it",
    `const { proxy, revoke } = Proxy.revocable({ a: 1, b: 2 }, { get(t, k) { revoke(); return x.compiler; }, ownKeys(t) { return Reflect.ownKeys(t); } }); for (const how of ["spread", "json", "keys"]) attempt(() => x.use(how, proxy));`,
  ],
  [
    "a proxy around a host object",
    `const p = new Proxy(x.instance, {}); attempts(() => p.method(1), () => x.instance.isThing(p), () => x.receiver.call(p), () => p.constructor.constructor, () => x.keep(p), () => Reflect.getPrototypeOf(p).constructor.constructor);`,
    shown,
  ],
  [
    "a proxy of a proxy of a host function",
    `const p = new Proxy(new Proxy(x.fn, {}), { get: (t, k, r) => Reflect.get(t, k, r) }); attempts(() => p.constructor("return globalThis")(), () => p.call(null), () => Reflect.construct(p, [], p), () => x.use("call", p));`,
    shown,
  ],
];

export const traps = {
  conversions: conversions.map(program),
  "accessors that are smuggled": accessors.map(program),
  "well-known symbols": symbols.map(program),
  "proxies as arguments": proxies.map(program),
};
