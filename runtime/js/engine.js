// The engine in hosts with WebAssembly: QuickJS, driven through its C interface.
import { nodeBuiltin } from "./node-builtin.js";
import {
  ACCESSOR,
  ALL_KEYS,
  CONFIGURABLE,
  DATA,
  ENUMERABLE,
  EXCEPTION,
  HAS_CONFIGURABLE,
  HAS_ENUMERABLE,
  HAS_GET,
  HAS_SET,
  HAS_VALUE,
  HAS_WRITABLE,
  HEADER,
  OBJECT,
  UNDEFINED_BITS,
  WRITABLE,
} from "./layout.js";
import { Instance, spareInstance } from "./instance.js";
import { reseed, seedAt, seedOf } from "./seed.js";
import { Values } from "./values.js";

// No page can tell a proxy from what it stands for.
const isProxy = nodeBuiltin("node:util")?.types.isProxy ?? (() => false);

/** What the guest is thrown for an error that cannot cross, whose own reason cannot either. */
const CANNOT_CROSS = "an error of the host's that cannot go into the sandbox";

export class Engine extends Values {
  /** The only size at which V8 catches recursion, deep sources and deep JSON alike. */
  maxStackKB = 64;
  /**
   * Calls inside calls, from host to guest to host. In Node the host's own stack ends
   * after about 45 of them when the application has used none of it, and an overflow
   * there tears the engine's frames and so kills the sandbox; this end is clean.
   */
  maxDepth = 24;
  /** How many calls of the guest are being answered. */
  answering = 0;
  /** Whether the host may lose a WeakRef's target in the middle of a turn. */
  letsGoAtOnce = false;
  #classes = new Map(); // class id -> name

  #instance;

  /** @param image of another engine of the same module: this one goes on from there */
  constructor(module, image) {
    const instance = image === undefined ? new Instance(module) : spareInstance(module, image.instance);
    if (image !== undefined) instance.load(image.instance);
    super(instance.exports, image?.values);
    this.#instance = instance;
    instance.engine = this;
    if (image === undefined) this.checkLayout();
    else reseed(this, image.seedAt);
  }

