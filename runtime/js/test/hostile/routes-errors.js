// Errors: what one of the host's carries along, and what a guest makes the host do with
// one of its own.

const program = ([name, text, more]) => ({ name, program: text, ...more });
const quietly = (one) => ({ ...program(one), quiet: true });

// Each throws an error of the host's.
const throws = {
  "a host method": "x.fails()",
  "a host method deep down": "x.failsDeep()",
  "a host class's method": "x.instance.fails()",
  "a host constructor called as a function": "x.Thing()",
  "a host class's private field": "x.instance.isThing.call(null, 1)",
  "a host's array method": "x.use('sort', 1)",
  "a host's JSON.stringify": "x.use('json', { toJSON() { return 1n; } })",
  "a host's conversion": "x.use('text', Object.create(null))",
  "a host getter on a wrong receiver": "Reflect.get(x.Thing.prototype, 'accessor', 1) + x.use('map', 1)",
  "a host's proxy invariant": "x.use('handler', { get() { throw new TypeError('mine'); }, ownKeys: 1 }) + x.use('handlerSet', { set: 1 })",
  "a host's frozen object": "(() => { 'use strict'; x.frozen.a = 2; })()",
  "too many nested calls": "(() => { const again = () => x.calls(again); return again(); })()",
  "a host's iterator over a number": "x.use('spreadList', 1)",
  "a host's construct of no constructor": "x.use('construct', () => 1)",
};

const look = (expression) => `
let caught;
try {
  ${expression};
  throw new Error("nothing was thrown");
} catch (error) {
  caught = error;
  kit.takeError(error);
}
if (caught.message === "nothing was thrown") throw caught;
attempts(
  () => caught.constructor.constructor,
  () => caught.constructor.captureStackTrace,
  () => caught.constructor.prepareStackTrace,
  () => caught.cause,
  () => caught.cause.stack,
  () => caught.cause.constructor.constructor,
  () => caught.toString.constructor,
  () => Object.getOwnPropertyDescriptor(caught, "stack"),
  () => Object.getOwnPropertyDescriptor(caught, "stack").value,
  () => Object.getOwnPropertyDescriptor(caught, "stack").get.call(caught),
  () => Reflect.ownKeys(caught).map((key) => caught[key]).join(),
  () => JSON.stringify(caught, Object.getOwnPropertyNames(caught)),
  () => Object.getPrototypeOf(caught).constructor.constructor,
  () => { const another = {}; caught.constructor.captureStackTrace(another); return another.stack; },
  () => String(caught) + caught.fileName + caught.lineNumber,
);
`;

const stackReaders = [
  ["the stack of an error made in a callback of the host's", "x.calls(() => take(new Error('here').stack));", { quiet: false }],
  ["captureStackTrace in a callback of the host's", "x.calls(() => { const o = {}; Error.captureStackTrace(o); take(o.stack); });", { quiet: false }],
  ["the stack in a toJSON that the host calls", "x.use('json', { toJSON: () => take(new Error('here').stack) });"],
  ["the stack in a getter that the host reads", "x.use('getter', { get value() { return take(new Error('here').stack); } });"],
  ["the stack in a comparison that the host sorts by", "x.use('sort', () => { take(new Error('here').stack); return 0; });"],
  ["the stack in a constructor that the host extends", "x.use('extends', class { constructor() { take(new Error('here').stack); } });"],
  ["the stack in a reaction of a host promise", "await x.promise.then(() => take(new Error('here').stack));", { async: true }],
  ["the stack of a host rejection", "await kit.settle(x.rejected());", { async: true }],
  ["the stack of a rejection of a host async function", "await kit.settle(x.later(() => x.fails()));", { async: true }],
  ["the stack of the host's stored error", "take(x.error.stack, x.error.cause.stack, x.aggregate.stack, x.aggregate.errors[0].stack);", { quiet: false }],
  [
    "a host error thrown back and caught again",
    "try { x.calls(() => { try { x.fails(); } catch (e) { take(e.stack); throw e; } }); } catch (e) { kit.takeError(e); }",
    { quiet: false },
  ],
  [
    "a stack of the host's after a guest error went through it",
    "try { x.calls(() => { throw new Error('mine'); }); } catch (e) { kit.takeError(e); }",
    { quiet: false },
  ],
  [
    "the stack of a guest error that the host wrapped",
    "const e = new Error('mine'); attempts(() => x.use('cause', { cause: e }).stack, () => x.use('throws', e), () => x.use('throws', 1), () => x.use('throws', x.error).stack);",
    { quiet: false },
  ],
];

