// Mirrors of values with a brand: real objects on both sides, so that brand checks and
// local intrinsics work, kept alike whenever they are in a message.
import { Brand, host, ifAnswered, protoOf, typed } from "./brand.js";
import { BufferBrand, TypedBrand, ViewBrand } from "./buffers.js";
import { nodeBuiltin } from "./node-builtin.js";
import { isClassPrototype } from "./intrinsics.js";
import { Plain } from "./plain.js";
import { isIndex } from "./properties.js";

const { apply, getOwnPropertyDescriptor } = Reflect;
const uncurried =
  (f) =>
  (self, ...args) =>
    apply(f, self, args);

/** What the guest's stack may say: not the membrane's own frames. */
export function guestStack(stack) {
  return String(stack ?? "")
    .split("\n")
    .filter((line) => line !== "" && !/sandbox-guest\.js|^\s*at apply \(native\)$/.test(line))
    .join("\n");
}
class DateBrand extends Brand {
  is(value) {
    host.getTime(value);
    return true;
  }
  toGuest(value) {
    return this.engine.newDate(host.getTime(value));
  }
  toHost(ref) {
    return new Date(this.guestContent(ref));
  }
  hostContent(value) {
    return host.getTime(value);
  }
  guestContent(ref) {
    return this.engine.help(this.guest.getTime, [[ref]]);
  }
  sameContent(a, b) {
    return Object.is(a, b);
  }
  setGuest(ref, time) {
    this.engine.help(this.guest.setTime, [[ref], time]);
  }
  setHost(value, time) {
    Date.prototype.setTime.call(value, time);
  }
}

class RegExpBrand extends Brand {
  is(value) {
    host.source(value);
    return value !== RegExp.prototype;
  }
  toGuest(value) {
    return this.engine.help(this.guest.makeRegExp, [host.source(value), host.flags(value)], true);
  }
  toHost(ref) {
    return new RegExp(this.engine.help(this.guest.regExpSource, [[ref]]), this.engine.help(this.guest.regExpFlags, [[ref]]));
  }
}

/** Maps and Sets: lists of entries, carried over by the smallest edits. */
class CollectionBrand extends Brand {
  sameContent(a, b) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
    return true;
  }

  /** Edits a collection that holds `before` until it holds `after`, in that order. */
  edit(before, after, { remove, put }) {
    const step = this.step;
    const wanted = new Set();
    for (let i = 0; i < after.length; i += step) wanted.add(after[i]);
    const kept = [];
    for (let i = 0; i < before.length; i += step) {
      if (wanted.has(before[i])) kept.push(i);
      else remove(before[i]);
    }
    let at = 0;
    let inOrder = true;
    for (let i = 0; i < after.length; i += step) {
      const known = kept[at];
      if (inOrder && known !== undefined && Object.is(before[known], after[i])) {
        if (step === 2 && !Object.is(before[known + 1], after[i + 1])) put(after[i], after[i + 1]);
        at++;
        continue;
      }
      // From here on the order differs, so what is left goes and comes anew.
      if (inOrder) for (; at < kept.length; at++) remove(before[kept[at]]);
      inOrder = false;
      put(after[i], after[i + 1]);
    }
    if (inOrder) for (; at < kept.length; at++) remove(before[kept[at]]);
  }

  size(link) {
    return link.base?.content?.length ?? 0;
  }

  weight(link) {
    return 128 + 32 * (link.base?.content?.length ?? 0);
  }

  entries(helper, ref) {
    const list = this.engine.help(helper, [[ref]], true);
    try {
      const found = [];
      this.engine.readElements(list, found);
      return found;
    } finally {
      this.engine.free(list);
    }
  }
}

