// The engine in the embedded host, where the host's realm is a QuickJS realm itself. The
// program that runs both keeps the guest in an instance of its own and does here what
// engine.js does through WebAssembly: `native` has an operation for each, by guest number.
import "./accessors.js";
import { SandboxError } from "./errors.js";
import { arrayIndex } from "./keys.js";
import {
  ACCESSOR,
  CONFIGURABLE,
  DATA,
  ENUMERABLE,
  HAS_CONFIGURABLE,
  HAS_ENUMERABLE,
  HAS_GET,
  HAS_SET,
  HAS_VALUE,
  HAS_WRITABLE,
  INDEX_ATOM,
  MAX_ATOMS,
  WRITABLE,
} from "./layout.js";
import { managerOf } from "./sandbox.js";

// How to take what an operation returned, and how what the guest asked for is answered:
// `state[0]` says it.
const VALUE = 0;
const REF = 1;
const THROWN = 2;
const ENDED = 4;
const FAULT = 5;
const NO_MEMORY = 6;
const UNCAUGHT = 8;

/** Counts that are given back together. */
const MAX_LOOSE = 64;

class EngineFault extends SandboxError {}

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "symbol";

/** The engine of one guest; see engine.js for what each method is for. */
class EmbeddedEngine {
  // As in engine.js: a crossing takes some ten frames of the membrane.
  maxDepth = 24;
  maxStackKB = 256;
  stackPointer = 0; // the program compares it itself
  answering = 0;
  letsGoAtOnce = true; // QuickJS counts references, and a WeakRef is none
  hooks = { poll: () => false, over: () => false, starved: () => false };
  #native;
  #state;
  #guest;
  #atoms = new Map(); // string -> atom
  // Counts to give back, once no list is being written or read that names them.
  #loose = [];
  #busy = 0;

  constructor(native, state, memoryBytes) {
    this.#native = native;
    this.#state = state;
    this.#guest = native.open(memoryBytes, (id, list) => (id < 0 ? this.hooks.poll() : this.#answer(id, list)));
  }

  // Counts.

  dup(ref) {
    const loose = this.#loose;
    if (loose.length > 0 && loose[loose.length - 1] === ref) loose.length--;
    else this.#native.dup(this.#guest, ref);
    return ref;
  }

  free(ref) {
    this.#loose[this.#loose.length] = ref;
  }

  count(ref) {
    this.#settle();
    return this.#native.count(this.#guest, ref);
  }

  #settle(most = 0) {
    const loose = this.#loose;
    if (loose.length <= most || this.#busy > 0) return;
    this.#loose = [];
    this.#native.release(this.#guest, loose);
  }

  // Values.

