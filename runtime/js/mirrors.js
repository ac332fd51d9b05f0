// Mirrors of values with a brand: real objects on both sides, so that brand checks and
// local intrinsics work, kept alike whenever they are in a message.
import { Plain } from "./plain.js";
import { guestProperties, hostProperties, isIndex, pullProperties, pushProperties } from "./properties.js";

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const protoOf = getPrototypeOf;
const getter = (proto, key) => {
  const get = getOwnPropertyDescriptor(proto, key)?.get;
  return get && ((self) => apply(get, self, []));
};
const uncurried =
  (f) =>
  (self, ...args) =>
    apply(f, self, args);
const typed = protoOf(Uint8Array.prototype);

const host = {
  getTime: uncurried(Date.prototype.getTime),
  source: getter(RegExp.prototype, "source"),
  mapSize: getter(Map.prototype, "size"),
  setSize: getter(Set.prototype, "size"),
  byteLength: getter(ArrayBuffer.prototype, "byteLength"),
  resizable: getter(ArrayBuffer.prototype, "resizable") ?? (() => false),
  maxByteLength: getter(ArrayBuffer.prototype, "maxByteLength"),
  part: (view, key) => apply(getOwnPropertyDescriptor(host.viewTag(view) === undefined ? DataView.prototype : typed, key).get, view, []),
  viewTag: getter(typed, Symbol.toStringTag),
  whenSettled: uncurried(Promise.prototype.then),
  tag: uncurried(Object.prototype.toString),
};

/** What the guest's stack may say: not the membrane's own frames. */
export function guestStack(stack) {
  return String(stack ?? "")
    .split("\n")
    .filter((line) => line !== "" && !/sandbox-guest\.js|^\s*at apply \(native\)$/.test(line))
    .join("\n");
}

const NO_KEYS = () => false;

/** A brand: how a value of it is made on either side, and what of it can change. */
class Brand {
  isData = true;
  skip = NO_KEYS; // keys that are no properties to carry over

  constructor(membrane, engine, sandbox) {
    this.membrane = membrane;
    this.engine = engine;
    this.sandbox = sandbox;
    this.guest = membrane.guest;
  }

  // Of a subclass: `is(value)`, `toGuest(value)` gives a ref, `toHost(ref)`, and where
  // there is content that changes: `hostContent(value)`, `guestContent(ref)`,
  // `sameContent(a, b)`, `setGuest(ref, content, before)`, `setHost(value, content, before)`.
  hostContent() {}
  guestContent() {}
  sameContent() {
    return true;
  }

  ship(value, hold, link) {
    hold(this.toGuest(value, link));
    const { depth } = this.membrane;
    depth.run(
      () => this.fillGuest(link.ref, value, link),
      () => this.membrane.abandonHalf(link),
    );
  }

  fillGuest(ref, value, link) {
    const { engine, membrane } = this;
    membrane.syncProto(ref, value, true);
    const content = this.hostContent(value);
    if (content !== undefined) this.setGuest(ref, content, this.guestContent(ref));
    // What the engine gave the new object of its own is not the value's.
    const properties = pushProperties(engine, ref, value, guestProperties(engine, ref, this.skip), this.skip);
    link.base = { content, properties };
    membrane.stats.shipped++;
  }

  receive(ref, keep, link) {
    const value = this.toHost(ref);
    if (value === undefined) return false;
    keep(value);
    const { depth } = this.membrane;
    depth.run(
      () => this.fillHost(link.ref, value, link),
      () => this.membrane.abandonHalf(link),
    );
    return true;
  }

  fillHost(ref, value, link) {
    const { engine, membrane } = this;
    membrane.syncProto(ref, value, false);
    const content = this.guestContent(ref);
    if (content !== undefined) this.setHost(value, content, this.hostContent(value));
    const properties = pullProperties(engine, ref, value, hostProperties(value, this.skip), this.skip);
    link.base = { content, properties };
    membrane.stats.shipped++;
  }

  sync(link, value, fromHost) {
    const { ref, base } = link;
    this.membrane.syncProto(ref, value, fromHost);
    const content = fromHost ? this.hostContent(value) : this.guestContent(ref);
    if (!this.sameContent(content, base.content)) {
      if (fromHost) this.setGuest(ref, content, base.content);
      else this.setHost(value, content, base.content);
      base.content = content;
    }
    // What did not change is in the message all the same, with what hangs on it.
    if (fromHost && Array.isArray(content)) for (const item of content) this.membrane.reach(item);
    base.properties = fromHost
      ? pushProperties(this.engine, ref, value, base.properties, this.skip)
      : pullProperties(this.engine, ref, value, base.properties, this.skip);
    if (fromHost) for (const descriptor of base.properties.values()) this.membrane.reach(descriptor.value);
  }

  weight() {
    return 128;
  }

