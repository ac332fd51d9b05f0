// Values of the guest, as the engine lays them out in its memory.
//
// A guest value is 64 bits, with a tag in the high word. Primitives cross by writing and
// reading those words; an object or symbol is named by a *ref*: its address, negative
// for a symbol. A ref is good for as long as somebody holds a count on it. Views
// of the memory detach when it grows: after whatever may have grown it, `sync` comes
// first, and whoever is given one (`bytes`) uses it at once.
import {
  BIGINT,
  BOOL,
  EXCEPTION,
  FLOAT_BIAS,
  FRAME_BYTES,
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
  UNINITIALIZED,
} from "./layout.js";
import { arrayIndex } from "./keys.js";
import { textOf, utf8 } from "./text.js";

/** The half of the engine that knows memory: boxes, counts, strings and keys. */
export class Values {
  /**
   * What the membrane does for the engine:
   *
   * - `toRef(value)`: the ref of a host object, function or symbol, which stays counted
   * - `fromRef(ref)`: the host value of a guest object or symbol
   * - `onCall(id, self, args)`: the guest called a host function
   * - `onTrap(op, id, args)`: the trap of a host object's proxy asks
   * - `poll()`: whether the guest has to stop
   * - `over()`: whether it may not catch what is thrown at it
   * - `starved()`: whether it has hardly any memory left
   * - `uncatchable()`: the error for what guest code could not catch
   */
  hooks = { poll: () => false, over: () => false, starved: () => false };
  e; // exports
  cx; // JSContext*
  rt; // JSRuntime*
  u8;
  u16;
  u32;
  i32;
  b64;
  float = new Float64Array(1);
  floatWords = new Uint32Array(this.float.buffer);
  cell; // one box
  out; // out-parameters
  text;
  top; // of the boxes in use
  end;
  start; // of the boxes
  atoms = new Map(); // string -> atom
  names = new Map(); // atom -> string
  arrayWord; // what the headers of arrays without holes say
  arrayShape; // and of those without other properties

  /** @param saved what `saveValues` gave, of an engine whose memory this one has */
  constructor(exports, saved) {
    this.e = exports;
    if (saved !== undefined) {
      const { atoms, ...rest } = saved;
      Object.assign(this, rest);
      for (const [name, atom] of atoms) {
        this.atoms.set(name, atom);
        this.names.set(atom, name);
      }
      this.refresh();
      return;
    }
    exports._initialize();
    exports.qjs_init();
    exports.qjs_set_interrupt_handler(1);
    this.cx = exports.qjs_get_context_ptr();
    this.rt = exports.qjs_get_runtime_ptr();
    const block = (exports.wasm_malloc(64 + 2 * TEXT_UNITS + FRAME_BYTES) + 7) & ~7;
    this.cell = block;
    this.out = block + 8;
    this.text = block + 48;
    this.start = block + 48 + 2 * TEXT_UNITS;
    this.top = this.start;
    this.end = this.start + FRAME_BYTES - 8;
    this.refresh();
  }

  /** Where things are in the memory, as data. */
  saveValues() {
    const { cx, rt, cell, out, text, start, top, end, arrayWord, arrayShape } = this;
    return { cx, rt, cell, out, text, start, top, end, arrayWord, arrayShape, atoms: [...this.atoms] };
  }

  // Memory.

  refresh() {
    const { buffer } = this.e.memory;
    if (this.u8?.buffer === buffer) return;
    this.u8 = new Uint8Array(buffer);
    this.u16 = new Uint16Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.b64 = new BigInt64Array(buffer);
  }

  /** After every call that may have allocated. */
  sync() {
    if (this.u32.length === 0) this.refresh();
  }