  /** The host value of what an operation returned, or a throw of the guest's error. */
  #take(value) {
    const how = this.#state[0];
    if (how === VALUE) return value;
    if (how === REF) return this.#taken(value);
    throw this.#failure(how, value);
  }

  #taken(ref) {
    this.#busy++;
    try {
      return this.hooks.fromRef(ref);
    } finally {
      this.#busy--;
      this.free(ref);
    }
  }

  /** The ref that an operation returned, with its count; 0 for what is no object. */
  #takeRef(value) {
    const how = this.#state[0];
    if (how === REF) return value;
    if (how === VALUE) return 0;
    throw this.#failure(how, value);
  }

  /** What an operation that returns neither object nor symbol returned. */
  #told(value) {
    const how = this.#state[0];
    if (how === VALUE) return value;
    throw this.#failure(how, value);
  }

  #failure(how, value) {
    if (how === ENDED) return this.hooks.uncatchable();
    if (how === FAULT) return new EngineFault(value);
    if (how === (THROWN | REF)) return this.#taken(value);
    return value === null && this.hooks.starved() ? this.hooks.uncatchable() : value;
  }

  /**
   * Puts refs in place of a list's objects, and where they are at its end. Of the first
   * `own`, `[ref]` is an object of the guest.
   */
  #pack(list, own = 0) {
    let places = 0;
    this.#busy++;
    try {
      const n = list.length;
      for (let i = 0; i < n; i++) {
        const value = list[i];
        if (!isObject(value)) continue;
        list[i] = i < own && typeof value === "object" ? value[0] : this.hooks.toRef(value);
        if (places === 0) places = [i];
        else places[places.length] = i;
      }
      list[n] = places;
      return list;
    } finally {
      this.#busy--;
    }
  }

  /** Puts host values in place of a list's refs; each has a count if it is `counted`. */
  #unpack(list, counted) {
    const last = list.length - 1;
    const places = list[last];
    list.length = last;
    if (places === 0) return list;
    this.#busy++;
    let done = 0;
    try {
      for (; done < places.length; done++) {
        const ref = list[places[done]];
        if (counted) this.free(ref);
        list[places[done]] = this.hooks.fromRef(ref);
      }
      return list;
    } finally {
      if (counted) for (done++; done < places.length; done++) this.free(list[places[done]]);
      this.#busy--;
    }
  }

  // Calls.

  run(source, file) {
    const value = this.#native.evaluate(this.#guest, source, file);
    const ref = this.#takeRef(value);
    if (ref !== 0) this.free(ref);
  }

  evaluateRef(source, file) {
    return this.#takeRef(this.#native.evaluate(this.#guest, source, file));
  }

  call(f, self, args) {
    this.#settle(MAX_LOOSE);
    return this.#take(this.#native.call(this.#guest, f, this.#pack([self, ...args])));
  }

  construct(f, args, newTarget, asRef = false) {
    this.#settle(MAX_LOOSE);
    const made = this.#native.construct(this.#guest, f, this.#pack([[newTarget], ...args], 1));
    return asRef ? this.#takeRef(made) : this.#take(made);
  }

  help(f, args, asRef = false, refs = args.length) {
    this.#settle(MAX_LOOSE);
    const result = this.#native.call(this.#guest, f, this.#pack([undefined, ...args], refs + 1));
    return asRef ? this.#takeRef(result) : this.#take(result);
  }

  callOn(f, self) {
    this.#settle(MAX_LOOSE);
    return this.#take(this.#native.call(this.#guest, f, [self, [0]]));
  }

  get hasJobs() {
    return this.#native.hasJobs(this.#guest);
  }

  runJob() {
    this.#settle(MAX_LOOSE);
    this.#told(this.#native.runJob(this.#guest));
  }

  // Properties. Keys go over as atoms; those of short names are kept.

  #key(key) {
    if (typeof key === "number") return (INDEX_ATOM | key) >>> 0;
    if (typeof key !== "string") {
      const ref = this.hooks.toRef(key);
      return this.#told(this.#native.atom(this.#guest, ref, true));
    }
    const known = this.#atoms.get(key);
    if (known !== undefined) return known;
    const index = arrayIndex(key);
    if (index >= 0) return (INDEX_ATOM | index) >>> 0;
    const atom = this.#told(this.#native.atom(this.#guest, key, false));
    if (this.#atoms.size < MAX_ATOMS && key.length < 64) this.#atoms.set(key, atom);
    return atom;
  }

  #unkey(key, atom) {
    if (atom >= INDEX_ATOM || this.#atoms.get(key) === atom) return;
    this.#native.freeAtom(this.#guest, atom);
  }

  /** Runs an operation on a property, with the state as that left it. */
  #on(key, operation) {
    const atom = this.#key(key);
    const value = operation(atom);
    if (atom < INDEX_ATOM && this.#atoms.get(key) !== atom) {
      const how = this.#state[0];
      this.#unkey(key, atom);
      this.#state[0] = how;
    }
    return value;
  }

  get(ref, key) {
    return this.#take(this.#on(key, (atom) => this.#native.get(this.#guest, ref, atom)));
  }

  getRef(ref, key) {
    return this.#takeRef(this.#on(key, (atom) => this.#native.get(this.#guest, ref, atom)));
  }

  has(ref, key) {
    return this.#told(this.#on(key, (atom) => this.#native.has(this.#guest, ref, atom)));
  }

  delete(ref, key) {
    return this.#told(this.#on(key, (atom) => this.#native.delete(this.#guest, ref, atom)));
  }

  define(ref, key, descriptor) {
    let flags = 0;
    if ("configurable" in descriptor) flags |= HAS_CONFIGURABLE | (descriptor.configurable ? CONFIGURABLE : 0);
    if ("enumerable" in descriptor) flags |= HAS_ENUMERABLE | (descriptor.enumerable ? ENUMERABLE : 0);
    if ("writable" in descriptor) flags |= HAS_WRITABLE | (descriptor.writable ? WRITABLE : 0);
    if ("value" in descriptor) flags |= HAS_VALUE;
    if ("get" in descriptor) flags |= HAS_GET | ACCESSOR;
    if ("set" in descriptor) flags |= HAS_SET | ACCESSOR;
    const parts = this.#pack([descriptor.value, descriptor.get, descriptor.set]);
    return this.#told(this.#on(key, (atom) => this.#native.define(this.#guest, ref, atom, flags, parts)));
  }

  defineValue(ref, key, value) {
    const flags = DATA | HAS_CONFIGURABLE | HAS_ENUMERABLE | HAS_WRITABLE | HAS_VALUE;
    const parts = this.#pack([value, undefined, undefined]);
    return this.#told(this.#on(key, (atom) => this.#native.define(this.#guest, ref, atom, flags, parts)));
  }

  own(ref, key) {
    const list = this.#told(this.#on(key, (atom) => this.#native.own(this.#guest, ref, atom)));
    if (list === undefined) return undefined;
    const [flags, first, second] = this.#unpack(list, true);
    const enumerable = (flags & ENUMERABLE) !== 0;
    const configurable = (flags & CONFIGURABLE) !== 0;
    if (flags & ACCESSOR) return { get: first, set: second, enumerable, configurable };
    return { value: first, writable: (flags & WRITABLE) !== 0, enumerable, configurable };
  }

  keys(ref) {
    return this.#unpack(this.#told(this.#native.keys(this.#guest, ref)), true);
  }

  isDense(ref) {
    return this.#native.isDense(this.#guest, ref);
  }

  readElements(ref, values) {
    const list = this.#unpack(this.#native.elements(this.#guest, ref), true);
    for (let i = 0; i < list.length; i++) values.push(list[i]);
  }

  isData(ref, functions) {
    return this.#told(this.#native.isData(this.#guest, ref, functions));
  }

  readOwn(ref, each) {
    const keys = this.keys(ref);
    const list = this.#unpack(this.#told(this.#native.readOwn(this.#guest, ref)), true);
    for (let i = 0; i < keys.length; i++) each(keys[i], list[2 * i + 1], list[2 * i] & DATA);
  }

  proto(ref) {
    return this.#takeRef(this.#native.proto(this.#guest, ref));
  }

  setProto(ref, proto) {
    return this.#told(this.#native.setProto(this.#guest, ref, proto));
  }

  extensible(ref) {
    return this.#told(this.#native.extensible(this.#guest, ref));
  }

  preventExtensions(ref) {
    return this.#told(this.#native.preventExtensions(this.#guest, ref));
  }

  // Making.

  newArray(values) {
    return this.#takeRef(this.#native.newArray(this.#guest, this.#pack([...values])));
  }

  newObject(proto) {
    return this.#takeRef(this.#native.newObject(this.#guest, proto));
  }

  newPlainObject() {
    return this.#takeRef(this.#native.newObject(this.#guest));
  }

  newFunction(id, length) {
    return this.#takeRef(this.#native.newFunction(this.#guest, id, length));
  }

  makeConstructor(ref) {
    this.#native.makeConstructor(this.#guest, ref);
  }

  newProxy(target, handler) {
    return this.#takeRef(this.#native.newProxy(this.#guest, target, handler));
  }

  handlerOf(ref) {
    return this.#takeRef(this.#native.handlerOf(this.#guest, ref));
  }

  newDate(time) {
    return this.#takeRef(this.#native.newDate(this.#guest, time));
  }

  bytes(ref) {
    return this.#told(this.#native.bytes(this.#guest, ref));
  }

  byteLength(ref) {
    return this.#told(this.#native.byteLength(this.#guest, ref));
  }

  setBytes(ref, bytes) {
    this.#told(this.#native.setBytes(this.#guest, ref, bytes));
  }

  detach(ref) {
    this.#told(this.#native.detach(this.#guest, ref));
  }

  // Kinds.

  classOf(ref) {
    return this.#told(this.#native.classOf(this.#guest, ref));
  }

  isFunction(ref) {
    return this.#told(this.#native.isFunction(this.#guest, ref));
  }

  isConstructor(ref) {
    return this.#told(this.#native.isConstructor(this.#guest, ref));
  }

  isProxy(ref) {
    return this.#told(this.#native.isProxy(this.#guest, ref));
  }

  isHostProxy(value) {
    return this.#told(this.#native.isHostProxy(this.#guest, value));
  }

  isArray(ref) {
    return this.#told(this.#native.isArray(this.#guest, ref));
  }

  // Limits.

  isFault(error) {
    return error instanceof EngineFault || (error instanceof RangeError && /call stack/.test(error.message));
  }

  setLimits(memoryBytes, stackBytes) {
    this.#native.setLimits(this.#guest, memoryBytes, stackBytes);
  }

  get memoryBytes() {
    return this.#native.memoryBytes(this.#guest);
  }

  collect() {
    this.#settle();
    this.#told(this.#native.collect(this.#guest));
  }

  stop() {
    const native = this.#native;
    if (native === undefined) return;
    this.hooks = { poll: () => true, over: () => true };
    this.#native = undefined;
    native.close(this.#guest);
  }

  // The guest calls. Nothing may leave this by a throw.

  #answer(id, list) {
    this.#settle(MAX_LOOSE);
    this.answering++;
    let how;
    let value;
    try {
      // Of what the guest lends for the call, nothing is counted.
      this.#unpack(list, false);
      const [self, ...args] = list;
      value = id === 0 ? this.hooks.onTrap(args.shift(), args.shift(), args) : this.hooks.onCall(id, self, args);
      how = VALUE;
      if (isObject(value)) {
        value = this.hooks.toRef(value);
        how = REF;
      }
    } catch (error) {
      [how, value] = this.#raised(error);
    } finally {
      this.answering--;
    }
    this.#state[0] = how;
    return value;
  }

  /** How a host's error is thrown in the guest, or, if it cannot go there, what says why. */
  #raised(error, last = false) {
    try {
      const how = THROWN | (this.hooks.over() ? UNCAUGHT : 0);
      return isObject(error) ? [how | REF, this.hooks.toRef(error)] : [how, error];
    } catch (unfit) {
      if (this.hooks.over()) return [NO_MEMORY, undefined];
      return last ? [THROWN, "an error of the host's that cannot go into the sandbox"] : this.#raised(unfit, true);
    }
  }
}

/** What makes sandboxes in the embedded host. */
export function embeddedManager(native) {
  const state = new Int32Array(native.state);
  return managerOf({ load: async () => {}, open: (memoryBytes) => new EmbeddedEngine(native, state, memoryBytes) });
}
