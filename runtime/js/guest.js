// The guest half, as source text: it runs once in every sandbox, before any code
// of the library, and captures what it uses, so that a library that changes
// built-ins changes nothing here.
//
// No function of it lets a guest exception reach the engine's wrapper: the result
// is then FAILED and the value waits in takeFailure(), whatever was thrown: in a
// list, because where memory ends the engine can throw a value that no variable may
// hold. What runs on the way of a call is written out, since every frame of the
// guest is several kilobytes of the host's stack.
export const guest = `(cross) => {
"use strict";
const { apply, construct, defineProperty, deleteProperty, get, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys, set } = Reflect;
const { create, hasOwn, is, keys, isExtensible } = Object;
const { isArray } = Array;
const global = globalThis;
const FAILED = {}, THROWN = {}, ABSENT = {};
let failure, thrown;

const method = (f) => (self, ...args) => apply(f, self, args);
const getter = (object, key) => method(getOwnPropertyDescriptor(object, key).get);
const guard = (f) => (...args) => {
  try { return apply(f, undefined, args); } catch (e) { failure = [e]; return FAILED; }
};

const errorClasses = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];
const intrinsics = { __proto__: null };
for (const name of ["Object", "Function", "Array", "Date", "Map", "Set", "RegExp", "Promise", "Number", "String", "Boolean", "BigInt", "Symbol",
  "ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
  "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "Error", "EvalError", "RangeError", "ReferenceError",
  "SyntaxError", "TypeError", "URIError", "AggregateError"]) if (typeof global[name] === "function") intrinsics[name] = global[name];
const nameOfProto = new Map();
for (const name of ownKeys(intrinsics)) nameOfProto.set(intrinsics[name].prototype, name);
const protoName = method(nameOfProto.get).bind(undefined, nameOfProto);

const mapEach = method(Map.prototype.forEach), setEach = method(Set.prototype.forEach);
const dateValue = method(Date.prototype.getTime), dateOf = Date;
const regexSource = getter(RegExp.prototype, "source"), regexFlags = getter(RegExp.prototype, "flags");
const then = method(Promise.prototype.then), deref = method(WeakRef.prototype.deref);
const mapSet = method(Map.prototype.set), setAdd = method(Set.prototype.add);
const typed = getPrototypeOf(Uint8Array.prototype);
const viewOf = { typed: [getter(typed, "buffer"), getter(typed, "byteOffset"), getter(typed, "byteLength")],
  DataView: [getter(DataView.prototype, "buffer"), getter(DataView.prototype, "byteOffset"), getter(DataView.prototype, "byteLength")] };
const unboxers = { __proto__: null, Number: method(Number.prototype.valueOf), String: method(String.prototype.valueOf),
  Boolean: method(Boolean.prototype.valueOf), BigInt: method(BigInt.prototype.valueOf), Symbol: method(Symbol.prototype.valueOf) };
const tryGet = (object, key) => { try { return object[key]; } catch { return undefined; } };

// Own data as [key, value, ...]; undefined where there is more than enumerable
// data (accessors, functions, hidden or symbol keys), which has to stay alive.
const data = (object, out) => {
  const names = keys(object);
  if (ownKeys(object).length !== names.length) return undefined;
  for (let i = 0; i < names.length; i++) {
    const d = getOwnPropertyDescriptor(object, names[i]);
    if (d === undefined || !hasOwn(d, "value") || typeof d.value === "function") return undefined;
    out[out.length] = names[i];
    out[out.length] = d.value;
  }
  return out;
};

// What a value of a built-in class is made of, or undefined when it is of a class
// derived from it and therefore has behaviour of its own.
const parts = (value, brand) => {
  const proto = getPrototypeOf(value), out = [];
  if (brand === "Object") return proto === null || protoName(proto) === "Object" ? data(value, [proto === null]) : undefined;
  if (brand === "Error") return protoName(proto) === undefined ? undefined : out;
  if (brand === "Arguments") { for (let i = 0; i < value.length; i++) out[i] = value[i]; return out; }
  if (protoName(proto) !== brand) return undefined;
  switch (brand) {
    case "Array": {
      const names = keys(value);
      // Index keys come first: without holes, the last of them is the last index.
      if (names.length === value.length && (names.length === 0 || names[names.length - 1] === "" + (names.length - 1))) return [];
      out[0] = value.length;
      for (let i = 0; i < names.length; i++) { out[2 * i + 1] = names[i]; out[2 * i + 2] = value[names[i]]; }
      return out;
    }
    case "Date": return [dateValue(value)];
    case "RegExp": return [regexSource(value), regexFlags(value), value.lastIndex];
    case "Map": mapEach(value, (v, k) => { out[out.length] = k; out[out.length] = v; }); return out;
    case "Set": setEach(value, (v) => { out[out.length] = v; }); return out;
    case "ArrayBuffer": return out;
    default: {
      if (brand in unboxers) return [unboxers[brand](value)];
      const read = brand === "DataView" ? viewOf.DataView : viewOf.typed;
      return [read[0](value), read[1](value), read[2](value)];
    }
  }
};

const errorParts = (e) => {
  let brand = "Error";
  for (let p = getPrototypeOf(e); p !== null; p = getPrototypeOf(p)) if (protoName(p) !== undefined) { brand = protoName(p); break; }
  const out = [brand, tryGet(e, "name"), tryGet(e, "message"), tryGet(e, "stack"), hasOwn(e, "cause"), tryGet(e, "cause"), tryGet(e, "errors")];
  const names = keys(e);
  for (let i = 0; i < names.length && i < 64; i++) { out[out.length] = names[i]; out[out.length] = tryGet(e, names[i]); }
  return out;
};

// Stand-ins for host values. Whatever they are asked crosses to the host.
const ask = (op, id, a, b) => {
  const reply = cross(op, id, a, b);
  if (reply !== THROWN) return reply;
  const e = thrown;
  thrown = undefined;
  throw e;
};
const hostFunction = (id, name, length) => {
  const f = { f(...args) {
    const reply = cross("apply", id, this, args);
    if (reply !== THROWN) return reply;
    const e = thrown;
    thrown = undefined;
    throw e;
  } }.f;
  defineProperty(f, "name", { __proto__: null, value: name, configurable: true });
  defineProperty(f, "length", { __proto__: null, value: length, configurable: true });
  return f;
};
const hostObject = (id, callable) => {
  const target = callable ? function () {} : {}, base = getPrototypeOf(target);
  return new Proxy(target, {
    __proto__: null,
    get: (_, key, receiver) => {
      const reply = ask("get", id, key);
      return reply === ABSENT ? get(base, key, receiver) : reply;
    },
    getPrototypeOf: () => ask("proto", id),
    set: (_, key, value) => ask("set", id, key, value),
    has: (_, key) => ask("has", id, key),
    deleteProperty: (_, key) => ask("delete", id, key),
    ownKeys: () => ask("keys", id),
    defineProperty: (_, key, d) => hasOwn(d, "value") && ask("set", id, key, d.value),
    getOwnPropertyDescriptor(_, key) {
      const own = getOwnPropertyDescriptor(target, key), enumerable = ask("enumerable", id, key);
      if (enumerable === undefined) return own;
      const value = ask("get", id, key);
      return { __proto__: null, value: value === ABSENT ? get(base, key) : value, writable: true, enumerable: own ? own.enumerable : enumerable, configurable: own ? own.configurable : true };
    },
    apply: (_, self, args) => ask("apply", id, self, args),
    construct: (_, args) => ask("construct", id, undefined, args),
  });
};

const helpers = {
  construct: (f, ...args) => construct(f, args),
  get: (object, key) => object[key],
  set: (object, key, value) => set(object, key, value),
  has: (object, key) => has(object, key),
  delete: (object, key) => deleteProperty(object, key),
  keys: (object) => ownKeys(object),
  describe: (object, key) => {
    const d = getOwnPropertyDescriptor(object, key);
    return d && [hasOwn(d, "value") ? d.writable : d.set !== undefined, d.enumerable];
  },
  proto: (object) => { const p = getPrototypeOf(object); return protoName(p) ?? p; },
  parts, errorParts, hostFunction, hostObject, deref,
  weak: (object) => new WeakRef(object),
  make: (brand, ...parts) => {
    switch (brand) {
      case "null": return create(null);
      case "bigint": return intrinsics.BigInt(parts[0]);
      case "symbol": return intrinsics.Symbol(parts[0]);
      case "wellKnown": return intrinsics.Symbol[parts[0]];
      case "Map": { const m = new Map(); for (let i = 1; i < parts[0].length; i += 2) mapSet(m, parts[0][i - 1], parts[0][i]); return m; }
      case "Set": { const s = new Set(); for (let i = 0; i < parts[0].length; i++) setAdd(s, parts[0][i]); return s; }
      case "RegExp": { const r = new intrinsics.RegExp(parts[0], parts[1]); r.lastIndex = parts[2]; return r; }
      case "Arguments": return apply(function () { return arguments; }, undefined, parts[0]);
      case "BigInt": case "Symbol": return intrinsics.Object(parts[0]);
      case "AggregateError": return new intrinsics.AggregateError(parts[1], parts[0]);
      default: return construct(intrinsics[brand], parts);
    }
  },
  promise: () => { const out = []; out[0] = new intrinsics.Promise((yes, no) => { out[1] = yes; out[2] = no; }); return out; },
  then: (promise, yes, no) => { then(promise, yes, no); },
  setThrown: (e) => { thrown = e; },
};
const out = { FAILED, THROWN, ABSENT, intrinsics,
  takeFailure: () => { const list = failure; failure = undefined; return list; },
  call: (f, self, ...args) => { try { return apply(f, self, args); } catch (e) { failure = [e]; return FAILED; } },
};
for (const name of ownKeys(helpers)) out[name] = guard(helpers[name]);
return out;
}`;