// Error.prepareStackTrace sees what ran, as objects.
const sites = `
const sites = [];
Error.prepareStackTrace = (error, list) => {
  for (const site of list) if (sites.length < 60) sites.push(site);
  return "mine";
};
const here = () => new Error("here").stack;
`;
const askSites =
  "Error.prepareStackTrace = undefined; for (const site of sites) for (const key of Reflect.ownKeys(Object.getPrototypeOf(site))) if (key !== 'constructor' && typeof site[key] === 'function') kit.spied('a call site', attempt(() => site[key]()));";

const above = {
  "a host function": "x.calls(here); if (sites.length === 0) throw new Error('no site was seen');",
  "a read that the host answers with a getter":
    "Object.defineProperty(x.object, 'here', { get: here, configurable: true }); take(x.object.here, Reflect.get(x.object, 'here', {}));",
  "a write that the host answers with a setter":
    "Object.defineProperty(x.object, 'here', { set: here, configurable: true }); x.object.here = 1; Reflect.set(x.object, 'here', 1, {});",
  "an inherited getter of the host's": "Object.setPrototypeOf(x.object, { get here() { return here(); } }); take(x.object.here);",
  "a host's proxy whose traps are the guest's": "attempts(() => x.use('handler', { get: here }), () => x.use('handlerSet', { set: here }));",
  "a host constructor": "new (class extends x.Thing { constructor() { super(); here(); } })(); x.use('super', class { constructor() { here(); } });",
  "a newTarget whose prototype is a getter":
    "attempt(() => Reflect.construct(x.Thing, [], Object.defineProperty(function () {}.bind(), 'prototype', { get: here })));",
  "an iteration of the host's": "x.use('spreadList', { *[Symbol.iterator]() { here(); } });",
  "conversions of the host's": "x.use('text', { toString: here }); x.use('number', { valueOf: () => (here(), 1) }); x.use('json', { toJSON: here });",
  "a proxy that the host looks at":
    "attempts(() => x.use('reflect', new Proxy({}, { ownKeys: () => (here(), []), getPrototypeOf: () => (here(), null) })), () => x.use('keys', new Proxy({}, { ownKeys: () => (here(), []) })));",
  "a species that the host's wait asks for":
    "class Promised extends Promise { static get [Symbol.species]() { here(); return Promise; } get then() { here(); return super.then; } } x.keep(Promised.resolve(1)); x.use('resolve', Promised.resolve(1));",
  "a constructor that a promise is asked for":
    "const p = Promise.resolve(1); Object.defineProperty(p, 'constructor', { get() { here(); return Promise; } }); x.keep(p); x.use('await', p); x.use('all', [p]);",
  "an error whose fields are getters": "attempt(() => x.use('throws', Object.defineProperty(new Error('mine'), 'message', { get: here })));",
  "a date, map and list of odd classes":
    "x.keep(new (class extends Map { get size() { here(); return 1; } forEach() { here(); } })([[1, 2]])); x.keep(new (class extends Date { getTime() { here(); return 1; } })(0)); x.keep(new (class extends Array { get length() { here(); return 0; } })());",
};

export const errors = {
  "errors of the host": Object.entries(throws).map(([name, text]) => ({ name, program: look(text), quiet: name === "too many nested calls" })),
  "stacks with the host on them": stackReaders.map(([name, text, more]) => ({ name, program: text, quiet: true, ...more })),
  "Error.prepareStackTrace": Object.entries(above).map(([name, text]) => quietly([`call sites above ${name}`, `${sites}${text}\n${askSites}`])),
};
