// A guest that replaced its own intrinsics after the membrane had started: nothing of the
// membrane's may pass through them, and what it does stays right.

const values = [
  [
    "Reflect",
    "Reflect",
    "['apply', 'construct', 'get', 'set', 'has', 'ownKeys', 'defineProperty', 'deleteProperty', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'setPrototypeOf', 'isExtensible', 'preventExtensions']",
  ],
  [
    "Object",
    "Object",
    "['create', 'freeze', 'keys', 'defineProperty', 'defineProperties', 'getOwnPropertyDescriptor', 'getOwnPropertyDescriptors', 'getOwnPropertyNames', 'getOwnPropertySymbols', 'getPrototypeOf', 'setPrototypeOf', 'assign', 'entries', 'is', 'isFrozen', 'hasOwn', 'fromEntries']",
  ],
  [
    "Object.prototype",
    "Object.prototype",
    "['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', '__defineGetter__', '__lookupGetter__', '__proto__']",
  ],
  ["Function.prototype", "Function.prototype", "['call', 'apply', 'bind', 'toString', Symbol.hasInstance]"],
  [
    "Array.prototype",
    "Array.prototype",
    "[Symbol.iterator, 'push', 'pop', 'map', 'forEach', 'slice', 'concat', 'indexOf', 'values', 'keys', 'entries', 'join', 'shift', 'splice', 'includes']",
  ],
  ["Array", "Array", "['from', 'of', 'isArray', Symbol.species]"],
  ["the array iterator", "Object.getPrototypeOf([][Symbol.iterator]())", "['next', Symbol.iterator, 'return']"],
  ["WeakMap.prototype", "WeakMap.prototype", "['get', 'set', 'has', 'delete']"],
  ["Map.prototype", "Map.prototype", "['get', 'set', 'has', 'delete', 'clear', 'forEach', 'entries', 'keys', 'values', Symbol.iterator, 'size']"],
  ["Set.prototype", "Set.prototype", "['add', 'has', 'delete', 'clear', 'forEach', 'values', Symbol.iterator, 'size']"],
  ["Promise.prototype", "Promise.prototype", "['then', 'catch', 'finally']"],
  ["Promise", "Promise", "['resolve', 'reject', 'all', 'race', Symbol.species]"],
  ["Symbol", "Symbol", "['for', 'keyFor']"],
  ["Symbol.prototype", "Symbol.prototype", "['toString', 'valueOf', 'description', Symbol.toPrimitive]"],
  ["String.prototype", "String.prototype", "['charCodeAt', 'split', 'replace', 'indexOf', 'slice', 'toString', 'startsWith', 'includes', Symbol.iterator]"],
  ["RegExp.prototype", "RegExp.prototype", "['exec', 'test', 'flags', 'source', 'global', Symbol.replace, Symbol.match, Symbol.split]"],
  ["Date.prototype", "Date.prototype", "['getTime', 'valueOf', 'setTime', 'toJSON', Symbol.toPrimitive]"],
  ["Error.prototype and stacks", "Error.prototype", "['toString', 'message', 'name', 'stack']"],
  ["JSON", "JSON", "['stringify', 'parse']"],
  [
    "the typed array's prototype",
    "Object.getPrototypeOf(Uint8Array.prototype)",
    "['set', 'subarray', 'slice', 'buffer', 'byteLength', 'byteOffset', 'length', Symbol.iterator, Symbol.toStringTag]",
  ],
  ["ArrayBuffer.prototype", "ArrayBuffer.prototype", "['byteLength', 'slice', 'resize', 'resizable', 'maxByteLength']"],
  ["WeakRef and FinalizationRegistry", "WeakRef.prototype", "['deref']"],
  ["boxes", "Number.prototype", "['valueOf', 'toString', Symbol.toPrimitive]"],
  ["generators", "Object.getPrototypeOf(function* () {}).prototype", "['next', 'return', 'throw']"],
];

// What a host does with a library once the guest has soiled its realm. Each answer is known.
function useFromHost(exports, x, say) {
  const expect = (what, seen, wanted) => {
    if (!Object.is(seen, wanted)) say(`${what} gives ${String(seen)}, not ${String(wanted)}`);
  };
  const caught = (what, f) => {
    try {
      return f();
    } catch (error) {
      say(`${what} throws ${error?.name}: ${error?.message}`);
      return undefined;
    }
  };
  caught("a call", () => expect("a call", exports.add(1, 2), 3));
  caught("an echo of a host object", () => expect("an echo", exports.echo(x.instance), x.instance));
  caught("an echo of a list", () => expect("an echo of a list", exports.echo(x.array), x.array));
  caught("an echo of a date", () => expect("an echo of a date", exports.echo(x.date), x.date));
  caught("an echo of a map", () => expect("an echo of a map", exports.echo(x.map), x.map));
  caught("an echo of bytes", () => expect("an echo of bytes", exports.echo(x.bytes), x.bytes));
  caught("an echo of an error", () => expect("an echo of an error", exports.echo(x.error), x.error));
  caught("an echo of a symbol", () => expect("an echo of a symbol", exports.echo(x.symbol), x.symbol));
  caught("an instance", () => {
    const victim = new exports.Victim();
    expect("a field", victim.n, 1);
    expect("a private field", victim.own, 1);
    expect("a method", victim.twice(2), 4);
    expect(
      "a callback",
      victim.through((v) => v + 1, 1),
      2,
    );
    victim.n = 5;
    expect("a written field", victim.n, 5);
    expect("a key", "n" in victim, true);
    expect("own keys", Object.keys(victim).join(), "n");
    expect("instanceof", victim instanceof exports.Victim, true);
  });
  caught("data", () => expect("data", exports.data().list[2].three, 3));
  try {
    exports.failing();
    say("nothing was thrown");
  } catch (error) {
    expect("an error's class", error instanceof TypeError, true);
    expect("an error's message", error.message, "it fails");
  }
}