class MapBrand extends CollectionBrand {
  step = 2;
  is(value) {
    host.mapSize(value);
    return true;
  }
  toGuest() {
    return this.engine.help(this.guest.makeMap, [], true);
  }
  toHost() {
    return new Map();
  }
  hostContent(value) {
    const found = [];
    Map.prototype.forEach.call(value, (item, key) => found.push(key, item));
    return found;
  }
  guestContent(ref) {
    return this.entries(this.guest.mapEntries, ref);
  }
  setGuest(ref, after, before) {
    const { engine, guest } = this;
    this.edit(before, after, {
      remove: (key) => engine.help(guest.mapDelete, [[ref], key], false, 1),
      put: (key, item) => engine.help(guest.mapSet, [[ref], key, item], false, 1),
    });
  }
  setHost(value, after, before) {
    this.edit(before, after, { remove: (key) => Map.prototype.delete.call(value, key), put: (key, item) => Map.prototype.set.call(value, key, item) });
  }
}

class SetBrand extends CollectionBrand {
  step = 1;
  is(value) {
    host.setSize(value);
    return true;
  }
  toGuest() {
    return this.engine.help(this.guest.makeSet, [], true);
  }
  toHost() {
    return new Set();
  }
  hostContent(value) {
    const found = [];
    Set.prototype.forEach.call(value, (item) => found.push(item));
    return found;
  }
  guestContent(ref) {
    return this.entries(this.guest.setEntries, ref);
  }
  setGuest(ref, after, before) {
    const { engine, guest } = this;
    this.edit(before, after, {
      remove: (item) => engine.help(guest.setDelete, [[ref], item], false, 1),
      put: (item) => engine.help(guest.setAdd, [[ref], item], false, 1),
    });
  }
  setHost(value, after, before) {
    this.edit(before, after, { remove: (item) => Set.prototype.delete.call(value, item), put: (item) => Set.prototype.add.call(value, item) });
  }
}

const errorNames = ["AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "Error"];

/**
 * What an error says in a property that is data, of its own or inherited. An accessor may
 * be the guest's, which would be given this very error before it is known there.
 */
function said(error, key) {
  if (typeof DOMException === "function" && error instanceof DOMException) return error[key];
  for (let at = error; at !== null; at = protoOf(at)) {
    const own = getOwnPropertyDescriptor(at, key);
    if (own !== undefined) return own.value ?? "";
  }
  return "";
}

/**
 * Makes an error that remembers no frames of the host's. V8 holds the engine by those that
 * are a guest's, for as long as somebody has the error, whatever its stack is set to.
 */
function withoutFrames(make) {
  const limit = getOwnPropertyDescriptor(Error, "stackTraceLimit");
  if (!limit?.writable) return make();
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit.value;
  }
}