  // A wrong guess about boxes would corrupt the heap without an error, so the guesses
  // are checked against what the engine itself makes.
  checkLayout() {
    const same = (value, source) => {
      const made = this.evalBits(source, "layout");
      this.b64[this.cell >> 3] = made;
      const [low, high] = [this.u32[this.cell >> 2], this.u32[(this.cell >> 2) + 1]];
      const back = this.read(this.cell);
      this.put(this.cell, value);
      const equal = this.u32[this.cell >> 2] === low && this.u32[(this.cell >> 2) + 1] === high;
      if (!Object.is(back, value) || !equal)
        throw new Error(`the engine holds ${source} as ${high.toString(16)}:${low.toString(16)}, which this runtime does not know`);
    };
    for (const value of [0, -1, 2147483647, 2147483648, 1.5, -1.5, Infinity, -Infinity, 5e-324]) same(value, String(value));
    same(-0, "-0");
    same(NaN, "NaN");
    same(true, "true");
    same(undefined, "undefined");
    same(null, "null");
    this.putBits(this.cell, this.evalBits("({})", "layout"));
    const at = this.u32[this.cell >> 2];
    const [tag, before] = [this.u32[(this.cell >> 2) + 1], this.count(at)];
    this.e.JS_DupValue(this.cx, this.box(at));
    if (tag !== OBJECT || before !== 1 || this.count(at) !== 2 || this.e.JS_NewAtomUInt32(this.cx, 5) >>> 0 !== (INDEX_ATOM | 5) >>> 0) {
      throw new Error("the engine lays out objects in a way which this runtime does not know");
    }
    this.free(at);
    this.free(at);
    this.checkArrays();
  }

  // Arrays are read where they lie, unless this build lays them out in another way.
  checkArrays() {
    const sample = this.takeRef(this.evalBits("[7, 8, 9]", "layout"));
    const o = sample >> 2;
    const [word, shape] = [this.u32[o + 2], this.u32[o + 3]];
    const at = this.u32[o + 7] >> 2;
    if (this.u32[o + 8] !== 3 || this.u32[this.u32[o + 4] >> 2] !== 3 || this.u32[at] !== 7 || this.u32[at + 2] !== 8 || this.u32[at + 4] !== 9) {
      throw new Error("the engine lays out arrays in a way which this runtime does not know");
    }
    this.arrayWord = word;
    this.arrayShape = shape; // the sample is kept, and so is its shape
  }

  alloc(bytes) {
    const at = this.e.wasm_malloc(bytes);
    this.sync();
    if (at === 0) throw this.hooks.uncatchable();
    return at;
  }

  /** Room for n boxes, given back by `leave` in reverse order. */
  enter(n) {
    const at = this.top;
    if (at + 8 * n <= this.end) {
      this.top = at + 8 * n;
      return at;
    }
    return this.alloc(8 * n);
  }

  leave(at) {
    if (at >= this.start && at <= this.end) this.top = at;
    else this.e.wasm_free(at);
  }

  /** The 64 bits of an object. */
  box(ref) {
    const i = this.cell >> 2;
    this.u32[i] = ref < 0 ? -ref : ref;
    this.u32[i + 1] = ref < 0 ? SYMBOL : OBJECT;
    return this.b64[this.cell >> 3];
  }

  dup(ref) {
    this.u32[((ref < 0 ? -ref : ref) >> 2) - 1]++;
    return ref;
  }

  free(ref) {
    const at = ((ref < 0 ? -ref : ref) >> 2) - 1; // the count is in front of the object
    if (this.u32[at] > 1) this.u32[at]--;
    else {
      this.e.JS_FreeValue(this.cx, this.box(ref));
      this.sync();
    }
  }

  /** How many hold an object. */
  count(ref) {
    return this.u32[(ref >> 2) - 1];
  }

  // Values.

