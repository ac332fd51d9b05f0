// The engine in hosts with WebAssembly: QuickJS, driven through its C interface.
//
// A guest value is 64 bits, with a tag in the high word. Primitives cross by writing and
// reading those words; an object or symbol is named by a *ref*: its address, negative
// for a symbol. A ref is good for as long as somebody holds a count on it. Only this
// file holds views of the engine's memory, which detach when that grows.

import { arrayIndex, textOf } from "./text.js";
import { wasi } from "./wasi.js";
import {
  ACCESSOR,
  ALL_KEYS,
  BIGINT,
  BOOL,
  CONFIGURABLE,
  DATA,
  ENUMERABLE,
  EXCEPTION,
  FLOAT_BIAS,
  FRAME_BYTES,
  HAS_CONFIGURABLE,
  HAS_ENUMERABLE,
  HAS_GET,
  HAS_SET,
  HAS_VALUE,
  HAS_WRITABLE,
  HEADER,
  INDEX_ATOM,
  INT,
  MAX_ATOMS,
  NAN,
  NULL,
  OBJECT,
  ROPE,
  SHORT_BIGINT,
  STRING,
  SYMBOL,
  TEXT_UNITS,
  UNDEFINED,
  UNDEFINED_BITS,
  UNINITIALIZED,
  WRITABLE,
  utf8,
} from "./layout.js";

export class Engine {
  /**
   * What the membrane does for the engine:
   *
   * - `toRef(value)`: the ref of a host object, function or symbol, which stays counted
   * - `fromRef(ref)`: the host value of a guest object or symbol
   * - `onCall(id, self, args)`: the guest called a host function
   * - `onTrap(op, id, shadow, args)`: the trap of a host object's proxy asks; `shadow`
   *   is a ref
   * - `poll()`: whether the guest has to stop
   * - `over()`: whether it may not catch what is thrown at it
   * - `starved()`: whether it has hardly any memory left
   * - `uncatchable()`: the error for what guest code could not catch
   */
  hooks = { poll: () => false, over: () => false, starved: () => false };
  /** How many calls of the guest are being answered. */
  answering = 0;

  #e; // exports
  #cx; // JSContext*
  #rt; // JSRuntime*
  #u8;
  #u16;
  #u32;
  #i32;
  #b64;
  #float = new Float64Array(1);
  #floatWords = new Uint32Array(this.#float.buffer);
  #cell; // one box
  #out; // out-parameters
  #text;
  #top; // of the boxes in use
  #end;
  #atoms = new Map(); // string -> atom
  #names = new Map(); // atom -> string
  #classes = new Map(); // class id -> name
  #arrayWord; // what the headers of arrays without holes say
  #arrayShape; // and of those without other properties