  /** How many things there are to compare. */
  size() {
    return 1;
  }
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
    return this.engine.help(this.guest.makeRegExp, [host.source(value), value.flags], true);
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
    const [name, message] = ["name", "message"].map((key) => String(said(value, key)));
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
    if (!Object.isExtensible(error)) Object.freeze(error);
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

class BufferBrand extends Brand {
  is(value) {
    host.byteLength(value);
    return true;
  }
  toGuest(value) {
    const limit = host.resizable(value) ? host.maxByteLength(value) : -1;
    return this.engine.help(this.guest.makeBuffer, [host.byteLength(value), limit], true);
  }
  toHost(ref) {
    const limit = this.engine.help(this.guest.bufferLimit, [[ref]]);
    const length = this.engine.byteLength(ref) ?? 0;
    return limit < 0 ? new ArrayBuffer(length) : new ArrayBuffer(length, { maxByteLength: limit });
  }
  hostContent(value) {
    return host.byteLength(value) === 0 ? new Uint8Array(0) : new Uint8Array(value).slice(); // a detached one has no bytes
  }
  guestContent(ref) {
    return this.engine.bytes(ref) ?? new Uint8Array(0);
  }
  sameContent(a, b) {
    if (a.length !== b.length) return false;
    // Both begin where their buffers do.
    const words = a.length >> 2;
    const [these, those] = [new Int32Array(a.buffer, 0, words), new Int32Array(b.buffer, 0, words)];
    for (let i = 0; i < words; i++) if (these[i] !== those[i]) return false;
    for (let i = words << 2; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  fillGuest(ref, value, link) {
    super.fillGuest(ref, value, link);
    if (isDetached(value)) this.engine.detach(ref);
  }
  fillHost(ref, value, link) {
    super.fillHost(ref, value, link);
    if (this.engine.byteLength(ref) === undefined) detach(value);
  }
  setGuest(ref, bytes) {
    if (this.engine.byteLength(ref) !== bytes.length) this.engine.help(this.guest.resize, [[ref], bytes.length]);
    this.engine.setBytes(ref, bytes);
  }
  setHost(value, bytes) {
    if (host.byteLength(value) !== bytes.length) {
      if (host.resizable(value)) ArrayBuffer.prototype.resize.call(value, bytes.length);
      else if (bytes.length === 0) detach(value);
    }
    if (bytes.length > 0) new Uint8Array(value).set(bytes);
  }
  size(link) {
    return (link.base?.content?.length ?? 0) >> 6; // bytes cost less
  }

  weight(link) {
    return 128 + (link.base?.content?.length ?? 0);
  }
}

function isDetached(buffer) {
  if (host.byteLength(buffer) > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Detaches a buffer, where the host knows how. */
function detach(buffer) {
  if (typeof buffer.transfer === "function") buffer.transfer();
  else if (typeof structuredClone === "function") structuredClone(buffer, { transfer: [buffer] });
}

class ViewBrand extends Brand {
  is(value) {
    return ArrayBuffer.isView(value);
  }
  name(value) {
    return host.viewTag(value) ?? "DataView";
  }
  toGuest(value, link) {
    const { engine, guest, membrane } = this;
    let buffer = host.part(value, "buffer");
    let byteOffset = host.part(value, "byteOffset");
    const byteLength = host.part(value, "byteLength");
    const name = this.name(value);
    const tracking = name !== "DataView" && host.resizable(buffer) && byteOffset + byteLength === host.byteLength(buffer);
    // A pool holds what is none of the guest's: only the view's own bytes cross then.
    if (protoOf(value) !== globalThis[name]?.prototype && byteOffset + byteLength < host.byteLength(buffer)) {
      link.pooled = true;
      buffer = ArrayBuffer.prototype.slice.call(buffer, byteOffset, byteOffset + byteLength);
      byteOffset = 0;
    }
    const length = tracking ? undefined : name === "DataView" ? byteLength : host.part(value, "length");
    return engine.help(guest.makeView, [name, [membrane.toRef(buffer)], byteOffset, length], true);
  }
  toHost(ref) {
    const { engine, guest, membrane } = this;
    const name = engine.classOf(ref);
    const Class = globalThis[name];
    if (Class === undefined) return undefined;
    const buffer = engine.help(guest.viewBuffer, [name, [ref]], true);
    const local = membrane.fromRef(buffer);
    engine.free(buffer);
    return new Class(local, engine.help(guest.viewOffset, [name, [ref]]), engine.help(guest.viewLength, [name, [ref]]));
  }
  // The bytes are the buffer's, which is in the message as well.
  sync(link, value, fromHost) {
    super.sync(link, value, fromHost);
    if (!link.pooled) this.membrane.touchValue(host.part(value, "buffer"), fromHost);
  }
}

/** The elements of a typed array are its buffer's. */
class TypedBrand extends ViewBrand {
  skip = isIndex;
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

/** Knows which values have a brand, and how each crosses. */
export class Mirrors {
  #brands = new Map(); // class -> Brand
  #protos = new Map(); // host prototype -> class
  #plain;
  #live;

  constructor(membrane, engine, sandbox) {
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
    let proto = protoOf(value);
    if (proto === Array.prototype) return undefined;
    if (proto === Object.prototype) {
      return getOwnPropertyDescriptor(value, "callee") && host.tag(value) === "[object Arguments]" ? this.#brands.get("Arguments") : undefined;
    }
    let foreign = proto !== null;
    for (; proto !== null; proto = protoOf(proto)) {
      const name = this.#protos.get(proto);
      if (name !== undefined) return this.#verified(name, value);
      if (proto === Object.prototype) foreign = false;
    }
    // Of another realm: only its brand says what it is.
    return foreign ? this.#verified(host.tag(value).slice(8, -1), value) : undefined;
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