const drive = async ({ exports, x, say }) => {
  useFromHost(exports, x, say);
  const value = await exports.promised(7);
  return value === 7 ? undefined : `a promise gives ${String(value)}`;
};

const spied = values.map(([name, object, keys]) => ({
  name: `spies on ${name}`,
  quiet: true,
  // What is written to a builtin may break the guest's own use of it, never the host's.
  program: `kit.spy(${object}, ${JSON.stringify(name)}, ...${keys}); kit.exercise(x);`,
  drive,
}));

const globals = [
  [
    "global constructors",
    "for (const name of ['Map', 'Set', 'WeakMap', 'WeakRef', 'Proxy', 'Promise', 'Error', 'TypeError', 'RangeError', 'Date', 'RegExp', 'Symbol', 'Object', 'Array', 'ArrayBuffer', 'DataView', 'Uint8Array', 'FinalizationRegistry', 'String', 'Number', 'BigInt']) kit.spy(globalThis, 'globalThis', name);",
  ],
  [
    "globals that are gone",
    "for (const name of ['Map', 'Set', 'WeakMap', 'WeakRef', 'Proxy', 'Promise', 'Error', 'TypeError', 'Date', 'RegExp', 'Reflect', 'Array', 'ArrayBuffer', 'DataView', 'Uint8Array', 'FinalizationRegistry', 'JSON']) delete globalThis[name];",
  ],
  [
    "setters at every index",
    "for (let i = 0; i < 12; i++) Object.defineProperty(Array.prototype, i, { set(v) { kit.spied('an index setter', v); }, get() { kit.spied('an index getter', this); }, configurable: true });",
  ],
  [
    "setters for the fields of descriptors",
    "for (const key of ['value', 'get', 'set', 'writable', 'enumerable', 'configurable', 'id', 'done', 'next', 'then', 'message', 'cause']) Object.defineProperty(Object.prototype, key, { __proto__: null, set(v) { kit.spied('a field setter', v); }, get() { kit.spied('a field getter', this); return undefined; }, configurable: true });",
  ],
  [
    "traps on Object.prototype",
    "for (const key of ['apply', 'construct', 'defineProperty', 'deleteProperty', 'get', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'has', 'isExtensible', 'ownKeys', 'preventExtensions', 'set', 'setPrototypeOf']) Object.defineProperty(Object.prototype, key, { __proto__: null, value(...args) { kit.spied('a trap', this); for (let i = 0; i < args.length; i++) kit.spied('a trap', args[i]); return Reflect[key](...args); }, configurable: true, writable: true });",
  ],
  [
    "a proxy as the prototype of Object.prototype's heirs",
    "const listen = new Proxy(Object.create(null), { get(t, k, receiver) { kit.spied('a missing read', receiver); }, set(t, k, v, receiver) { kit.spied('a missing write', v); return Reflect.defineProperty(receiver, k, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true }); }, has: () => false }); Object.setPrototypeOf(Array.prototype, listen); Object.setPrototypeOf(Function.prototype, listen);",
  ],
  [
    "a proxy in place of the intrinsics' methods",
    "for (const [object, key] of [[Map.prototype, 'get'], [Array.prototype, 'push'], [Function.prototype, 'call'], [Promise.prototype, 'then'], [Reflect, 'get']]) object[key] = new Proxy(object[key], { apply(t, self, args) { kit.spied('a proxy', self); for (let i = 0; i < args.length; i++) kit.spied('a proxy', args[i]); return Reflect.apply(t, self, args); } });",
  ],
  [
    "Symbol.hasInstance of Object and Function",
    "for (const C of [Object, Function, Array, Error, Promise, Map]) Object.defineProperty(C, Symbol.hasInstance, { value(v) { kit.spied('hasInstance', v); return true; }, configurable: true });",
  ],
  [
    "species everywhere",
    "for (const C of [Array, Promise, Map, Set, RegExp, ArrayBuffer, Object.getPrototypeOf(Uint8Array)]) Object.defineProperty(C, Symbol.species, { get() { kit.spied('species', this); return this; }, configurable: true });",
  ],
  [
    "constructor of every prototype",
    "for (const C of [Array, Promise, Map, Set, Date, RegExp, Error, TypeError, Function]) { const own = C.prototype.constructor; Object.defineProperty(C.prototype, 'constructor', { get() { kit.spied('constructor', this); return own; }, configurable: true }); }",
  ],
  [
    "toPrimitive on Object.prototype",
    "for (const key of [Symbol.toPrimitive, Symbol.toStringTag, Symbol.isConcatSpreadable, Symbol.iterator, Symbol.asyncIterator]) Object.defineProperty(Object.prototype, key, { get() { kit.spied('a symbol getter', this); return undefined; }, configurable: true });",
  ],
  [
    "a poisoned error that hears of stacks",
    "Error.stackTraceLimit = 100; Error.captureStackTrace = (o) => kit.spied('captureStackTrace', o); Error.prepareStackTrace = (e, list) => { for (let i = 0; i < list.length; i++) kit.spied('prepareStackTrace', list[i]); return 'mine'; };",
  ],
];

export const poison = {
  "poisoned intrinsics that listen": spied,
  "poisoned realm": globals.map(([name, text]) => ({ name, program: `${text} kit.exercise(x);`, quiet: true, drive })),
};
