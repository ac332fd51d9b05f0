// Carries values across: plain data as copies, behaviour as stand-ins.
//
// Two registries keep identity. A value that is at home in the guest is *adopted*:
// its stand-in here holds a handle, and going back it is itself again. A value that
// is at home here is *exposed*: the guest holds a stand-in that names it by id.
import { JSException } from "quickjs-wasi";
import { boxes, brands, constructible, copyBrand, define, guestFrames, wellKnown } from "./brands.js";
import { SandboxError } from "./errors.js";
import { Exposed } from "./exposed.js";
import { guest } from "./guest.js";
import { ABSENT, compilesCode, reflect } from "./reflect.js";
import { makeStandIn } from "./standin.js";

/** Deeper data is refused rather than overflowing either stack. */
const MAX_DEPTH = 1000;

/** Views of past calls that are kept at most. */
const MAX_VIEWS = 1000;

export class Marshaller {
  #sandbox;
  #vm;
  #helpers = {};
  #failed; // identity of the guest's FAILED
  #thrown; // handle of the guest's THROWN
  #temps = []; // handles that live until the crossing ends
  #reply; // the last handle given to the guest, which it has copied by the next time
  #handles = new WeakMap(); // adopted: stand-in -> handle
  #standIns = new Map(); // adopted: identity -> WeakRef of the stand-in
  #intrinsics = new Map(); // built-in classes, their prototypes and the global object: -> handle
  #symbols = new Map(); // unique symbols, both ways
  #exposed; // host values that the guest knows
  #views = new Map(); // adopted for one outermost call: identity -> live proxy of data
  #viewHandles = [];
  #settlers = new Set(); // rejecters of host promises that wait for the guest
  #gone = new FinalizationRegistry(({ identity, handle, ref }) => {
    if (this.#standIns.get(identity) === ref) this.#standIns.delete(identity);
    handle.dispose();
  });

  /**
   * @param sandbox offers `run(body)` for a way into the guest and `pause(body)` for
   *   one back out, `live` for results as proxies, `dataOnly` for refusing host objects,
   *   `exhausted()` for the error of a guest that has no memory left, and `crowded`
   *   for one that has used a good part of it
   */
  constructor(sandbox, vm) {
    this.#sandbox = sandbox;
    this.#vm = vm;
    const cross = vm.newFunction("cross", (op, id, a, b) => this.#answer(op.toString(), id.toNumber(), a, b));
    const boot = vm.evalCode(`(${guest})`, "sandbox-guest.js");
    const helpers = vm.callFunction(boot, vm.undefined, cross);
    for (const name of helpers.keys()) this.#helpers[name] = helpers.getProp(name);
    this.#failed = this.#helpers.FAILED.identity;
    this.#thrown = this.#helpers.THROWN;
    this.#pairIntrinsics();
    for (const handle of [cross, boot, helpers]) handle.dispose();
    this.#exposed = new Exposed({
      weaken: (handle) => vm.callFunction(this.#helpers.weak, vm.undefined, handle),
      deref: (weak) => this.#help("deref", weak),
    });
  }

  // A host's built-in class is the guest's of that name inside, and the other way round.
  // Only Function does not come out: called with a guest's text it would compile it here.
  #pairIntrinsics() {
    const { intrinsics } = this.#helpers;
    for (const name of intrinsics.keys()) {
      const own = globalThis[name];
      if (typeof own !== "function") continue;
      const handle = intrinsics.getProp(name);
      this.#intrinsics.set(own, handle);
      this.#intrinsics.set(own.prototype, handle.getProp("prototype"));
      if (own !== Function) this.#standIns.set(handle.identity, { deref: () => own });
    }
    this.#intrinsics.set(globalThis, this.#vm.global);
  }

  // Handles.

  temp(handle) {
    this.#temps.push(handle);
    return handle;
  }

  get mark() {
    return this.#temps.length;
  }

  release(mark) {
    while (this.#temps.length > mark) this.#temps.pop().dispose();
  }

  /** Runs a helper of the guest half; throws what the guest threw, as a host value. */
  #help(name, ...args) {
    const result = this.temp(this.#vm.callFunction(this.#helpers[name], this.#vm.undefined, ...args));
    if (result.identity !== this.#failed) return result;
    const failure = this.#at(this.temp(this.#vm.callFunction(this.#helpers.takeFailure, this.#vm.undefined)), 0);
    if (failure.typeof === "unknown") throw this.#sandbox.exhausted();
    throw this.toHost(failure);
  }

  #at(list, index) {
    return this.temp(list.getProp(String(index)));
  }

  #string(text) {
    return this.temp(this.#vm.newString(text));
  }

  #list(handles) {
    const list = this.temp(this.#vm.newArray());
    for (const [i, handle] of handles.entries()) list.defineProp(String(i), handle, { writable: true, enumerable: true, configurable: true });
    return list;
  }

  // Guest to host.

  /** Makes a host value of a guest one. The handle stays the caller's. */
  toHost(handle, seen = new Map(), depth = 0) {
    switch (handle.typeof) {
      case "undefined":
        return undefined;
      case "boolean":
        return handle.toBoolean();
      case "number":
        return handle.toNumber();
      case "string":
        return handle.toString();
      case "bigint":
        return BigInt(handle.toString());
      case "symbol":
        return this.#symbolToHost(handle);
    }
    if (handle.isNull) return null;
    if (depth > MAX_DEPTH) throw new RangeError(`the value is nested deeper than ${MAX_DEPTH} levels`);
    const { identity } = handle;
    const known = seen.get(identity) ?? this.#standIns.get(identity)?.deref() ?? this.#exposed.valueAt(identity);
    if (known !== undefined) return known;
    if (handle.isFunction) return this.#standIn(handle, constructible());
    if (handle.isPromise) return this.#adopt(handle, this.#promiseToHost(handle));
    if (handle.isError) return this.#errorToHost(handle);
    const array = handle.isArray;
    const brand = handle.isProxy ? undefined : array ? "Array" : handle.className;
    if (!brands.has(brand) || (this.#sandbox.live && (array || brand === "Object"))) return this.#standIn(handle, array ? [] : {});
    const parts = this.#help("parts", handle, this.#string(brand));
    return parts.isUndefined ? this.#standIn(handle, array ? [] : {}) : this.#copyToHost(brand, handle, parts, seen, depth + 1);
  }

  #copyToHost(brand, handle, parts, seen, depth) {
    const mark = this.mark;
    const part = (i) => this.toHost(this.#at(parts, i), seen, depth);
    const size = parts.length;
    const fill = (copy) => {
      seen.set(handle.identity, copy);
      for (let i = 1; i < size; i += 2) define(copy, part(i), part(i + 1));
      return copy;
    };
    try {
      switch (brand) {
        case "Object":
          return fill(part(0) ? Object.create(null) : {});
        case "Array": {
          if (size > 0) return fill(new Array(part(0)));
          const copy = [];
          seen.set(handle.identity, copy);
          for (let i = 0, n = handle.length; i < n; i++) {
            const inner = this.mark;
            const item = this.toHost(this.#at(handle, i), seen, depth);
            copy.push(item);
            // An object stays held, or another could come to live at its address
            // and be taken for it.
            if (typeof item !== "object") this.release(inner);
          }
          return copy;
        }
        case "Map":
        case "Set": {
          const copy = new globalThis[brand]();
          seen.set(handle.identity, copy);
          for (let i = 0; i < size; i++) brand === "Map" ? copy.set(part(i), part(++i)) : copy.add(part(i));
          return copy;
        }
      }
      const copy = this.#leafToHost(brand, handle, part, size);
      seen.set(handle.identity, copy);
      return copy;
    } finally {
      this.release(mark);
    }
  }

  #leafToHost(brand, handle, part, size) {
    if (brand === "Date") return new Date(part(0));
    if (brand === "RegExp") return Object.assign(new RegExp(part(0), part(1)), { lastIndex: part(2) });
    if (brand === "ArrayBuffer") return handle.toArrayBuffer();
    if (boxes.has(brand)) return Object(part(0));
    if (brand === "Arguments") {
      const items = Array.from({ length: size }, (_, i) => part(i));
      return (function () {
        // biome-ignore lint/complexity/noArguments: an arguments object is what is wanted
        return arguments;
      })(...items);
    }
    const view = globalThis[brand];
    return view ? new view(part(0), part(1), part(2) / (view.BYTES_PER_ELEMENT ?? 1)) : this.#standIn(handle, {});
  }

  #errorToHost(handle) {
    const parts = this.#help("errorParts", handle);
    const part = (i) => this.toHost(this.#at(parts, i));
    const [brand, name, message, stack] = [part(0), part(1), part(2), part(3)];
    const error = new globalThis[brand](...(brand === "AggregateError" ? [part(6) ?? [], String(message)] : [String(message)]));
    if (error.name !== name) define(error, "name", name, false);
    define(error, "stack", `${String(name)}: ${error.message}\n${guestFrames(stack)}`.trimEnd(), false);
    // The original may be reachable from its own cause, so it is known from here on.
    // A class of the library's own keeps its methods, and instanceof, as a proxy.
    const foreign = this.#help("parts", handle, this.#string("Error")).isUndefined;
    const result = foreign ? this.#standIn(handle, error) : this.#adopt(handle, error);
    if (part(4)) define(error, "cause", part(5), false);
    for (let i = 7; i < parts.length; i += 2) define(error, part(i), part(i + 1));
    return result;
  }

  #symbolToHost(handle) {
    for (const [symbol, other] of this.#symbols) if (other.identity === handle.identity) return symbol;
    for (const [symbol, name] of wellKnown) {
      const own = this.#help("make", this.#string("wellKnown"), this.#string(name));
      if (own.identity === handle.identity) return this.#pair(symbol, handle);
    }
    const described = this.#vm.dump(handle); // undefined unless it is registered
    const description = described ? undefined : this.toHost(this.#help("get", handle, this.#string("description")));
    return this.#pair(described ?? Symbol(description), handle);
  }

  #pair(symbol, handle) {
    this.#symbols.set(symbol, handle.dup());
    return symbol;
  }

  #promiseToHost(handle) {
    return new Promise((resolve, reject) => {
      const settle = (how) => (value) => {
        this.#settlers.delete(reject);
        how(value);
      };
      this.#settlers.add(reject);
      this.#help("then", handle, this.toGuest(settle(resolve)), this.toGuest(settle(reject)));
    });
  }

  /** Ends the promises whose guest will never settle them. */
  abandon(error) {
    for (const reject of this.#settlers) reject(error);
    this.#settlers.clear();
  }

  /**
   * An argument past the second and past the parameters that a callback declares.
   * Most are the whole collection, as with map, and a copy for every element would
   * make that quadratic: so data crosses as a live proxy here, the same one for the
   * whole outermost call.
   */
  #view(handle, seen) {
    const array = handle.isArray;
    if (!array && (handle.isProxy || handle.className !== "Object")) return this.toHost(handle, seen);
    const { identity } = handle;
    const known = this.#views.get(identity) ?? this.#standIns.get(identity)?.deref();
    if (known) return known;
    const view = this.#standIn(handle, array ? [] : {}, false);
    this.#views.set(identity, view);
    this.#viewHandles.push(this.#handles.get(view));
    return view;
  }

  #adopt(handle, value, known = true) {
    const held = handle.dup();
    const { identity } = held;
    const ref = new WeakRef(value);
    this.#handles.set(value, held);
    if (known) this.#standIns.set(identity, ref);
    this.#gone.register(value, { identity, handle: held, ref });
    return value;
  }

  /** A proxy for a guest object that has behaviour; every trap asks the guest. */
  #standIn(handle, target, known = true) {
    let held;
    const ask = (name, ...args) => this.#sandbox.run(() => this.toHost(this.#help(name, held(), ...args.map((arg) => this.toGuest(arg)))));
    const standIn = makeStandIn(target, {
      ask,
      apply: (self, args) => this.#sandbox.run(() => this.toHost(this.call(held(), self, args))),
      construct: (args) => this.#sandbox.run(() => this.toHost(this.construct(held(), args))),
    });
    this.#adopt(handle, standIn, known);
    held = () => {
      const own = this.#handles.get(standIn);
      if (own.disposed) throw new SandboxError("this list or object was lent to a callback, and the sandbox needed its memory since");
      return own;
    };
    return standIn;
  }

  call(f, self, args) {
    const seen = new Map();
    return this.#help("call", f, this.#argument(self, seen), ...args.map((arg) => this.#argument(arg, seen)));
  }

  construct(f, args) {
    const seen = new Map();
    return this.#help("construct", f, ...args.map((arg) => this.#argument(arg, seen)));
  }

  #argument(value, seen) {
    return this.toGuest(value, seen, 0, this.#sandbox.dataOnly);
  }

  // Host to guest.

  /** Makes a guest value of a host one; the handle lives until the crossing ends. */
  toGuest(value, seen = new Map(), depth = 0, dataOnly = false) {
    const vm = this.#vm;
    switch (typeof value) {
      case "undefined":
        return vm.undefined;
      case "boolean":
        return value ? vm.true : vm.false;
      case "number":
        return this.temp(vm.newNumber(value));
      case "string":
        return this.#string(value);
      case "bigint":
        return this.#help("make", this.#string("bigint"), this.#string(String(value)));
      case "symbol":
        return this.#symbolToGuest(value);
    }
    if (value === null) return vm.null;
    if (depth > MAX_DEPTH) throw new RangeError(`the value is nested deeper than ${MAX_DEPTH} levels`);
    const known = this.#handles.get(value) ?? seen.get(value) ?? this.#intrinsics.get(value) ?? this.#exposed.standInOf(value);
    if (known) return known;
    const copied = this.#copyToGuest(value, seen, depth + 1, dataOnly);
    if (copied) return copied;
    if (value instanceof Promise) return this.#promiseToGuest(value);
    if (dataOnly) throw new TypeError('the policy allows data only as arguments (arguments: "data"), not host objects or functions');
    return this.#expose(value);
  }

  #copyToGuest(value, seen, depth, dataOnly) {
    if (typeof value === "function") return undefined;
    const inner = (item) => this.toGuest(item, seen, depth, dataOnly);
    if (value instanceof Error) return this.#errorToGuest(value, inner);
    const brand = copyBrand(value);
    const make = (...parts) => this.#help("make", this.#string(brand), ...parts);
    const keep = (handle) => {
      seen.set(value, handle);
      return handle;
    };
    switch (brand) {
      case undefined:
        return undefined;
      case "Object":
      case "Array": {
        const bare = Object.getPrototypeOf(value) === null;
        const copy = keep(
          brand === "Array" ? this.temp(this.#vm.newArray()) : bare ? this.#help("make", this.#string("null")) : this.temp(this.#vm.newObject()),
        );
        for (const key of Object.keys(value)) {
          const mark = this.mark;
          const item = value[key];
          copy.defineProp(key, inner(item), { writable: true, enumerable: true, configurable: true });
          if (typeof item !== "object") this.release(mark);
        }
        if (brand === "Array" && copy.length !== value.length) copy.setProp("length", this.temp(this.#vm.newNumber(value.length)));
        return copy;
      }
      case "Date":
        return keep(make(inner(value.getTime())));
      case "RegExp":
        return keep(make(inner(value.source), inner(value.flags), inner(value.lastIndex)));
      case "Map":
      case "Set":
        return keep(make(this.#list([...(brand === "Map" ? [...value].flat() : value)].map(inner))));
      case "Arguments":
        return keep(make(this.#list([...value].map(inner))));
      case "ArrayBuffer":
        return keep(this.temp(this.#vm.newArrayBuffer(value)));
      default: {
        if (boxes.has(brand)) return keep(make(inner(value.valueOf())));
        // The view's own bytes only: its buffer may hold what is none of the guest's.
        const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
        return keep(make(inner(bytes.buffer)));
      }
    }
  }

  #errorToGuest(error, inner) {
    const brand = /^(Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error$/.test(error.name) ? error.name : "Error";
    const extra = brand === "AggregateError" ? [inner(error.errors ?? [])] : [];
    const copy = this.#help("make", this.#string(brand), inner(String(error.message)), ...extra);
    this.#exposed.add(error, copy);
    const hidden = { writable: true, enumerable: false, configurable: true };
    if (error.name !== brand) copy.defineProp("name", inner(String(error.name)), hidden);
    if (Object.hasOwn(error, "cause")) copy.defineProp("cause", inner(error.cause), hidden);
    for (const key of Object.keys(error).slice(0, 64)) copy.defineProp(key, inner(error[key]), { ...hidden, enumerable: true });
    return copy;
  }

  #symbolToGuest(symbol) {
    const paired = this.#symbols.get(symbol);
    if (paired) return paired;
    const registered = Symbol.keyFor(symbol);
    const name = wellKnown.get(symbol);
    const handle =
      registered !== undefined
        ? this.temp(this.#vm.newSymbolFor(registered))
        : this.#help("make", this.#string(name ? "wellKnown" : "symbol"), name ? this.#string(name) : this.toGuest(symbol.description));
    this.#pair(symbol, handle);
    return handle;
  }

  #promiseToGuest(promise) {
    const made = this.#help("promise");
    const [resolve, reject] = [this.#at(made, 1).dup(), this.#at(made, 2).dup()];
    const settle = (how) => (value) => {
      try {
        if (this.#sandbox.usable) this.#sandbox.run(() => this.#help("call", how, this.#vm.undefined, this.toGuest(value)));
      } catch {
        // A limit that fires here has no caller to tell: whoever waits for the guest
        // is told by abandon(), and so is every later call.
      }
      resolve.dispose();
      reject.dispose();
    };
    promise.then(settle(resolve), settle(reject));
    return this.#exposed.add(promise, this.#at(made, 0));
  }

  /** Makes the guest's stand-in for a host function or object. */
  #expose(value) {
    if (compilesCode(value)) return this.#intrinsics.get(Function);
    const callable = typeof value === "function";
    const id = this.#exposed.nextId();
    const number = this.temp(this.#vm.newNumber(id));
    // Arrow functions and methods are the common callbacks, and cost less.
    const simple = callable && !Object.hasOwn(value, "prototype");
    const handle = simple
      ? this.#help("hostFunction", number, this.#string(String(value.name)), this.temp(this.#vm.newNumber(Number(value.length) || 0)))
      : this.#help("hostObject", number, callable ? this.#vm.true : this.#vm.false);
    return this.#exposed.add(value, handle, id);
  }

  /** Lets go of what the call that just ended no longer needs. */
  sweep() {
    this.#exposed.sweep();
    this.#views.clear();
    // Nothing is finalised while a caller loops without a pause, so the views of past
    // calls go when they get in the way.
    const spare = this.#sandbox.crowded ? this.#viewHandles.length : this.#viewHandles.length - MAX_VIEWS;
    if (spare > 0) for (const handle of this.#viewHandles.splice(0, spare)) handle.dispose();
  }

  /** Does what a stand-in in the guest was asked to do. Nothing leaves it by a throw. */
  #answer(op, id, a, b) {
    const mark = this.mark;
    try {
      const handle = this.#sandbox.answer(() => {
        const result = this.#perform(op, this.#exposed.value(id), a, b);
        return result === ABSENT ? this.#helpers.ABSENT : this.toGuest(result);
      });
      const reply = handle.dup();
      this.#reply?.dispose();
      this.#reply = reply;
      return reply;
    } catch (error) {
      if (error instanceof JSException) throw error; // the engine's wrapper rethrows it in the guest
      this.#vm.callFunction(this.#helpers.setThrown, this.#vm.undefined, this.toGuest(error)).dispose();
      return this.#thrown;
    } finally {
      this.release(mark);
    }
  }

  #perform(op, target, a, b) {
    if (op === "apply" || op === "construct") {
      const seen = new Map();
      const args = Array.from({ length: b.length }, (_, i) =>
        i < Math.max(2, target.length) ? this.toHost(this.#at(b, i), seen) : this.#view(this.#at(b, i), seen),
      );
      const self = this.toHost(a, seen);
      return this.#sandbox.pause(() => (op === "apply" ? Reflect.apply(target, self, args) : Reflect.construct(target, args)));
    }
    const key = a && this.toHost(a);
    const value = b && this.toHost(b);
    return this.#sandbox.pause(() => reflect(op, target, key, value));
  }

  // What sandbox.js needs of the guest besides.

  get(handle, key) {
    return this.#help("get", handle, this.toGuest(key));
  }

  /** Always a live proxy, also of what would cross by copy. */
  alive(handle) {
    return this.#standIns.get(handle.identity)?.deref() ?? this.#standIn(handle, handle.isFunction ? constructible() : {});
  }

  handleOf(value) {
    return this.#handles.get(value);
  }
}