  /** Writes a host value to a box, which then owns a count. */
  put(at, value) {
    const i = at >> 2;
    switch (typeof value) {
      case "number":
        if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
          this.i32[i] = value;
          this.u32[i + 1] = INT;
        } else if (Number.isNaN(value)) {
          this.u32[i] = 0;
          this.u32[i + 1] = NAN;
        } else {
          this.float[0] = value;
          this.u32[i] = this.floatWords[0];
          this.u32[i + 1] = this.floatWords[1] - FLOAT_BIAS;
        }
        return;
      case "boolean":
        this.u32[i] = value ? 1 : 0;
        this.u32[i + 1] = BOOL;
        return;
      case "undefined":
        this.u32[i] = 0;
        this.u32[i + 1] = UNDEFINED;
        return;
      case "string":
        this.putBits(at, this.newString(value));
        return;
      case "bigint":
        this.putBits(at, this.newBigInt(value));
        return;
    }
    if (value === null) {
      this.u32[i] = 0;
      this.u32[i + 1] = NULL;
      return;
    }
    this.putRef(at, this.hooks.toRef(value));
  }

  // A view that is named before the call that grows the memory is a detached one.
  putBits(at, bits) {
    this.b64[at >> 3] = bits;
  }

  putRef(at, ref) {
    const i = at >> 2;
    const address = ref < 0 ? -ref : ref;
    this.u32[(address >> 2) - 1]++;
    this.u32[i] = address;
    this.u32[i + 1] = ref < 0 ? SYMBOL : OBJECT;
  }

  /** The host value of a box, which keeps its count. */
  read(at) {
    const i = at >> 2;
    const high = this.u32[i + 1];
    if (high === INT) return this.i32[i];
    const low = this.u32[i];
    switch (high) {
      case OBJECT:
        return this.hooks.fromRef(low);
      case STRING:
      case ROPE:
        return this.readString(at);
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
        return BigInt(this.readString(at));
    }
    this.floatWords[0] = low;
    this.floatWords[1] = high + FLOAT_BIAS;
    return this.float[0];
  }

  /** Gives back a box's count. */
  drop(at) {
    const i = at >> 2;
    const high = this.u32[i + 1];
    if (high < BIGINT) return;
    const count = (this.u32[i] >> 2) - 1;
    if (this.u32[count] > 1 && high !== ROPE) this.u32[count]--;
    else {
      this.e.JS_FreeValue(this.cx, this.b64[at >> 3]);
      this.sync();
    }
  }

  /** The host value of what an export gave, or a throw of the guest's error. */
  take(bits) {
    this.sync();
    const at = this.enter(1);
    try {
      this.b64[at >> 3] = bits;
      const high = this.u32[(at >> 2) + 1];
      if (high === INT) return this.i32[at >> 2];
      if (high === EXCEPTION) throw this.thrown();
      try {
        return this.read(at);
      } finally {
        this.drop(at);
      }
    } finally {
      this.leave(at);
    }
  }

  /** The ref of an object that an export gave, with its count; 0 for null. */
  takeRef(bits) {
    this.sync();
    this.b64[this.cell >> 3] = bits;
    const high = this.u32[(this.cell >> 2) + 1];
    const low = this.u32[this.cell >> 2];
    if (high === OBJECT) return low;
    if (high === SYMBOL) return -low;
    if (high === EXCEPTION) throw this.thrown();
    this.drop(this.cell);
    return 0;
  }

  /** Whether an export that answers 1, 0 or -1 said yes. */
  answer(status) {
    this.sync();
    if (status < 0) throw this.thrown();
    return status !== 0;
  }

  /** Takes the pending error over as a host value. */
  thrown() {
    const bits = this.e.JS_GetException(this.cx);
    this.sync();
    const at = this.enter(1);
    try {
      this.b64[at >> 3] = bits;
      const high = this.u32[(at >> 2) + 1];
      // Out of memory may leave nothing at all.
      if (high === UNINITIALIZED || (high === NULL && this.hooks.starved()) || (high === OBJECT && this.e.JS_IsUncatchableError(bits)))
        return this.hooks.uncatchable();
      return this.read(at);
    } finally {
      this.drop(at);
      this.leave(at);
    }
  }

  newString(text) {
    const n = text.length;
    if (n <= TEXT_UNITS) {
      const at = this.text;
      const u8 = this.u8;
      let i = 0;
      for (; i < n; i++) {
        const unit = text.charCodeAt(i);
        if (unit > 127) break;
        u8[at + i] = unit;
      }
      return this.checked(i === n ? this.e.JS_NewStringLen(this.cx, at, n) : this.newWide(text, at));
    }
    const at = this.alloc(2 * n);
    const bits = this.newWide(text, at);
    this.e.wasm_free(at);
    return this.checked(bits);
  }

  newWide(text, at) {
    const u16 = this.u16;
    for (let i = 0, n = text.length; i < n; i++) u16[(at >> 1) + i] = text.charCodeAt(i);
    return this.e.JS_NewStringUTF16(this.cx, at, text.length);
  }

  /** What an export made, or a throw of the error in its place. */
  checked(bits) {
    this.sync();
    this.b64[this.cell >> 3] = bits;
    if (this.u32[(this.cell >> 2) + 1] === EXCEPTION) throw this.thrown();
    return bits;
  }

  readString(box) {
    const start = this.e.JS_ToCStringLenUTF16(this.cx, this.out, this.b64[box >> 3]);
    this.sync();
    if (start === 0) throw this.thrown();
    const n = this.u32[this.out >> 2];
    const units = this.u16.subarray(start >> 1, (start >> 1) + n);
    const text = textOf(units);
    this.e.JS_FreeCStringUTF16(this.cx, start);
    return text;
  }

  newBigInt(value) {
    if (BigInt.asIntN(64, value) === value) return this.checked(this.e.JS_NewBigInt64(this.cx, value));
    return this.evalBits(`${value}n`, "bigint"); // a literal needs no global
  }

  // Keys.

  /** A property key as an atom; `unkey` gives back those that are not kept. */
  key(key) {
    if (typeof key === "string") {
      const known = this.atoms.get(key);
      if (known !== undefined) return known;
      const index = arrayIndex(key);
      if (index >= 0) return (INDEX_ATOM | index) >>> 0;
      const bits = this.newString(key);
      const atom = this.e.JS_ValueToAtom(this.cx, bits) >>> 0;
      this.sync();
      this.b64[this.cell >> 3] = bits;
      this.drop(this.cell);
      if (atom === 0) throw this.thrown();
      if (this.atoms.size < MAX_ATOMS && key.length < 64) {
        this.atoms.set(key, atom);
        this.names.set(atom, key);
      }
      return atom;
    }
    if (typeof key === "number") return (INDEX_ATOM | key) >>> 0;
    const atom = this.e.JS_ValueToAtom(this.cx, this.box(this.hooks.toRef(key))) >>> 0;
    this.sync();
    if (atom === 0) throw this.thrown();
    return atom;
  }

  unkey(atom) {
    if (atom >= INDEX_ATOM || this.names.has(atom)) return;
    this.e.JS_FreeAtom(this.cx, atom);
  }

  readKey(atom) {
    if (atom >= INDEX_ATOM) return String(atom - INDEX_ATOM);
    const known = this.names.get(atom);
    if (known !== undefined) return known;
    const key = this.take(this.e.JS_AtomToValue(this.cx, atom));
    if (typeof key === "string" && this.names.size < MAX_ATOMS && key.length < 64) {
      this.e.JS_DupAtom(this.cx, atom);
      this.atoms.set(key, atom);
      this.names.set(atom, key);
    }
    return key;
  }

  /** Evaluates a script to 64 bits with a count. */
  evalBits(source, file) {
    // Null-terminated, which the lengths do not say.
    const code = utf8.encode(`${source}\0`);
    const name = utf8.encode(`${file}\0`);
    const at = this.alloc(code.length + name.length);
    this.u8.set(code, at);
    this.u8.set(name, at + code.length);
    const box = this.e.qjs_eval(at, code.length - 1, at + code.length, 0);
    this.e.wasm_free(at);
    return this.unbox(box);
  }

  /** Runs a script's bytecode, to the same. */
  runBits(bytecode) {
    const at = this.alloc(bytecode.length);
    bytecode.write(this.u8.subarray(at, at + bytecode.length));
    const box = this.e.qjs_eval_bytecode(at, bytecode.length);
    this.sync();
    this.u8.fill(0, at, at + bytecode.length); // it is the larger half of what an image would keep
    this.e.wasm_free(at);
    return this.unbox(box);
  }

  /** Takes the bits out of what an export gave, or throws the guest's error. */
  unbox(box) {
    this.sync();
    const bits = this.b64[box >> 3];
    const failed = this.u32[(box >> 2) + 1] === EXCEPTION;
    if (!failed && this.u32[(box >> 2) + 1] >= BIGINT) this.u32[(this.u32[box >> 2] >> 2) - 1]++;
    this.e.qjs_free_value(box);
    if (failed) throw this.thrown();
    return bits;
  }
}