  constructor(module) {
    const instance = new WebAssembly.Instance(module, {
      env: {
        host_call: (name, length, self, argc, argv) => this.#hostCall(name, length, self, argc, argv),
        host_interrupt: () => (this.hooks.poll() ? 1 : 0),
        host_promise_rejection: () => {},
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        host_get_timezone_offset: (high, low) => -new Date((high * 2 ** 32 + (low >>> 0)) * 1000).getTimezoneOffset() * 60,
      },
      wasi_snapshot_preview1: wasi(() => this.#e.memory.buffer),
    });
    const e = instance.exports;
    this.#e = e;
    e._initialize();
    e.qjs_init();
    e.qjs_set_interrupt_handler(1);
    this.#cx = e.qjs_get_context_ptr();
    this.#rt = e.qjs_get_runtime_ptr();
    const block = (e.wasm_malloc(64 + 2 * TEXT_UNITS + FRAME_BYTES) + 7) & ~7;
    this.#cell = block;
    this.#out = block + 8;
    this.#text = block + 48;
    this.#top = block + 48 + 2 * TEXT_UNITS;
    this.#end = this.#top + FRAME_BYTES - 8;
    this.#refresh();
    this.#checkLayout();
  }

  // Memory.

  #refresh() {
    const { buffer } = this.#e.memory;
    if (this.#u8?.buffer === buffer) return;
    this.#u8 = new Uint8Array(buffer);
    this.#u16 = new Uint16Array(buffer);
    this.#u32 = new Uint32Array(buffer);
    this.#i32 = new Int32Array(buffer);
    this.#b64 = new BigInt64Array(buffer);
  }

  /** After every call that may have allocated. */
  #sync() {
    if (this.#u32.length === 0) this.#refresh();
  }

  // A wrong guess about boxes would corrupt the heap without an error, so the guesses
  // are checked against what the engine itself makes.
  #checkLayout() {
    const same = (value, source) => {
      const made = this.#evalBits(source, "layout");
      this.#b64[this.#cell >> 3] = made;
      const [low, high] = [this.#u32[this.#cell >> 2], this.#u32[(this.#cell >> 2) + 1]];
      const back = this.#read(this.#cell);
      this.#put(this.#cell, value);
      const equal = this.#u32[this.#cell >> 2] === low && this.#u32[(this.#cell >> 2) + 1] === high;
      if (!Object.is(back, value) || !equal)
        throw new Error(`the engine holds ${source} as ${high.toString(16)}:${low.toString(16)}, which this runtime does not know`);
    };
    for (const value of [0, -1, 2147483647, 2147483648, 1.5, -1.5, Infinity, -Infinity, 5e-324]) same(value, String(value));
    same(-0, "-0");
    same(NaN, "NaN");
    same(true, "true");
    same(undefined, "undefined");
    same(null, "null");
    this.#putBits(this.#cell, this.#evalBits("({})", "layout"));
    const at = this.#u32[this.#cell >> 2];
    const [tag, before] = [this.#u32[(this.#cell >> 2) + 1], this.count(at)];
    this.#e.JS_DupValue(this.#cx, this.#box(at));
    if (tag !== OBJECT || before !== 1 || this.count(at) !== 2 || this.#e.JS_NewAtomUInt32(this.#cx, 5) >>> 0 !== (INDEX_ATOM | 5) >>> 0) {
      throw new Error("the engine lays out objects in a way which this runtime does not know");
    }
    this.free(at);
    this.free(at);
    this.#checkArrays();
  }

  // Arrays are read where they lie, unless this build lays them out in another way.
  #checkArrays() {
    const sample = this.evaluateRef("[7, 8, 9]", "layout");
    const o = sample >> 2;
    const [word, shape] = [this.#u32[o + 2], this.#u32[o + 3]];
    const at = this.#u32[o + 7] >> 2;
    if (this.#u32[o + 8] !== 3 || this.#u32[this.#u32[o + 4] >> 2] !== 3 || this.#u32[at] !== 7 || this.#u32[at + 2] !== 8 || this.#u32[at + 4] !== 9) {
      throw new Error("the engine lays out arrays in a way which this runtime does not know");
    }
    this.#arrayWord = word;
    this.#arrayShape = shape; // the sample is kept, and so is its shape
  }

  #alloc(bytes) {
    const at = this.#e.wasm_malloc(bytes);
    this.#sync();
    if (at === 0) throw this.hooks.uncatchable();
    return at;
  }

  /** Room for n boxes, given back by #leave in reverse order. */
  #enter(n) {
    const at = this.#top;
    if (at + 8 * n <= this.#end) {
      this.#top = at + 8 * n;
      return at;
    }
    return this.#alloc(8 * n);
  }

  #leave(at, n) {
    if (at < this.#end && at + 8 * n === this.#top) this.#top = at;
    else this.#e.wasm_free(at);
  }

