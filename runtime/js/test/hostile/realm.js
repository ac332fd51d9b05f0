// What the host's realm was before a hostile program ran, and what became of it.
//
// A program may poison what this file itself would use, so everything is held here from
// the start and nothing is looked up on a prototype later.
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys, setPrototypeOf } = Reflect;
const ObjectCall = Object;
const { is } = Object;
const { toString: functionText } = Function.prototype;
const { stringify } = JSON;
const { test: testPattern } = RegExp.prototype;
const { description } = Object.getOwnPropertyDescriptors(Symbol.prototype);

/** A list that no setter on Array.prototype can listen to. */
export function bareList() {
  const list = [];
  setPrototypeOf(list, null);
  return list;
}

const names = [
  ["Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Error", "TypeError", "RangeError", "AggregateError"],
  ["Date", "RegExp", "Map", "Set", "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry", "Promise", "Proxy", "Reflect", "JSON", "Math"],
  ["ArrayBuffer", "DataView", "Uint8Array", "Float64Array", "BigInt64Array", "Atomics", "Iterator"],
].flat();

function realmObjects() {
  const found = new Map();
  const add = (name, value) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
    if (!found.has(value)) found.set(value, name);
  };
  for (const name of names) {
    const value = globalThis[name];
    add(name, value);
    add(`${name}.prototype`, value?.prototype);
  }
  const typed = getPrototypeOf(Uint8Array);
  add("TypedArray", typed);
  add("TypedArray.prototype", typed.prototype);
  const iterators = { Array: [].values(), Map: new Map().values(), Set: new Set().values(), String: ""[Symbol.iterator](), RegExpString: "".matchAll(/a/g) };
  for (const [name, iterator] of Object.entries(iterators)) {
    add(`${name}Iterator.prototype`, getPrototypeOf(iterator));
    add("IteratorPrototype", getPrototypeOf(getPrototypeOf(iterator)));
  }
  for (const f of [function* () {}, async () => {}, async function* () {}]) {
    const proto = getPrototypeOf(f);
    const name = `%${proto[Symbol.toStringTag]}%`;
    add(name, proto.constructor);
    add(`${name}.prototype`, proto);
    add(`${name}.prototype.prototype`, proto.prototype);
    if (proto.prototype) add(`proto of ${name}.prototype.prototype`, getPrototypeOf(proto.prototype));
  }
  return found;
}

/** The host's built-in objects: object -> name. */
export const intrinsics = realmObjects();

/** What compiles text as code in this realm; no guest may have one of them. */
export const compilers = [Function, globalThis.eval, ...[function* () {}, async () => {}, async function* () {}].map((f) => f.constructor)];

const FIELDS = ["value", "get", "set", "writable", "enumerable", "configurable"];

function keyText(key) {
  return typeof key === "symbol" ? `[${apply(description.get, key, [])}]` : key;
}

/**
 * Remembers objects of the host as they are. `restore()` puts them back, and says what
 * was different.
 *
 * @param {Map<object, string>} more objects to watch besides the intrinsics
 */
export function remember(more) {
  const before = bareList();
  const take = (object, name) => {
    const fields = bareList();
    for (const key of ownKeys(object)) fields[fields.length] = { __proto__: null, key, descriptor: bare(getOwnPropertyDescriptor(object, key)) };
    before[before.length] = { __proto__: null, name, object, proto: getPrototypeOf(object), extensible: isExtensible(object), fields };
  };
  for (const [object, name] of intrinsics) take(object, name);
  for (const [object, name] of more) take(object, name);
  const globals = ownKeys(globalThis);
  setPrototypeOf(globals, null);
  return {
    restore() {
      const changes = bareList();
      for (let i = 0; i < before.length; i++) restoreOne(before[i], changes);
      restoreGlobals(globals, changes);
      return changes;
    },
  };
}

function bare(descriptor) {
  setPrototypeOf(descriptor, null);
  return descriptor;
}

function restoreOne({ name, object, proto, extensible, fields }, changes) {
  const say = (what) => {
    changes[changes.length] = `${name}${what}`;
  };
  if (getPrototypeOf(object) !== proto) {
    say(" has another prototype");
    setPrototypeOf(object, proto);
  }
  if (isExtensible(object) !== extensible) say(" is not extensible any more");
  const keys = ownKeys(object);
  for (let i = 0; i < keys.length; i++) {
    if (fieldOf(fields, keys[i], i) !== undefined) continue;
    say(`.${keyText(keys[i])} is new`);
    deleteProperty(object, keys[i]);
  }
  for (let i = 0; i < fields.length; i++) {
    const { key, descriptor } = fields[i];
    const now = getOwnPropertyDescriptor(object, key);
    if (now !== undefined && sameFields(now, descriptor)) continue;
    say(`.${keyText(key)} is ${now === undefined ? "gone" : "another"}`);
    defineProperty(object, key, descriptor);
  }
}

function fieldOf(fields, key, guess) {
  if (guess < fields.length && fields[guess].key === key) return fields[guess];
  for (let i = 0; i < fields.length; i++) if (fields[i].key === key) return fields[i];
  return undefined;
}

function sameFields(a, b) {
  for (let i = 0; i < FIELDS.length; i++) {
    const field = FIELDS[i];
    const one = getOwnPropertyDescriptor(a, field);
    const other = getOwnPropertyDescriptor(b, field);
    if ((one === undefined) !== (other === undefined)) return false;
    if (one !== undefined && !is(one.value, other.value)) return false;
  }
  return true;
}

function restoreGlobals(globals, changes) {
  const now = ownKeys(globalThis);
  for (let i = 0; i < now.length; i++) {
    let known = false;
    for (let j = 0; j < globals.length && !known; j++) known = globals[j] === now[i];
    if (known) continue;
    changes[changes.length] = `globalThis.${keyText(now[i])} is new`;
    deleteProperty(globalThis, now[i]);
  }
}

/**
 * What tells of the host's files in a text: where this code runs from, as the host's own
 * stacks have it, and what hosts call their own insides.
 */
function pathPattern() {
  const places = new Set([
    "node:internal",
    "file://",
    "wasm:",
    "realm.js",
    "suite.js",
    "loot.js",
    "membrane.js",
    "shadows.js",
    "standins.js",
    "engine.js",
    "sandbox.js",
  ]);
  for (const [place] of String(new Error("where").stack).matchAll(/(?:[a-z]+:\/\/|\/)[^\s():]+\//g)) if (place.length > 2) places.add(place);
  return new RegExp([...places].map((place) => place.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"));
}

const paths = pathPattern();

/** Whether a text names a file of the host's. */
export function namesHostPath(text) {
  return apply(testPattern, paths, [text]);
}

/** A few words for a value, whatever it is. */
export function briefly(value) {
  if (typeof value === "string") return stringify(value);
  if (typeof value === "symbol") return "a symbol";
  if (typeof value === "function") return `a function (${apply(functionText, value, [])})`;
  return ObjectCall(value) === value ? "an object" : `${value}`;
}