class ErrorBrand extends Brand {
  skip = (key) => key === "stack";
  is(value) {
    return host.tag(value) === "[object Error]" || Object.hasOwn(value, "stack") || (typeof DOMException === "function" && value instanceof DOMException);
  }
  toGuest(value) {
    const { engine, guest } = this;
    const make = errorNames.find((name) => name in globalThis && value instanceof globalThis[name]) ?? "Error";
    const errorClass = engine.getRef(guest.intrinsics, make === "AggregateError" ? "Error" : make);
    // An object for a name or a message crosses with the other properties; here it has no text.
    const [name, message] = ["name", "message"].map((key) => said(value, key)).map((it) => (Object(it) === it ? "" : String(it)));
    const ref = engine.help(guest.makeError, [[errorClass], message], true);
    engine.free(errorClass);
    // Where in the host it was made is none of the guest's business.
    engine.define(ref, "stack", { value: `${name}: ${message}\n`, writable: true, enumerable: false, configurable: true });
    return ref;
  }
  fillGuest(ref, value, link) {
    super.fillGuest(ref, value, link);
    this.#settle(ref, value);
    if (typeof DOMException !== "function" || !(value instanceof DOMException)) return;
    // Its name, message and code are getters that insist on the host's own.
    for (const key of ["name", "message", "code"]) this.engine.define(ref, key, { value: value[key], writable: true, enumerable: false, configurable: true });
  }
  toHost(ref) {
    const { engine } = this;
    const own = engine.own(ref, "message");
    const error = withoutFrames(() => new Error(typeof own?.value === "string" ? own.value : ""));
    const stack = engine.help(this.guest.stack, [[ref]]);
    Object.defineProperty(error, "stack", { value: guestStack(stack), writable: true, enumerable: false, configurable: true });
    return error;
  }
  // What cannot be changed cannot have a stack that can.
  sync(link, value, fromHost) {
    const { explained } = link;
    const unchanged = explained !== undefined && getOwnPropertyDescriptor(value, "message")?.value === explained.here;
    // The guest's own error says what it said, whoever threw it on.
    if (unchanged) Reflect.defineProperty(value, "message", { value: explained.there });
    try {
      super.sync(link, value, fromHost);
    } finally {
      if (unchanged && getOwnPropertyDescriptor(value, "message")?.value === explained.there)
        Reflect.defineProperty(value, "message", { value: explained.here });
    }
    this.#settle(link.ref, value);
  }
  #settle(ref, value) {
    if (Object.isExtensible(value)) return;
    // Hosts differ in whether an error has a stack of its own.
    const own = getOwnPropertyDescriptor(value, "stack") ?? { configurable: !Object.isSealed(value), writable: !Object.isFrozen(value) };
    if (this.engine.own(ref, "stack") !== undefined) {
      const { configurable, writable = false } = own;
      this.engine.define(ref, "stack", configurable ? {} : writable ? { configurable } : { configurable, writable });
    }
  }
  fillHost(ref, error, link) {
    super.fillHost(ref, error, link);
    const frames = error.stack;
    this.#explain(link, error, frames);
    let title = "Error";
    try {
      title = `${error.name}: ${error.message}`;
    } catch {
      // A getter of the library's own; the frames say enough.
    }
    error.stack = `${title}\n${frames}`.trimEnd();
    if (Object.isExtensible(error)) return;
    const { configurable, writable } = this.engine.own(ref, "stack") ?? { configurable: false, writable: false };
    Object.defineProperty(error, "stack", { configurable, writable });
  }

  // Whoever reads it here is told what the guest was denied. The guest's own error stays.
  #explain(link, error, stack) {
    const { denials } = this.sandbox;
    const name = denials.nameIn(error);
    if (name === undefined) return;
    this.sandbox.pause(() => denials.report(name, stack));
    const there = error.message;
    const here = there + denials.explain(name);
    // Unless it is fixed.
    if (Reflect.defineProperty(error, "message", { value: here })) link.explained = { there, here };
  }
}

class BoxBrand extends Brand {
  skip = (key) => this.text && (key === "length" || isIndex(key));
  constructor(membrane, engine, sandbox, name, index) {
    super(membrane, engine, sandbox);
    this.valueOf = uncurried(globalThis[name].prototype.valueOf);
    this.index = index;
    this.text = name === "String";
  }
  is(value) {
    this.valueOf(value);
    return true;
  }
  toGuest(value) {
    return this.engine.help(this.guest.box, [this.valueOf(value)], true, 0);
  }
  toHost(ref) {
    return Object(this.engine.help(this.guest.unbox, [this.index, [ref]]));
  }
}

class ArgumentsBrand extends Brand {
  toGuest(value) {
    const list = this.engine.newArray(Array.prototype.slice.call(value));
    const ref = this.engine.help(this.guest.makeArguments, [[list]], true);
    this.engine.free(list);
    return ref;
  }
  toHost() {
    return (function () {
      // biome-ignore lint/complexity/noArguments: an arguments object is what is wanted
      return arguments;
    })();
  }
  // A strict one's callee throws when it is read or defined.
  skip = (key) => key === "callee" || key === Symbol.iterator;
}
class PromiseBrand extends Brand {
  isData = false;
  is(value) {
    // Prototypes look like promises to everything but `then`, which has side effects.
    return host.tag(value) === "[object Promise]" && getOwnPropertyDescriptor(value, "constructor")?.value?.prototype !== value;
  }
  toGuest(promise, link) {
    const { engine, guest, membrane, sandbox } = this;
    const made = engine.help(guest.makePromise, [], true);
    const [ref, settle, fail] = ["promise", "settle", "fail"].map((key) => engine.getRef(made, key));
    engine.free(made);
    const end = (how) => (value) => {
      if (sandbox.refusal()) return;
      sandbox.runAlone(() => {
        try {
          engine.call(how, undefined, [link.gate ? membrane.allow(value, link.gate) : value]);
        } catch (unfit) {
          engine.call(fail, undefined, [unfit]); // it may not go in, and the guest must not wait
        } finally {
          engine.free(settle);
          engine.free(fail);
        }
      });
    };
    host.whenSettled(promise, end(settle), end(fail));
    return ref;
  }
  toHost(ref) {
    const { engine, guest, membrane } = this;
    const promise = new Promise((resolve, reject) => {
      // When the guest ends, whoever waits is told; where nobody does, nobody has to hear.
      const end = (error) => {
        promise.catch(() => {});
        reject(error);
      };
      const settle = (how) => (value) => {
        membrane.settled(end);
        how(value);
      };
      membrane.waitFor(end);
      engine.help(guest.whenSettled, [[ref], membrane.allow(settle(resolve)), membrane.allow(settle(reject))], false, 1);
    });
    // One that comes with other data may be the library's own affair.
    if (membrane.receiving > 1 || engine.answering > 0) promise.catch(() => {});
    return promise;
  }
}

