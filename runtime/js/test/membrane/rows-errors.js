// Errors as values; every row of the table is also thrown.
const error = (name, make, more) => ({ group: "errors", name, make, brand: true, ...more });
const told =
  "(v) => [v instanceof Error, String(v), v.name, v.message, typeof v.stack, Object.prototype.toString.call(v), v.constructor.name, Object.keys(v).join()]";

export const errorRows = [
  ...["Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError"].map((kind) =>
    error(kind, `(new ${kind}("what \\0 happened"))`, {
      clones: true,
      probe: `(v) => [...(${told})(v), v instanceof ${kind}]`,
      change: '(v) => { v.message = "else"; v.code = 5; }',
    }),
  ),
  error("AggregateError", '(new AggregateError([new TypeError("one"), 2], "many"))', {
    probe: "(v) => [v instanceof AggregateError, v.errors.length, v.errors[0] instanceof TypeError, v.errors[0].message]",
    change: "(v) => { v.errors.push(3); }",
  }),
  error("no message", "(new Error())", { probe: `(v) => [...(${told})(v), Object.hasOwn(v, "message")]` }),
  error("a cause", '(new Error("outer", { cause: new RangeError("inner") }))', {
    probe: "(v) => [v.cause instanceof RangeError, v.cause.message]",
    change: '(v) => { v.cause.message = "changed"; }',
  }),
  error("a cause that is no error", '(new Error("outer", { cause: { code: 1, list: [2] } }))', { probe: "(v) => [v.cause.code, v.cause.list[0]]" }),
  error("a cause of undefined", '(new Error("outer", { cause: undefined }))', { probe: '(v) => ["cause" in v, v.cause]' }),
  error("its own cause", '(() => { const e = new Error("round"); e.cause = e; return e; })()', { probe: "(v) => [v.cause === v]" }),
  error("fields of its own", '(Object.assign(new Error("coded"), { code: "E_CODE", errno: -2, details: { path: "p", list: [1] } }))', {
    probe: told,
    change: '(v) => { v.code = "E_OTHER"; v.details.list.push(2); delete v.errno; }',
  }),
  error("symbols as fields", '(Object.assign(new Error("s"), { [Symbol.for("f")]: 1 }))', { probe: '(v) => [v[Symbol.for("f")]]' }),
  error("a name of its own", '(Object.assign(new Error("named"), { name: "Custom" }))', { probe: told }),
  error("a hidden name", '(Object.defineProperty(new Error("named"), "name", { value: "Hidden", configurable: true }))', { probe: told }),
  error("a frozen one", '(Object.freeze(new Error("cold")))', { probe: "(v, K) => [Object.isFrozen(v), K.attempt(() => { v.message = 1; }), v.message]" }),
  error("fixed, with a field", '(Object.seal(Object.assign(new TypeError("s"), { a: 1 })))', {
    probe: "(v, K) => [Object.isSealed(v), K.attempt(() => { v.b = 1; }), v.a]",
  }),
  error("without a stack", '(() => { const e = new Error("s"); delete e.stack; return e; })()', { probe: "(v) => [v.message]" }),
  error("itself as its name", "(() => { const e = new Error('m'); e.name = e; return e; })()", { probe: "(v) => [v.name === v]" }),
  error("an object as its message", "(Object.assign(new Error(), { message: { deep: [1] } }))", { probe: "(v) => [v.message.deep[0]]" }),
  error(
    "a class of its own",
    '(() => { class Own extends TypeError { constructor(m) { super(m); this.code = 7; } get name() { return "Own"; } twice() { return this.code * 2; } } return new Own("mine"); })()',
    { life: "behaviour", probe: `(v) => [...(${told})(v), v instanceof TypeError, v.twice(), v.code]`, change: "(v) => { v.code = 8; }" },
  ),
  error(
    "a class of its own, two deep",
    '(() => { class A extends Error {} class B extends A { constructor() { super("b", { cause: 1 }); this.name = "B"; } } return new B(); })()',
    { life: "behaviour", probe: `(v) => [...(${told})(v), v.cause]` },
  ),
  error(
    "a getter of its own",
    '(Object.defineProperty(new Error("g"), "lazy", { get() { return this.message + "!"; }, enumerable: true, configurable: true }))',
    { life: "behaviour", probe: "(v) => [v.lazy]" },
  ),
  error("a method of its own", '(Object.assign(new Error("m"), { toJSON() { return { m: this.message }; } }))', {
    life: "behaviour",
    probe: "(v) => [JSON.stringify(v)]",
  }),
  error("an object that only inherits from an error", '(Object.create(new Error("proto")))', {
    brand: false,
    life: "behaviour",
    probe: "(v) => [v instanceof Error, v.message, Object.prototype.toString.call(v)]",
  }),
  error("a list of errors", '[new Error("a"), new TypeError("b"), new URIError("c")]', { probe: "(v) => v.map((e) => e.constructor.name + e.message)" }),
  error(
    "what the engine throws",
    "(() => { const thrown = []; for (const f of [() => null.x, () => undeclared, () => [].reduce(() => {}), () => new Array(-1), () => decodeURI('%'), () => 1n + 1]) { try { f(); } catch (e) { e.message = e.constructor.name; thrown.push(e); } } return thrown; })()",
    { probe: "(v) => v.map((e) => [e instanceof Error, e.name].join())" },
  ),
];