  /** What another engine needs to go on from here. No call may be under way. */
  save() {
    return { instance: this.#instance.save(), values: this.saveValues(), seedAt: seedAt(this) };
  }

  /** The state of the guest's Math.random. Asked for before anything of a library's has run. */
  get seed() {
    return seedOf(this, seedAt(this));
  }

  // Calls.

  /** Evaluates a script. */
  evaluate(source, file) {
    return this.take(this.evalBits(source, file));
  }

  /** Evaluates a script for what it does, from its bytecode where that is given. */
  run(source, file, bytecode) {
    const bits = bytecode === undefined ? this.evalBits(source, file) : this.runBits(bytecode);
    this.b64[this.cell >> 3] = bits;
    this.drop(this.cell);
  }

  /** Evaluates a script whose value is an object, and returns its ref with a count. */
  evaluateRef(source, file) {
    return this.takeRef(this.evalBits(source, file));
  }

  call(f, self, args) {
    const n = args.length;
    const at = this.enter(n + 1);
    let done = 0;
    try {
      this.put(at, self);
      for (done = 1; done <= n; done++) this.put(at + 8 * done, args[done - 1]);
      return this.take(this.e.JS_Call(this.cx, this.box(f), this.b64[at >> 3], n, at + 8));
    } finally {
      while (done-- > 0) this.drop(at + 8 * done);
      this.leave(at);
    }
  }

  construct(f, args, newTarget, asRef = false) {
    const n = args.length;
    const at = this.enter(n + 1);
    let done = 0;
    try {
      this.putRef(at, newTarget);
      for (done = 1; done <= n; done++) this.put(at + 8 * done, args[done - 1]);
      const bits = this.e.JS_CallConstructor2(this.cx, this.box(f), this.b64[at >> 3], n, at + 8);
      return asRef ? this.takeRef(bits) : this.take(bits);
    } finally {
      while (done-- > 0) this.drop(at + 8 * done);
      this.leave(at);
    }
  }

  /**
   * Calls a guest function of the membrane's own. Of the first `refs` arguments, `[ref]`
   * is an object of the guest; the others are host values. The result is a host value, or
   * with `asRef` the ref of an object with a count, 0 when it is none.
   */
  help(f, args, asRef = false, refs = args.length) {
    const n = args.length;
    const at = this.enter(n);
    let done = 0;
    try {
      for (; done < n; done++) {
        const arg = args[done];
        if (done < refs && typeof arg === "object" && arg !== null) this.putRef(at + 8 * done, arg[0]);
        else this.put(at + 8 * done, arg);
      }
      const bits = this.e.JS_Call(this.cx, this.box(f), UNDEFINED_BITS, n, at);
      return asRef ? this.takeRef(bits) : this.take(bits);
    } finally {
      while (done-- > 0) this.drop(at + 8 * done);
      this.leave(at);
    }
  }

  /** Calls a guest function on a guest object. */
  callOn(f, self) {
    const at = this.enter(1);
    try {
      this.putRef(at, self);
      return this.take(this.e.JS_Call(this.cx, this.box(f), this.b64[at >> 3], 0, 0));
    } finally {
      this.drop(at);
      this.leave(at);
    }
  }

  get hasJobs() {
    return this.e.qjs_is_job_pending() !== 0;
  }

  runJob() {
    const status = this.e.JS_ExecutePendingJob(this.rt, this.out);
    this.sync();
    if (status < 0) throw this.thrown();
  }

  // Objects.

  get(ref, key) {
    const atom = this.key(key);
    const bits = this.e.JS_GetProperty(this.cx, this.box(ref), atom);
    this.unkey(atom);
    return this.take(bits);
  }

  /** The same for a property that is an object, which is wanted as a ref with a count. */
  getRef(ref, key) {
    const atom = this.key(key);
    const bits = this.e.JS_GetProperty(this.cx, this.box(ref), atom);
    this.unkey(atom);
    return this.takeRef(bits);
  }

  has(ref, key) {
    const atom = this.key(key);
    const status = this.e.JS_HasProperty(this.cx, this.box(ref), atom);
    this.unkey(atom);
    return this.answer(status);
  }

  delete(ref, key) {
    const atom = this.key(key);
    const status = this.e.JS_DeleteProperty(this.cx, this.box(ref), atom, 0);
    this.unkey(atom);
    return this.answer(status);
  }

  /** Defines an own property by descriptor; fields that are absent stay as they are. */
  define(ref, key, descriptor) {
    let flags = 0;
    if ("configurable" in descriptor) flags |= HAS_CONFIGURABLE | (descriptor.configurable ? CONFIGURABLE : 0);
    if ("enumerable" in descriptor) flags |= HAS_ENUMERABLE | (descriptor.enumerable ? ENUMERABLE : 0);
    if ("writable" in descriptor) flags |= HAS_WRITABLE | (descriptor.writable ? WRITABLE : 0);
    if ("value" in descriptor) flags |= HAS_VALUE;
    if ("get" in descriptor) flags |= HAS_GET | ACCESSOR;
    if ("set" in descriptor) flags |= HAS_SET | ACCESSOR;
    const at = this.enter(3);
    let done = 0;
    try {
      for (const part of [descriptor.value, descriptor.get, descriptor.set]) {
        this.put(at + 8 * done, part);
        done++; // not before: what could not be written must not be given back
      }
      const atom = this.key(key);
      const i = at >> 3;
      const status = this.e.JS_DefineProperty(this.cx, this.box(ref), atom, this.b64[i], this.b64[i + 1], this.b64[i + 2], flags);
      this.unkey(atom);
      return this.answer(status);
    } finally {
      while (done-- > 0) this.drop(at + 8 * done);
      this.leave(at);
    }
  }

  /** Defines an ordinary own data property. */
  defineValue(ref, key, value) {
    const at = this.enter(1);
    try {
      this.put(at, value);
      const atom = this.key(key);
      const status = this.e.JS_DefinePropertyValue(this.cx, this.box(ref), atom, this.b64[at >> 3], DATA);
      this.unkey(atom);
      return this.answer(status);
    } finally {
      this.leave(at);
    }
  }

  /** An own property's descriptor, or undefined. No getter runs. */
  own(ref, key) {
    const atom = this.key(key);
    const at = this.enter(4); // { int flags; JSValue value, getter, setter }
    try {
      if (!this.answer(this.e.JS_GetOwnProperty(this.cx, at, this.box(ref), atom))) return undefined;
      const flags = this.u32[at >> 2];
      const enumerable = (flags & ENUMERABLE) !== 0;
      const configurable = (flags & CONFIGURABLE) !== 0;
      try {
        if (flags & ACCESSOR) return { get: this.read(at + 16), set: this.read(at + 24), enumerable, configurable };
        return { value: this.read(at + 8), writable: (flags & WRITABLE) !== 0, enumerable, configurable };
      } finally {
        for (const box of [at + 8, at + 16, at + 24]) this.drop(box);
      }
    } finally {
      this.leave(at);
      this.unkey(atom);
    }
  }

  /** Own keys, as Reflect.ownKeys lists them. */
  keys(ref) {
    this.answer(this.e.JS_GetOwnPropertyNames(this.cx, this.out, this.out + 4, this.box(ref), ALL_KEYS));
    const table = this.u32[this.out >> 2];
    const n = this.u32[(this.out >> 2) + 1];
    const keys = new Array(n);
    try {
      for (let i = 0; i < n; i++) keys[i] = this.readKey(this.u32[(table >> 2) + 2 * i + 1]);
    } finally {
      this.e.JS_FreePropertyEnum(this.cx, table, n);
      this.sync();
    }
    return keys;
  }

  /** Whether an array is nothing but its elements, without holes. */
  isDense(ref) {
    const o = ref >> 2;
    const u32 = this.u32;
    return ((u32[o + 2] ^ this.arrayWord) & HEADER) === 0 && u32[o + 3] === this.arrayShape && u32[u32[o + 4] >> 2] === u32[o + 8];
  }

  /** Reads the elements of a list that has no holes. */
  readElements(ref, values) {
    const n = this.u32[(ref >> 2) + 8];
    for (let i = 0; i < n; i++) values.push(this.read(this.u32[(ref >> 2) + 7] + 8 * i));
  }

  /** Whether an object has neither accessors nor, unless it may, functions for values. */
  isData(ref, functions) {
    return this.#eachOwn(ref, (box) => {
      if ((this.u32[box >> 2] & ACCESSOR) !== 0) return false;
      return functions || this.u32[(box + 12) >> 2] !== OBJECT || !this.isFunction(this.u32[(box + 8) >> 2]);
    });
  }

  /** Reads the own properties of an object that is data: `each(key, value, flags)`. */
  readOwn(ref, each) {
    this.#eachOwn(ref, (box, atom) => {
      each(this.readKey(atom), this.read(box + 8), this.u32[box >> 2] & DATA);
      return true;
    });
  }

  /** Has a look at each own property's descriptor until one look says false. */
  #eachOwn(ref, look) {
    this.answer(this.e.JS_GetOwnPropertyNames(this.cx, this.out, this.out + 4, this.box(ref), ALL_KEYS));
    const table = this.u32[this.out >> 2];
    const n = this.u32[(this.out >> 2) + 1];
    const box = this.enter(4);
    try {
      for (let i = 0; i < n; i++) {
        const atom = this.u32[(table >> 2) + 2 * i + 1];
        if (!this.answer(this.e.JS_GetOwnProperty(this.cx, box, this.box(ref), atom))) continue;
        try {
          if (!look(box, atom)) return false;
        } finally {
          for (const part of [8, 16, 24]) this.drop(box + part);
        }
      }
      return true;
    } finally {
      this.leave(box);
      this.e.JS_FreePropertyEnum(this.cx, table, n);
      this.sync();
    }
  }

  /** The prototype as a ref with a count; 0 for null. */
  proto(ref) {
    return this.takeRef(this.e.JS_GetPrototype(this.cx, this.box(ref)));
  }

  setProto(ref, proto) {
    const at = this.enter(1);
    if (proto === 0) this.put(at, null);
    else {
      this.u32[at >> 2] = proto;
      this.u32[(at >> 2) + 1] = OBJECT;
    }
    const status = this.e.JS_SetPrototype(this.cx, this.box(ref), this.b64[at >> 3]);
    this.leave(at);
    return this.answer(status);
  }

  extensible(ref) {
    return this.answer(this.e.JS_IsExtensible(this.cx, this.box(ref)));
  }

  preventExtensions(ref) {
    return this.answer(this.e.JS_PreventExtensions(this.cx, this.box(ref)));
  }

  // Making. Every ref comes with a count.

  newArray(values) {
    const n = values.length;
    const at = this.enter(n);
    let done = 0;
    try {
      for (; done < n; done++) this.put(at + 8 * done, values[done]);
      done = 0; // the engine takes the counts over
      return this.takeRef(this.e.JS_NewArrayFrom(this.cx, n, at));
    } finally {
      while (done-- > 0) this.drop(at + 8 * done);
      this.leave(at);
    }
  }

  /** An object of a prototype; 0 makes it null. */
  newObject(proto) {
    if (proto !== 0) return this.takeRef(this.e.JS_NewObjectProto(this.cx, this.box(proto)));
    const at = this.enter(1);
    this.put(at, null);
    const bits = this.b64[at >> 3];
    this.leave(at);
    return this.takeRef(this.e.JS_NewObjectProto(this.cx, bits));
  }

  newPlainObject() {
    return this.takeRef(this.e.JS_NewObject(this.cx));
  }

  /** A function that calls `hooks.onCall(id, …)`; for id 0, `hooks.onTrap`. */
  newFunction(id, length) {
    const digits = String(id);
    for (let i = 0; i < digits.length; i++) this.u8[this.text + i] = digits.charCodeAt(i);
    const box = this.e.qjs_new_host_function(this.text, digits.length, length);
    this.sync();
    const failed = this.u32[(box >> 2) + 1] === EXCEPTION;
    const ref = this.u32[box >> 2];
    if (!failed) this.dup(ref);
    this.e.qjs_free_value(box);
    if (failed) throw this.thrown();
    return ref;
  }

  /** Lets `new` be used on a function. */
  makeConstructor(ref) {
    this.e.JS_SetConstructorBit(this.cx, this.box(ref), 1);
  }

  /** A proxy, which keeps target and handler. */
  newProxy(target, handler) {
    const at = this.enter(2);
    this.u32[at >> 2] = target;
    this.u32[(at >> 2) + 1] = OBJECT;
    const bits = this.e.JS_NewProxy(this.cx, this.b64[at >> 3], this.box(handler));
    this.leave(at);
    return this.takeRef(bits);
  }

  /** The handler of a proxy as a ref with a count. */
  handlerOf(ref) {
    return this.takeRef(this.e.JS_GetProxyHandler(this.cx, this.box(ref)));
  }

  newDate(time) {
    return this.takeRef(this.e.JS_NewDate(this.cx, time));
  }

  /** A copy of a buffer's bytes; undefined when it is detached. */
  bytes(ref) {
    return this.#view(ref)?.slice();
  }

  /** How many bytes a buffer has; undefined when it is detached. */
  byteLength(ref) {
    return this.#view(ref)?.length;
  }

  setBytes(ref, bytes) {
    this.#view(ref)?.set(bytes);
  }

  #view(ref) {
    const at = this.e.JS_GetArrayBuffer(this.cx, this.out, this.box(ref));
    this.sync();
    if (at === 0) {
      if (this.e.JS_HasException(this.cx)) this.thrown();
      return undefined;
    }
    return this.u8.subarray(at, at + this.u32[this.out >> 2]);
  }

  detach(ref) {
    this.e.JS_DetachArrayBuffer(this.cx, this.box(ref));
  }

  // Kinds.

  /** The class of an object, as the engine calls it: "Object", "Map", "Generator". */
  classOf(ref) {
    const id = this.e.JS_GetClassID(this.box(ref));
    let name = this.#classes.get(id);
    if (name === undefined) {
      const atom = this.e.JS_GetClassName(this.rt, id);
      name = this.take(this.e.JS_AtomToValue(this.cx, atom));
      this.e.JS_FreeAtom(this.cx, atom);
      this.#classes.set(id, name);
    }
    return name;
  }

  isFunction(ref) {
    return this.e.JS_IsFunction(this.cx, this.box(ref)) !== 0;
  }

  isConstructor(ref) {
    return this.e.JS_IsConstructor(this.cx, this.box(ref)) !== 0;
  }

  isProxy(ref) {
    return this.e.JS_IsProxy(this.box(ref)) !== 0;
  }

  /** Whether a value of the host is a proxy of its own, where that can be told. */
  isHostProxy(value) {
    return isProxy(value);
  }

  /** Whether it is an array; a proxy of one is not. */
  isArray(ref) {
    return this.e.JS_IsArray(this.box(ref)) !== 0;
  }

  // Limits.

  /** Whether an error says that the engine, or the host's own stack under it, broke. */
  isFault(error) {
    return error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /call stack/.test(error.message));
  }

  setLimits(memoryBytes, stackBytes) {
    this.e.qjs_set_memory_limit(memoryBytes);
    this.e.qjs_set_max_stack_size(stackBytes);
  }

  get memoryBytes() {
    return this.e.qjs_get_allocated_size();
  }

  collect() {
    this.e.JS_RunGC(this.rt);
    this.sync();
  }

  /** Differs after a call when something unwound a frame of the engine. */
  get stackPointer() {
    return this.e.__stack_pointer.value;
  }

  /** Lets go of the instance, which is kept for another guest where that is said. */
  stop(reuse = false) {
    if (reuse && this.e !== undefined) this.#instance.giveBack();
    this.hooks = { poll: () => true, over: () => true };
    // Errors that the application keeps may lead here, and must not keep the memory.
    this.#instance = undefined;
    this.e = undefined;
    this.u8 = this.u16 = this.u32 = this.i32 = this.b64 = undefined;
  }

  // The guest calls.

  /** Nothing may leave this by a throw: it would tear the engine's frames. */
  hostCall(name, length, self, argc, argv) {
    const top = this.top;
    this.answering++;
    try {
      this.sync();
      let id = 0;
      for (let i = 0; i < length; i++) id = id * 10 + this.u8[name + i] - 48;
      const result = id === 0 ? this.#trapCall(argc, argv >> 2) : this.#functionCall(id, self, argc, argv >> 2);
      // What cannot be put leaves no box behind.
      const at = this.enter(1);
      this.put(at, result);
      const box = this.alloc(8);
      this.putBits(box, this.b64[at >> 3]);
      this.leave(at);
      return box;
    } catch (error) {
      this.top = top;
      this.#raise(error);
      return 0;
    } finally {
      this.answering--;
    }
  }

  /** Throws a host's error in the guest, or, if it cannot go there, what says why. */
  #raise(error, last = false) {
    const at = this.enter(1);
    try {
      this.put(at, error);
      if (this.hooks.over()) this.e.JS_SetUncatchableError(this.cx, this.b64[at >> 3]);
      this.e.JS_Throw(this.cx, this.b64[at >> 3]);
    } catch (unfit) {
      if (this.hooks.over() || typeof error === "string") this.e.JS_ThrowOutOfMemory(this.cx);
      else this.#raise(last ? CANNOT_CROSS : unfit, true);
    } finally {
      this.leave(at);
    }
  }

  #functionCall(id, self, argc, argv) {
    const args = new Array(argc);
    for (let i = 0; i < argc; i++) args[i] = this.read(this.u32[argv + i]);
    return this.hooks.onCall(id, this.read(self), args);
  }

  #trapCall(argc, argv) {
    const op = this.i32[this.u32[argv] >> 2];
    const id = this.i32[this.u32[argv + 1] >> 2];
    const args = new Array(argc - 2);
    for (let i = 2; i < argc; i++) args[i - 2] = this.read(this.u32[argv + i]);
    return this.hooks.onTrap(op, id, args);
  }
}