/** What cannot be listed keeps its content where it is: its methods ask the other side. */
class WeakBrand extends Brand {
  isData = false;
  skip = (key) => this.methods.includes(key);
  constructor(membrane, engine, sandbox, name, methods) {
    super(membrane, engine, sandbox);
    this.name = name;
    this.methods = methods;
  }
  is(value) {
    globalThis[this.name].prototype.has.call(value, {});
    return true;
  }
  toGuest(value) {
    const { engine, guest } = this;
    const make = engine.getRef(guest.intrinsics, this.name);
    const ref = engine.construct(make, [], make, true);
    engine.free(make);
    for (const key of this.methods) {
      const method = globalThis[this.name].prototype[key];
      engine.define(ref, key, { value: (...args) => apply(method, value, args), writable: true, enumerable: false, configurable: true });
    }
    return ref;
  }
  toHost() {
    const { engine, guest, membrane } = this;
    const value = new globalThis[this.name]();
    const proto = engine.getRef(guest.intrinsics, `${this.name}.prototype`);
    for (const key of this.methods) {
      const theirs = engine.get(proto, key);
      const ours = globalThis[this.name].prototype[key];
      // The guest lets go of a key that only its collection has, which is none that it
      // counts. So what is at home here is held here as well.
      const method = (...args) => {
        const answer = apply(theirs, value, args);
        if (membrane.isGuests(args[0])) return answer;
        const own = apply(ours, value, args);
        return key === "get" && answer === undefined ? own : answer || own;
      };
      Object.defineProperty(value, key, { value: method, writable: true, enumerable: false, configurable: true });
    }
    engine.free(proto);
    return value;
  }
}

class WeakRefBrand extends Brand {
  isData = false;
  is(value) {
    WeakRef.prototype.deref.call(value);
    return true;
  }
  toGuest(value) {
    const make = this.engine.getRef(this.guest.intrinsics, "WeakRef");
    const target = WeakRef.prototype.deref.call(value) ?? {};
    const ref = this.engine.construct(make, [target], make, true);
    this.engine.free(make);
    return ref;
  }
  toHost(ref) {
    const proto = this.engine.getRef(this.guest.intrinsics, "WeakRef.prototype");
    const deref = this.engine.getRef(proto, "deref");
    const target = this.engine.callOn(deref, ref);
    this.engine.free(deref);
    this.engine.free(proto);
    return new WeakRef(target ?? {});
  }
}

const boxes = ["Number", "String", "Boolean", "BigInt", "Symbol"];

// What Node tells values with slots by. Elsewhere each kind is tried, but for the two that
// any object can pass for.
const types = nodeBuiltin("node:util")?.types;
const kinds = {
  Date: "isDate",
  RegExp: "isRegExp",
  Number: "isNumberObject",
  String: "isStringObject",
  Boolean: "isBooleanObject",
  BigInt: "isBigIntObject",
  Symbol: "isSymbolObject",
  Map: "isMap",
  Set: "isSet",
  WeakMap: "isWeakMap",
  WeakSet: "isWeakSet",
  ArrayBuffer: "isArrayBuffer",
};
const slots = Object.entries(types ? { ...kinds, Error: "isNativeError", Promise: "isPromise" } : kinds);