  /** The 64 bits of an object. */
  #box(ref) {
    const i = this.#cell >> 2;
    this.#u32[i] = ref < 0 ? -ref : ref;
    this.#u32[i + 1] = ref < 0 ? SYMBOL : OBJECT;
    return this.#b64[this.#cell >> 3];
  }

  dup(ref) {
    this.#u32[((ref < 0 ? -ref : ref) >> 2) - 1]++;
    return ref;
  }

  free(ref) {
    const at = ((ref < 0 ? -ref : ref) >> 2) - 1; // the count is in front of the object
    if (this.#u32[at] > 1) this.#u32[at]--;
    else {
      this.#e.JS_FreeValue(this.#cx, this.#box(ref));
      this.#sync();
    }
  }

  /** How many hold an object. */
  count(ref) {
    return this.#u32[(ref >> 2) - 1];
  }

  // Values.

  /** Writes a host value to a box, which then owns a count. */
  #put(at, value) {
    const i = at >> 2;
    switch (typeof value) {
      case "number":
        if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
          this.#i32[i] = value;
          this.#u32[i + 1] = INT;
        } else if (Number.isNaN(value)) {
          this.#u32[i] = 0;
          this.#u32[i + 1] = NAN;
        } else {
          this.#float[0] = value;
          this.#u32[i] = this.#floatWords[0];
          this.#u32[i + 1] = this.#floatWords[1] - FLOAT_BIAS;
        }
        return;
      case "boolean":
        this.#u32[i] = value ? 1 : 0;
        this.#u32[i + 1] = BOOL;
        return;
      case "undefined":
        this.#u32[i] = 0;
        this.#u32[i + 1] = UNDEFINED;
        return;
      case "string":
        this.#putBits(at, this.#newString(value));
        return;
      case "bigint":
        this.#putBits(at, this.#newBigInt(value));
        return;
    }
    if (value === null) {
      this.#u32[i] = 0;
      this.#u32[i + 1] = NULL;
      return;
    }
    this.#putRef(at, this.hooks.toRef(value));
  }

  // A view that is named before the call that grows the memory is a detached one.
  #putBits(at, bits) {
    this.#b64[at >> 3] = bits;
  }

  #putRef(at, ref) {
    const i = at >> 2;
    const address = ref < 0 ? -ref : ref;
    this.#u32[(address >> 2) - 1]++;
    this.#u32[i] = address;
    this.#u32[i + 1] = ref < 0 ? SYMBOL : OBJECT;
  }

  /** The host value of a box, which keeps its count. */
  #read(at) {
    const i = at >> 2;
    const high = this.#u32[i + 1];
    if (high === INT) return this.#i32[i];
    const low = this.#u32[i];
    switch (high) {
      case OBJECT:
        return this.hooks.fromRef(low);
      case STRING:
      case ROPE:
        return this.#readString(at);
      case UNDEFINED:
        return undefined;
      case NULL:
        return null;
      case BOOL:
        return low === 1;
      case NAN:
        return NaN;
      case SYMBOL:
        return this.hooks.fromRef(-low);
      case SHORT_BIGINT:
      case BIGINT:
        return BigInt(this.#readString(at));
    }
    this.#floatWords[0] = low;
    this.#floatWords[1] = high + FLOAT_BIAS;
    return this.#float[0];
  }

  /** Gives back a box's count. */
  #drop(at) {
    const i = at >> 2;
    const high = this.#u32[i + 1];
    if (high < BIGINT) return;
    const count = (this.#u32[i] >> 2) - 1;
    if (this.#u32[count] > 1 && high !== ROPE) this.#u32[count]--;
    else {
      this.#e.JS_FreeValue(this.#cx, this.#b64[at >> 3]);
      this.#sync();
    }
  }

  /** The host value of what an export gave, or a throw of the guest's error. */
  #take(bits) {
    this.#sync();
    const at = this.#enter(1);
    try {
      this.#b64[at >> 3] = bits;
      const high = this.#u32[(at >> 2) + 1];
      if (high === INT) return this.#i32[at >> 2];
      if (high === EXCEPTION) throw this.#thrown();
      try {
        return this.#read(at);
      } finally {
        this.#drop(at);
      }
    } finally {
      this.#leave(at, 1);
    }
  }

  /** The ref of an object that an export gave, with its count; 0 for null. */
  #takeRef(bits) {
    this.#sync();
    this.#b64[this.#cell >> 3] = bits;
    const high = this.#u32[(this.#cell >> 2) + 1];
    const low = this.#u32[this.#cell >> 2];
    if (high === OBJECT) return low;
    if (high === SYMBOL) return -low;
    if (high === EXCEPTION) throw this.#thrown();
    this.#drop(this.#cell);
    return 0;
  }

  /** Whether an export that answers 1, 0 or -1 said yes. */
  #answer(status) {
    this.#sync();
    if (status < 0) throw this.#thrown();
    return status !== 0;
  }

  /** Takes the pending error over as a host value. */
  #thrown() {
    const bits = this.#e.JS_GetException(this.#cx);
    this.#sync();
    const at = this.#enter(1);
    try {
      this.#b64[at >> 3] = bits;
      const high = this.#u32[(at >> 2) + 1];
      // Out of memory may leave nothing at all.
      if (high === UNINITIALIZED || (high === NULL && this.hooks.starved()) || (high === OBJECT && this.#e.JS_IsUncatchableError(bits)))
        return this.hooks.uncatchable();
      return this.#read(at);
    } finally {
      this.#drop(at);
      this.#leave(at, 1);
    }
  }

  #newString(text) {
    const n = text.length;
    if (n <= TEXT_UNITS) {
      const at = this.#text;
      const u8 = this.#u8;
      let i = 0;
      for (; i < n; i++) {
        const unit = text.charCodeAt(i);
        if (unit > 127) break;
        u8[at + i] = unit;
      }
      const bits = i === n ? this.#e.JS_NewStringLen(this.#cx, at, n) : this.#newWide(text, at);
      this.#sync();
      return this.#checked(bits);
    }
    const at = this.#alloc(2 * n);
    const bits = this.#newWide(text, at);
    this.#e.wasm_free(at);
    this.#sync();
    return this.#checked(bits);
  }

  #newWide(text, at) {
    const u16 = this.#u16;
    for (let i = 0, n = text.length; i < n; i++) u16[(at >> 1) + i] = text.charCodeAt(i);
    return this.#e.JS_NewStringUTF16(this.#cx, at, text.length);
  }

  #checked(bits) {
    this.#b64[this.#cell >> 3] = bits;
    if (this.#u32[(this.#cell >> 2) + 1] === EXCEPTION) throw this.#thrown();
    return bits;
  }

  #readString(box) {
    const start = this.#e.JS_ToCStringLenUTF16(this.#cx, this.#out, this.#b64[box >> 3]);
    this.#sync();
    if (start === 0) throw this.#thrown();
    const n = this.#u32[this.#out >> 2];
    const units = this.#u16.subarray(start >> 1, (start >> 1) + n);
    const text = textOf(units);
    this.#e.JS_FreeCStringUTF16(this.#cx, start);
    return text;
  }

  #newBigInt(value) {
    if (BigInt.asIntN(64, value) === value) return this.#checked(this.#e.JS_NewBigInt64(this.#cx, value));
    return this.#evalBits(`${value}n`, "bigint"); // a literal needs no global
  }

  // Keys.

  /** A property key as an atom; #unkey gives back those that are not kept. */
  #key(key) {
    if (typeof key === "string") {
      const known = this.#atoms.get(key);
      if (known !== undefined) return known;
      const index = arrayIndex(key);
      if (index >= 0) return (INDEX_ATOM | index) >>> 0;
      const bits = this.#newString(key);
      const atom = this.#e.JS_ValueToAtom(this.#cx, bits) >>> 0;
      this.#sync();
      this.#b64[this.#cell >> 3] = bits;
      this.#drop(this.#cell);
      if (atom === 0) throw this.#thrown();
      if (this.#atoms.size < MAX_ATOMS && key.length < 64) {
        this.#atoms.set(key, atom);
        this.#names.set(atom, key);
      }
      return atom;
    }
    if (typeof key === "number") return (INDEX_ATOM | key) >>> 0;
    const atom = this.#e.JS_ValueToAtom(this.#cx, this.#box(this.hooks.toRef(key))) >>> 0;
    this.#sync();
    if (atom === 0) throw this.#thrown();
    return atom;
  }

  #unkey(atom) {
    if (atom >= INDEX_ATOM || this.#names.has(atom)) return;
    this.#e.JS_FreeAtom(this.#cx, atom);
  }

  #readKey(atom) {
    if (atom >= INDEX_ATOM) return String(atom - INDEX_ATOM);
    const known = this.#names.get(atom);
    if (known !== undefined) return known;
    const key = this.#take(this.#e.JS_AtomToValue(this.#cx, atom));
    if (typeof key === "string" && this.#names.size < MAX_ATOMS && key.length < 64) {
      this.#e.JS_DupAtom(this.#cx, atom);
      this.#atoms.set(key, atom);
      this.#names.set(atom, key);
    }
    return key;
  }

  // Calls.

  #evalBits(source, file) {
    // Null-terminated, which the lengths do not say.
    const code = utf8.encode(`${source}\0`);
    const name = utf8.encode(`${file}\0`);
    const at = this.#alloc(code.length + name.length);
    this.#u8.set(code, at);
    this.#u8.set(name, at + code.length);
    const box = this.#e.qjs_eval(at, code.length - 1, at + code.length, 0);
    this.#e.wasm_free(at);
    this.#sync();
    const bits = this.#b64[box >> 3];
    const failed = this.#u32[(box >> 2) + 1] === EXCEPTION;
    if (!failed && this.#u32[(box >> 2) + 1] >= BIGINT) this.#u32[(this.#u32[box >> 2] >> 2) - 1]++;
    this.#e.qjs_free_value(box);
    if (failed) throw this.#thrown();
    return bits;
  }

  /** Evaluates a script. */
  evaluate(source, file) {
    return this.#take(this.#evalBits(source, file));
  }

  /** Evaluates a script for what it does. */
  run(source, file) {
    const bits = this.#evalBits(source, file);
    this.#b64[this.#cell >> 3] = bits;
    this.#drop(this.#cell);
  }

  /** Evaluates a script whose value is an object, and returns its ref with a count. */
  evaluateRef(source, file) {
    return this.#takeRef(this.#evalBits(source, file));
  }

  call(f, self, args) {
    const n = args.length;
    const at = this.#enter(n + 1);
    let done = 0;
    try {
      this.#put(at, self);
      for (done = 1; done <= n; done++) this.#put(at + 8 * done, args[done - 1]);
      return this.#take(this.#e.JS_Call(this.#cx, this.#box(f), this.#b64[at >> 3], n, at + 8));
    } finally {
      while (done-- > 0) this.#drop(at + 8 * done);
      this.#leave(at, n + 1);
    }
  }

  construct(f, args, newTarget, asRef = false) {
    const n = args.length;
    const at = this.#enter(n + 1);
    let done = 0;
    try {
      this.#putRef(at, newTarget);
      for (done = 1; done <= n; done++) this.#put(at + 8 * done, args[done - 1]);
      const bits = this.#e.JS_CallConstructor2(this.#cx, this.#box(f), this.#b64[at >> 3], n, at + 8);
      return asRef ? this.#takeRef(bits) : this.#take(bits);
    } finally {
      while (done-- > 0) this.#drop(at + 8 * done);
      this.#leave(at, n + 1);
    }
  }

  /**
   * Calls a guest function of the membrane's own. Of the first `refs` arguments, `[ref]`
   * is an object of the guest; the others are host values. The result is a host value, or
   * with `asRef` the ref of an object with a count, 0 when it is none.
   */
  help(f, args, asRef = false, refs = args.length) {
    const n = args.length;
    const at = this.#enter(n);
    let done = 0;
    try {
      for (; done < n; done++) {
        const arg = args[done];
        if (done < refs && typeof arg === "object" && arg !== null) this.#putRef(at + 8 * done, arg[0]);
        else this.#put(at + 8 * done, arg);
      }
      const bits = this.#e.JS_Call(this.#cx, this.#box(f), UNDEFINED_BITS, n, at);
      return asRef ? this.#takeRef(bits) : this.#take(bits);
    } finally {
      while (done-- > 0) this.#drop(at + 8 * done);
      this.#leave(at, n);
    }
  }

  /** Calls a guest function on a guest object. */
  callOn(f, self) {
    const at = this.#enter(1);
    try {
      this.#putRef(at, self);
      return this.#take(this.#e.JS_Call(this.#cx, this.#box(f), this.#b64[at >> 3], 0, 0));
    } finally {
      this.#drop(at);
      this.#leave(at, 1);
    }
  }

  get hasJobs() {
    return this.#e.qjs_is_job_pending() !== 0;
  }

  runJob() {
    const status = this.#e.JS_ExecutePendingJob(this.#rt, this.#out);
    this.#sync();
    if (status < 0) throw this.#thrown();
  }

  // Objects.

  get(ref, key) {
    const atom = this.#key(key);
    const bits = this.#e.JS_GetProperty(this.#cx, this.#box(ref), atom);
    this.#unkey(atom);
    return this.#take(bits);
  }

  /** The same for a property that is an object, which is wanted as a ref with a count. */
  getRef(ref, key) {
    const atom = this.#key(key);
    const bits = this.#e.JS_GetProperty(this.#cx, this.#box(ref), atom);
    this.#unkey(atom);
    return this.#takeRef(bits);
  }

  has(ref, key) {
    const atom = this.#key(key);
    const status = this.#e.JS_HasProperty(this.#cx, this.#box(ref), atom);
    this.#unkey(atom);
    return this.#answer(status);
  }

  delete(ref, key) {
    const atom = this.#key(key);
    const status = this.#e.JS_DeleteProperty(this.#cx, this.#box(ref), atom, 0);
    this.#unkey(atom);
    return this.#answer(status);
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
    const at = this.#enter(3);
    let done = 0;
    try {
      for (const part of [descriptor.value, descriptor.get, descriptor.set]) {
        this.#put(at + 8 * done, part);
        done++; // not before: what could not be written must not be given back
      }
      const atom = this.#key(key);
      const i = at >> 3;
      const status = this.#e.JS_DefineProperty(this.#cx, this.#box(ref), atom, this.#b64[i], this.#b64[i + 1], this.#b64[i + 2], flags);
      this.#unkey(atom);
      return this.#answer(status);
    } finally {
      while (done-- > 0) this.#drop(at + 8 * done);
      this.#leave(at, 3);
    }
  }

  /** Defines an ordinary own data property. */
  defineValue(ref, key, value) {
    const at = this.#enter(1);
    try {
      this.#put(at, value);
      const atom = this.#key(key);
      const status = this.#e.JS_DefinePropertyValue(this.#cx, this.#box(ref), atom, this.#b64[at >> 3], DATA);
      this.#unkey(atom);
      return this.#answer(status);
    } finally {
      this.#leave(at, 1);
    }
  }

  /** Defines elements `from` up to `to` of a list from those of a host list. */
  defineElements(ref, values, from, to) {
    for (let i = from; i < to; i++) this.defineValue(ref, i, values[i - from]);
  }

  /** An own property's descriptor, or undefined. No getter runs. */
  own(ref, key) {
    const atom = this.#key(key);
    try {
      return this.#ownAtom(ref, atom);
    } finally {
      this.#unkey(atom);
    }
  }

  #ownAtom(ref, atom) {
    // { int flags; JSValue value, getter, setter }
    const at = this.#enter(4);
    try {
      if (!this.#answer(this.#e.JS_GetOwnProperty(this.#cx, at, this.#box(ref), atom))) return undefined;
      const flags = this.#u32[at >> 2];
      const enumerable = (flags & ENUMERABLE) !== 0;
      const configurable = (flags & CONFIGURABLE) !== 0;
      try {
        if (flags & ACCESSOR) return { get: this.#read(at + 16), set: this.#read(at + 24), enumerable, configurable };
        return { value: this.#read(at + 8), writable: (flags & WRITABLE) !== 0, enumerable, configurable };
      } finally {
        for (const box of [at + 8, at + 16, at + 24]) this.#drop(box);
      }
    } finally {
      this.#leave(at, 4);
    }
  }

  /** Own keys, as Reflect.ownKeys lists them. */
  keys(ref) {
    this.#answer(this.#e.JS_GetOwnPropertyNames(this.#cx, this.#out, this.#out + 4, this.#box(ref), ALL_KEYS));
    const table = this.#u32[this.#out >> 2];
    const n = this.#u32[(this.#out >> 2) + 1];
    const keys = new Array(n);
    try {
      for (let i = 0; i < n; i++) keys[i] = this.#readKey(this.#u32[(table >> 2) + 2 * i + 1]);
    } finally {
      this.#e.JS_FreePropertyEnum(this.#cx, table, n);
      this.#sync();
    }
    return keys;
  }

  /** Whether an array is nothing but its elements, without holes. */
  isDense(ref) {
    const o = ref >> 2;
    const u32 = this.#u32;
    return ((u32[o + 2] ^ this.#arrayWord) & HEADER) === 0 && u32[o + 3] === this.#arrayShape && u32[u32[o + 4] >> 2] === u32[o + 8];
  }

  /** Reads the elements of a list that has no holes. */
  readElements(ref, values) {
    const n = this.#u32[(ref >> 2) + 8];
    for (let i = 0; i < n; i++) values.push(this.#read(this.#u32[(ref >> 2) + 7] + 8 * i));
  }

  /** Whether an object has neither accessors nor, unless it may, functions for values. */
  isData(ref, functions) {
    return this.#eachOwn(ref, (box) => {
      if ((this.#u32[box >> 2] & ACCESSOR) !== 0) return false;
      return functions || this.#u32[(box + 12) >> 2] !== OBJECT || !this.isFunction(this.#u32[(box + 8) >> 2]);
    });
  }

  /** Reads the own properties of an object that is data: `each(key, value, flags)`. */
  readOwn(ref, each) {
    this.#eachOwn(ref, (box, atom) => {
      each(this.#readKey(atom), this.#read(box + 8), this.#u32[box >> 2] & DATA);
      return true;
    });
  }

  /** Has a look at each own property's descriptor until one look says false. */
  #eachOwn(ref, look) {
    this.#answer(this.#e.JS_GetOwnPropertyNames(this.#cx, this.#out, this.#out + 4, this.#box(ref), ALL_KEYS));
    const table = this.#u32[this.#out >> 2];
    const n = this.#u32[(this.#out >> 2) + 1];
    const box = this.#enter(4);
    try {
      for (let i = 0; i < n; i++) {
        const atom = this.#u32[(table >> 2) + 2 * i + 1];
        if (!this.#answer(this.#e.JS_GetOwnProperty(this.#cx, box, this.#box(ref), atom))) continue;
        try {
          if (!look(box, atom)) return false;
        } finally {
          for (const part of [8, 16, 24]) this.#drop(box + part);
        }
      }
      return true;
    } finally {
      this.#leave(box, 4);
      this.#e.JS_FreePropertyEnum(this.#cx, table, n);
      this.#sync();
    }
  }

  /** The prototype as a ref with a count; 0 for null. */
  proto(ref) {
    return this.#takeRef(this.#e.JS_GetPrototype(this.#cx, this.#box(ref)));
  }

  setProto(ref, proto) {
    const at = this.#enter(1);
    if (proto === 0) this.#put(at, null);
    else {
      this.#u32[at >> 2] = proto;
      this.#u32[(at >> 2) + 1] = OBJECT;
    }
    const status = this.#e.JS_SetPrototype(this.#cx, this.#box(ref), this.#b64[at >> 3]);
    this.#leave(at, 1);
    return this.#answer(status);
  }

  extensible(ref) {
    return this.#answer(this.#e.JS_IsExtensible(this.#cx, this.#box(ref)));
  }

  preventExtensions(ref) {
    return this.#answer(this.#e.JS_PreventExtensions(this.#cx, this.#box(ref)));
  }

  // Making. Every ref comes with a count.

  newArray(values) {
    const n = values.length;
    const at = this.#enter(n);
    let done = 0;
    try {
      for (; done < n; done++) this.#put(at + 8 * done, values[done]);
      done = 0; // the engine takes the counts over
      return this.#takeRef(this.#e.JS_NewArrayFrom(this.#cx, n, at));
    } finally {
      while (done-- > 0) this.#drop(at + 8 * done);
      this.#leave(at, n);
    }
  }

  /** An object of a prototype; 0 makes it null. */
  newObject(proto) {
    if (proto !== 0) return this.#takeRef(this.#e.JS_NewObjectProto(this.#cx, this.#box(proto)));
    const at = this.#enter(1);
    this.#put(at, null);
    const bits = this.#b64[at >> 3];
    this.#leave(at, 1);
    return this.#takeRef(this.#e.JS_NewObjectProto(this.#cx, bits));
  }

  newPlainObject() {
    return this.#takeRef(this.#e.JS_NewObject(this.#cx));
  }

  /** A function that calls `hooks.onCall(id, …)`; for id 0, `hooks.onTrap`. */
  newFunction(id, length) {
    const digits = String(id);
    for (let i = 0; i < digits.length; i++) this.#u8[this.#text + i] = digits.charCodeAt(i);
    const box = this.#e.qjs_new_host_function(this.#text, digits.length, length);
    this.#sync();
    const failed = this.#u32[(box >> 2) + 1] === EXCEPTION;
    const ref = this.#u32[box >> 2];
    if (!failed) this.dup(ref);
    this.#e.qjs_free_value(box);
    if (failed) throw this.#thrown();
    return ref;
  }

  /** Lets `new` be used on a function. */
  makeConstructor(ref) {
    this.#e.JS_SetConstructorBit(this.#cx, this.#box(ref), 1);
  }

  /** A proxy, which keeps target and handler. */
  newProxy(target, handler) {
    const at = this.#enter(2);
    this.#u32[at >> 2] = target;
    this.#u32[(at >> 2) + 1] = OBJECT;
    const bits = this.#e.JS_NewProxy(this.#cx, this.#b64[at >> 3], this.#box(handler));
    this.#leave(at, 2);
    return this.#takeRef(bits);
  }

  /** The handler of a proxy as a ref with a count. */
  handlerOf(ref) {
    return this.#takeRef(this.#e.JS_GetProxyHandler(this.#cx, this.#box(ref)));
  }

  /** A symbol by the registry's key or with a description. */
  newSymbol(text, registered) {
    const code = utf8.encode(`${text}\0`);
    const at = this.#alloc(code.length);
    this.#u8.set(code, at);
    const bits = this.#e.JS_NewSymbol(this.#cx, at, registered ? 1 : 0);
    this.#e.wasm_free(at);
    return this.#takeRef(bits);
  }

  newDate(time) {
    return this.#takeRef(this.#e.JS_NewDate(this.#cx, time));
  }

  newBuffer(bytes) {
    const at = this.#alloc(bytes.length || 1);
    this.#u8.set(bytes, at);
    const bits = this.#e.JS_NewArrayBufferCopy(this.#cx, at, bytes.length);
    this.#e.wasm_free(at);
    return this.#takeRef(bits);
  }

  /** A view of a buffer's bytes, good until the next call of the engine; undefined when detached. */
  bytes(ref) {
    const at = this.#e.JS_GetArrayBuffer(this.#cx, this.#out, this.#box(ref));
    this.#sync();
    if (at === 0) {
      if (this.#e.JS_HasException(this.#cx)) this.#thrown();
      return undefined;
    }
    return this.#u8.subarray(at, at + this.#u32[this.#out >> 2]);
  }

  detach(ref) {
    this.#e.JS_DetachArrayBuffer(this.#cx, this.#box(ref));
  }

  // Kinds.

  /** The class of an object, as the engine calls it: "Object", "Map", "Generator". */
  classOf(ref) {
    const id = this.#e.JS_GetClassID(this.#box(ref));
    let name = this.#classes.get(id);
    if (name === undefined) {
      const atom = this.#e.JS_GetClassName(this.#rt, id);
      name = this.#take(this.#e.JS_AtomToValue(this.#cx, atom));
      this.#e.JS_FreeAtom(this.#cx, atom);
      this.#classes.set(id, name);
    }
    return name;
  }

  isFunction(ref) {
    return this.#e.JS_IsFunction(this.#cx, this.#box(ref)) !== 0;
  }

  isConstructor(ref) {
    return this.#e.JS_IsConstructor(this.#cx, this.#box(ref)) !== 0;
  }

  isProxy(ref) {
    return this.#e.JS_IsProxy(this.#box(ref)) !== 0;
  }

  /** Whether it is an array, or a proxy of one. */
  isArray(ref) {
    return this.#e.JS_IsArray(this.#box(ref)) !== 0;
  }

  // Limits.

  setLimits(memoryBytes, stackBytes) {
    this.#e.qjs_set_memory_limit(memoryBytes);
    this.#e.qjs_set_max_stack_size(stackBytes);
  }

  get memoryBytes() {
    return this.#e.qjs_get_allocated_size();
  }

  collect() {
    this.#e.JS_RunGC(this.#rt);
    this.#sync();
  }

  /** Differs after a call when something unwound a frame of the engine. */
  get stackPointer() {
    return this.#e.__stack_pointer.value;
  }

  /** Lets go of the instance. */
  stop() {
    this.hooks = { poll: () => true, over: () => true };
    this.#e = undefined;
    this.#u8 = this.#u16 = this.#u32 = this.#i32 = this.#b64 = undefined;
  }

  // The guest calls.

  /** Nothing may leave this by a throw: it would tear the engine's frames. */
  #hostCall(name, length, self, argc, argv) {
    const top = this.#top;
    this.answering++;
    try {
      this.#sync();
      let id = 0;
      for (let i = 0; i < length; i++) id = id * 10 + this.#u8[name + i] - 48;
      const result = id === 0 ? this.#trapCall(argc, argv >> 2) : this.#functionCall(id, self, argc, argv >> 2);
      const box = this.#alloc(8);
      this.#put(box, result);
      return box;
    } catch (error) {
      this.#top = top;
      return this.#raise(error);
    } finally {
      this.answering--;
    }
  }

  #raise(error) {
    try {
      const at = this.#enter(1);
      this.#put(at, error);
      if (this.hooks.over()) this.#e.JS_SetUncatchableError(this.#cx, this.#b64[at >> 3]);
      this.#e.JS_Throw(this.#cx, this.#b64[at >> 3]);
      this.#leave(at, 1);
    } catch {
      this.#e.JS_ThrowOutOfMemory(this.#cx);
    }
    return 0;
  }

  #functionCall(id, self, argc, argv) {
    const args = new Array(argc);
    for (let i = 0; i < argc; i++) args[i] = this.#read(this.#u32[argv + i]);
    return this.hooks.onCall(id, this.#read(self), args);
  }

  #trapCall(argc, argv) {
    const u32 = this.#u32;
    const op = this.#i32[u32[argv] >> 2];
    const id = this.#i32[u32[argv + 1] >> 2];
    const shadow = u32[u32[argv + 2] >> 2];
    const args = new Array(argc - 3);
    for (let i = 3; i < argc; i++) args[i - 3] = this.#read(this.#u32[argv + i]);
    return this.hooks.onTrap(op, id, shadow, args);
  }
}
