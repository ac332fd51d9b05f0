// The membrane's half inside the guest: the traps of the proxies that stand for host
// objects, and what of the language the host cannot do through the engine's interface.
//
// The function is evaluated in the guest before anything else, from its source text. So
// it refers to nothing outside itself, holds on to every intrinsic that it will need,
// and uses no syntax that consults a prototype which guest code may have changed.
export function guest(cross) {
  // biome-ignore lint/suspicious/noRedundantUseStrict: it is evaluated as a script
  "use strict";
  const { apply, defineProperty, getPrototypeOf, get, ownKeys, set, setPrototypeOf, getOwnPropertyDescriptor } = Reflect;
  const { create, freeze } = Object;
  const { isArray } = Array;
  const { for: symbolFor, keyFor } = Symbol;
  const Unique = Symbol;
  const uncurried = (proto, key, field) => {
    const found = getOwnPropertyDescriptor(proto, key);
    const f = found === undefined ? undefined : found[field || "value"];
    return f === undefined ? undefined : (self, a, b) => apply(f, self, [a, b]);
  };
  // A stack of call sites would hand out the functions of its frames, ours included.
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack;
  Error.prepareStackTrace = prepare;
  const site = typeof sites === "object" && sites !== null && sites.length > 0 ? getPrototypeOf(sites[0]) : null;
  if (site !== null) {
    delete site.getFunction;
    delete site.getThis;
  }
  const stackOf = uncurried(Error.prototype, "stack", "get");
  const WeakReference = WeakRef;
  const deref = uncurried(WeakRef.prototype, "deref");
  const typed = getPrototypeOf(Uint8Array.prototype);
  const bare = (list) => {
    setPrototypeOf(list, null);
    return list;
  };

  // What a trap answers when the shadow has been brought up to date.
  const READ = freeze(create(null));

  // A handler is made by the host: its own `id` names the host object, its prototype is
  // one of the four below. Guest code never sees one.
  const writes = {
    __proto__: null,
    set(_, key, value, receiver) {
      return cross(SET, this.id, key, value, receiver);
    },
    deleteProperty(_, key) {
      return cross(DELETE, this.id, key);
    },
    defineProperty(_, key, descriptor) {
      const d = bare([undefined, undefined, undefined]);
      let has = 0;
      const field = (name, bit) => {
        const there = getOwnPropertyDescriptor(descriptor, name) !== undefined;
        if (there) has |= bit;
        return there;
      };
      if (field("value", 1)) d[0] = descriptor.value;
      if (field("get", 2)) d[1] = descriptor.get;
      if (field("set", 4)) d[2] = descriptor.set;
      if (field("writable", 8) && descriptor.writable) has |= 64;
      if (field("enumerable", 16) && descriptor.enumerable) has |= 128;
      if (field("configurable", 32) && descriptor.configurable) has |= 256;
      return cross(DEFINE, this.id, key, has, d[0], d[1], d[2]);
    },
    setPrototypeOf(_, proto) {
      return cross(SET_PROTO, this.id, proto);
    },
    preventExtensions() {
      return cross(PREVENT, this.id);
    },
  };
  const lazy = {
    __proto__: writes,
    get(shadow, key, receiver) {
      const value = cross(GET, this.id, key);
      return value === READ ? get(shadow, key, receiver) : value;
    },
    has(shadow, key) {
      const found = cross(HAS, this.id, key);
      return found === READ ? key in shadow : found;
    },
    // No traps but getters that bring the shadow up to date before it is asked itself:
    // QuickJS shows an accessor that a trap describes as data that is undefined.
    get ownKeys() {
      cross(FETCH, this.id);
      return undefined;
    },
    get getOwnPropertyDescriptor() {
      cross(FETCH, this.id);
      return undefined;
    },
    get getPrototypeOf() {
      cross(FETCH, this.id);
      return undefined;
    },
    isExtensible() {
      return cross(EXTENSIBLE, this.id);
    },
  };
  const fast = { __proto__: writes };
  const constructs = function (_, args, target) {
    const list = bare([CONSTRUCT, this.id, target]);
    for (let i = 0; i < args.length; i++) list[3 + i] = args[i];
    return apply(cross, undefined, list);
  };

  const weak = bare([]); // id -> WeakRef of the proxy
  const mapForEach = uncurried(Map.prototype, "forEach");
  const setForEach = uncurried(Set.prototype, "forEach");
  const mapSet = uncurried(Map.prototype, "set");
  const mapDelete = uncurried(Map.prototype, "delete");
  const setAdd = uncurried(Set.prototype, "add");
  const setDelete = uncurried(Set.prototype, "delete");
  const getTime = uncurried(Date.prototype, "getTime");
  const setTime = uncurried(Date.prototype, "setTime");
  const then = uncurried(Promise.prototype, "then");
  const description = uncurried(Symbol.prototype, "description", "get");
  const unbox = bare([Number, String, Boolean, BigInt, Symbol]);
  for (let i = 0; i < 5; i++) unbox[i] = uncurried(unbox[i].prototype, "valueOf");
  const flagGetters = bare(["hasIndices", "global", "ignoreCase", "multiline", "dotAll", "unicode", "unicodeSets", "sticky"]);
  const flagLetters = "dgimsuvy";
  for (let i = 0; i < 8; i++) flagGetters[i] = uncurried(RegExp.prototype, flagGetters[i], "get");
  const sourceOf = uncurried(RegExp.prototype, "source", "get");
  const views = create(null);
  const bytesOf = uncurried(typed, "buffer", "get");
  const offsetOf = uncurried(typed, "byteOffset", "get");
  const lengthOf = uncurried(typed, "length", "get");
  const bufferOfView = uncurried(DataView.prototype, "buffer", "get");
  const offsetOfView = uncurried(DataView.prototype, "byteOffset", "get");
  const lengthOfView = uncurried(DataView.prototype, "byteLength", "get");
  const maxByteLength = uncurried(ArrayBuffer.prototype, "maxByteLength", "get");
  const resizable = uncurried(ArrayBuffer.prototype, "resizable", "get");
  const resize = uncurried(ArrayBuffer.prototype, "resize");
  const Buffer = ArrayBuffer;
  const View = DataView;
  const NumberProto = Number.prototype;
  const BigIntProto = BigInt.prototype;
  const DateProto = Date.prototype;
  const StringProto = String.prototype;
  const TypeProblem = TypeError;
  const Problem = Error;
  const PromiseClass = Promise;
  const Pattern = RegExp;
  const MapClass = Map;
  const SetClass = Set;
  const Box = Object;

  // Intrinsics by the names by which both sides know them.
  const intrinsics = create(null);
  const globals = ownKeys(globalThis);
  for (let i = 0; i < globals.length; i++) {
    const name = globals[i];
    const value = getOwnPropertyDescriptor(globalThis, name).value;
    if (typeof value === "function") {
      intrinsics[name] = value;
      if (typeof value.prototype === "object" && value.prototype !== null) intrinsics[`${name}.prototype`] = value.prototype;
      if (typeof value.BYTES_PER_ELEMENT === "number") views[name] = value;
    }
  }
  const hidden = (name, value) => {
    intrinsics[name] = value;
    return value;
  };
  // biome-ignore lint/security/noGlobalEval: it is named here, never called
  hidden("eval", eval);
  hidden("Function.prototype", Function.prototype);
  hidden("TypedArray", typed.constructor);
  hidden("TypedArray.prototype", typed);
  const array = [];
  hidden("Iterator.prototype", getPrototypeOf(hidden("ArrayIterator", getPrototypeOf(array.values()))));
  hidden("MapIterator", getPrototypeOf(new Map().values()));
  hidden("SetIterator", getPrototypeOf(new Set().values()));
  hidden("StringIterator", getPrototypeOf(""[Symbol.iterator]()));
  hidden("RegExpStringIterator", getPrototypeOf("".matchAll(/a/g)));
  const generator = hidden(
    "GeneratorFunction.prototype",
    getPrototypeOf(function* () {}),
  );
  hidden("GeneratorFunction", generator.constructor);
  hidden("Generator", generator.prototype);
  const asyncGenerator = hidden(
    "AsyncGeneratorFunction.prototype",
    getPrototypeOf(async function* () {}),
  );
  hidden("AsyncGeneratorFunction", asyncGenerator.constructor);
  hidden("AsyncGenerator", asyncGenerator.prototype);
  hidden("AsyncIterator", getPrototypeOf(asyncGenerator.prototype));
  const asyncFunction = hidden(
    "AsyncFunction.prototype",
    getPrototypeOf(async () => {}),
  );
  hidden("AsyncFunction", asyncFunction.constructor);

  return {
    __proto__: null,
    READ,
    FAST: fast,
    LAZY: lazy,
    FAST_CLASS: { __proto__: fast, construct: constructs },
    LAZY_CLASS: { __proto__: lazy, construct: constructs },
    intrinsics,
    symbols: Symbol,

    // Of the proxies that a call left behind.
    weaken(id, proxy) {
      weak[id] = new WeakReference(proxy);
    },
    revive(id) {
      const found = weak[id];
      return found && deref(found);
    },
    sweep() {
      const ids = ownKeys(weak);
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i];
        if (id === "length" || deref(weak[id]) !== undefined) continue;
        delete weak[id];
        cross(DEAD, +id);
      }
    },

    get,
    set,
    isArray,
    globalThis,
    keyFor(symbol) {
      return apply(keyFor, Unique, [symbol]);
    },
    symbolFor(key) {
      return apply(symbolFor, Unique, [key]);
    },
    symbol(text) {
      return Unique(text);
    },
    description(symbol) {
      return description(symbol);
    },
    box(value) {
      return Box(value);
    },
    unbox(kind, value) {
      return unbox[kind](value);
    },
    makeArguments(list) {
      return apply(
        function () {
          // biome-ignore lint/complexity/noArguments: an arguments object is what is wanted
          return arguments;
        },
        undefined,
        list,
      );
    },
    makeError(make, message) {
      return new make(message);
    },
    getTime(date) {
      return getTime(date);
    },
    setTime(date, time) {
      setTime(date, time);
    },
    makeRegExp(source, flags) {
      return new Pattern(source, flags);
    },
    regExpSource(pattern) {
      return sourceOf(pattern);
    },
    regExpFlags(pattern) {
      let flags = "";
      for (let i = 0; i < 8; i++) if (flagGetters[i]?.(pattern)) flags += flagLetters[i];
      return flags;
    },
    makeMap() {
      return new MapClass();
    },
    makeSet() {
      return new SetClass();
    },
    // Lists of keys and values in turn, without a prototype that they could be read by.
    mapEntries(map) {
      const list = bare([]);
      let n = 0;
      mapForEach(map, (value, key) => {
        list[n++] = key;
        list[n++] = value;
      });
      return list;
    },
    setEntries(values) {
      const list = bare([]);
      let n = 0;
      setForEach(values, (value) => {
        list[n++] = value;
      });
      return list;
    },
    mapSet(map, key, value) {
      mapSet(map, key, value);
    },
    mapDelete(map, key) {
      mapDelete(map, key);
    },
    setAdd(values, value) {
      setAdd(values, value);
    },
    setDelete(values, value) {
      setDelete(values, value);
    },
    makeView(name, buffer, offset, length) {
      const Class = name === "DataView" ? View : views[name];
      return length === undefined ? new Class(buffer, offset) : new Class(buffer, offset, length);
    },
    viewBuffer(name, view) {
      return name === "DataView" ? bufferOfView(view) : bytesOf(view);
    },
    viewOffset(name, view) {
      return name === "DataView" ? offsetOfView(view) : offsetOf(view);
    },
    viewLength(name, view) {
      return name === "DataView" ? lengthOfView(view) : lengthOf(view);
    },
    // Whether it has the length of its buffer, whatever that is: see buffers.js.
    viewFollows(name, view, length) {
      const array = name !== "DataView";
      const buffer = array ? bytesOf(view) : bufferOfView(view);
      const of = array ? lengthOf : lengthOfView;
      const size = array ? views[name].BYTES_PER_ELEMENT : 1;
      if (!resizable?.(buffer)) return false;
      const before = of(view);
      if (length + size > maxByteLength(buffer)) return (array ? offsetOf(view) : offsetOfView(view)) + before * size > length - size;
      resize(buffer, length + size);
      const followed = of(view) !== before;
      resize(buffer, length);
      return followed;
    },
    makeBuffer(length, limit) {
      return limit < 0 ? new Buffer(length) : new Buffer(length, { __proto__: null, maxByteLength: limit });
    },
    bufferLimit(buffer) {
      return resizable?.(buffer) ? maxByteLength(buffer) : -1;
    },
    resize(buffer, length) {
      resize(buffer, length);
    },
    makePromise() {
      let settle;
      let fail;
      const promise = new PromiseClass((resolve, reject) => {
        settle = resolve;
        fail = reject;
      });
      return freeze({ __proto__: null, promise, settle, fail });
    },
    whenSettled(promise, settle, fail) {
      then(promise, settle, fail);
    },
    // With Intl granted, what the language says of locales is the host's to answer.
    localize(answer) {
      const second = (rest) => (rest.length > 1 ? rest[1] : undefined);
      const first = (rest) => (rest.length > 0 ? rest[0] : undefined);
      const text = (value) => {
        if (value === undefined || value === null) throw new TypeProblem("a string is needed");
        return `${value}`;
      };
      const install = (proto, methods) => {
        const names = ownKeys(methods);
        for (let i = 0; i < names.length; i++) {
          defineProperty(proto, names[i], { __proto__: null, value: methods[names[i]], writable: true, enumerable: false, configurable: true });
        }
      };
      install(NumberProto, {
        toLocaleString(...rest) {
          return answer("toLocaleString", unbox[0](this), first(rest), second(rest));
        },
      });
      install(BigIntProto, {
        toLocaleString(...rest) {
          return answer("toLocaleString", unbox[3](this), first(rest), second(rest));
        },
      });
      install(DateProto, {
        toLocaleString(...rest) {
          return answer("date.toLocaleString", getTime(this), first(rest), second(rest));
        },
        toLocaleDateString(...rest) {
          return answer("date.toLocaleDateString", getTime(this), first(rest), second(rest));
        },
        toLocaleTimeString(...rest) {
          return answer("date.toLocaleTimeString", getTime(this), first(rest), second(rest));
        },
      });
      install(StringProto, {
        localeCompare(that, ...rest) {
          return answer("localeCompare", text(this), `${that}`, first(rest), second(rest));
        },
        toLocaleLowerCase(...rest) {
          return answer("toLocaleLowerCase", text(this), first(rest));
        },
        toLocaleUpperCase(...rest) {
          return answer("toLocaleUpperCase", text(this), first(rest));
        },
      });
    },
    define(global, name, value) {
      defineProperty(global, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    },
    // A global that is asked for when it is first used: it is put where `taken` is. A
    // guest that has frozen its globals gets it from there each time.
    onUse(global, taken, name, take) {
      defineProperty(global, name, {
        __proto__: null,
        get() {
          const stack = stackOf === undefined ? undefined : stackOf(new Problem());
          take(name, typeof stack === "string" ? stack : "");
          const found = getOwnPropertyDescriptor(taken, name);
          const own = getOwnPropertyDescriptor(global, name);
          if (own?.configurable) {
            if (found === undefined) delete global[name];
            else defineProperty(global, name, bare(found));
          }
          return found === undefined ? undefined : found.value;
        },
        set(value) {
          defineProperty(global, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: true,
      });
    },
    stack(error) {
      const own = getOwnPropertyDescriptor(error, "stack");
      if (own !== undefined) return own.value;
      return stackOf === undefined ? undefined : stackOf(error);
    },
  };
}

/** Which trap asks. The guest has the numbers in place of the names. */
export const OPS = { GET: 1, HAS: 2, FETCH: 3, EXTENSIBLE: 4, SET: 5, DELETE: 6, DEFINE: 7, SET_PROTO: 8, PREVENT: 9, CONSTRUCT: 10, DEAD: 11 };

/** The source text: an expression whose value is the function. */
export const guestSource = `(${String(guest).replace(/\b(?:GET|HAS|FETCH|EXTENSIBLE|SET|DELETE|DEFINE|SET_PROTO|PREVENT|CONSTRUCT|DEAD)\b/g, (name) => OPS[name])})`;