/** Knows which values have a brand, and how each crosses. */
export class Mirrors {
  #brands = new Map(); // class -> Brand
  #protos = new Map(); // host prototype -> class
  #plain;
  #live;
  #engine;

  constructor(membrane, engine, sandbox) {
    this.#engine = engine;
    const parts = [membrane, engine, sandbox];
    const add = (brand, ...names) => {
      for (const name of names) {
        this.#brands.set(name, brand);
        const proto = globalThis[name]?.prototype;
        if (proto) this.#protos.set(proto, name);
      }
    };
    add(new DateBrand(...parts), "Date");
    add(new RegExpBrand(...parts), "RegExp");
    add(new MapBrand(...parts), "Map");
    add(new SetBrand(...parts), "Set");
    add(new ErrorBrand(...parts), "Error");
    add(new BufferBrand(...parts), "ArrayBuffer");
    add(new ViewBrand(...parts), "DataView");
    add(
      new TypedBrand(...parts),
      ...[...Object.getOwnPropertyNames(globalThis)].filter((name) => /^(?:\w+)Array$/.test(name) && protoOf(globalThis[name]) === typed.constructor),
    );
    add(new PromiseBrand(...parts), "Promise");
    add(new WeakBrand(...parts, "WeakMap", ["get", "set", "has", "delete"]), "WeakMap");
    add(new WeakBrand(...parts, "WeakSet", ["add", "has", "delete"]), "WeakSet");
    add(new WeakRefBrand(...parts), "WeakRef");
    for (const [i, name] of boxes.entries()) add(new BoxBrand(...parts, name, i), name);
    this.#brands.set("Arguments", new ArgumentsBrand(...parts));
    this.#plain = new Plain(membrane, engine);
    this.#live = sandbox.live;
  }

  /** How a host object crosses if it has a brand; undefined for one that is shadowed. */
  forGuest(value) {
    if (typeof value === "function") return undefined;
    return ifAnswered(() => this.#branded(value));
  }

  #branded(value) {
    const own = protoOf(value);
    if (own === Array.prototype) return undefined;
    if (own === Object.prototype) {
      return getOwnPropertyDescriptor(value, "callee") && host.tag(value) === "[object Arguments]" ? this.#brands.get("Arguments") : undefined;
    }
    let foreign = own !== null;
    for (let proto = own; proto !== null; proto = protoOf(proto)) {
      const name = this.#protos.get(proto);
      if (name !== undefined) return this.#verified(name, value) ?? this.#slotted(value);
      if (proto === Object.prototype) foreign = false;
    }
    // Of another realm: only its brand says what it is.
    if (foreign) return this.#verified(host.tag(value).slice(8, -1), value);
    return own === null || !isClassPrototype(own) ? this.#slotted(value) : undefined;
  }

  // What has another prototype than its class gave it is told by its slots alone.
  #slotted(value) {
    if (this.#engine.isHostProxy(value) || Array.isArray(value)) return undefined;
    if (ArrayBuffer.isView(value)) return this.#verified(host.viewTag(value) ?? "DataView", value);
    // A bare dictionary is so much more likely than a bare Map that nobody pays for trying.
    if (!types && protoOf(value) === null && Reflect.ownKeys(value).length > 0) return undefined;
    for (const [name, is] of slots) {
      const brand = types && !types[is](value) ? undefined : this.#verified(name, value);
      if (brand !== undefined) return brand;
    }
    return undefined;
  }

  #verified(name, value) {
    const brand = this.#brands.get(name);
    try {
      return brand?.is(value) ? brand : undefined;
    } catch {
      return undefined; // a proxy around one, or an object that only inherits
    }
  }

  /** How a guest's object of a class crosses; undefined for one that has a stand-in. */
  forHost(name) {
    if (name === "Object" || name === "Array") return this.#live ? undefined : this.#plain;
    return this.#brands.get(name);
  }
}
