// What both realms look at values with. `kit` goes into the guest as source text, so it
// refers to nothing outside itself but intrinsics.

/** Makes a realm's observer. What it says of a value is text, the same in every realm. */
export function kit() {
  const { getPrototypeOf, ownKeys, getOwnPropertyDescriptor, isExtensible, apply, construct } = Reflect;
  const call = (f, self, ...args) => apply(f, self, args);
  const getter = (proto, key) => getOwnPropertyDescriptor(proto, key).get;

  // Intrinsics by name: the objects of the globals below, their prototypes and methods.
  const names = new Map();
  const name = (value, text) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") if (!names.has(value)) names.set(value, `%${text}%`);
  };
  const members = (value, text) => {
    for (const key of ownKeys(value)) {
      const d = getOwnPropertyDescriptor(value, key);
      const label = `${text}.${typeof key === "symbol" ? `@@${key.description.slice(7)}` : key}`;
      if (typeof d.value === "function") name(d.value, label);
      if (d.get) name(d.get, `get ${label}`);
      if (d.set) name(d.set, `set ${label}`);
    }
  };
  const whole = (value, text) => {
    name(value, text);
    members(value, text);
    if (typeof value !== "function" || typeof value.prototype !== "object") return;
    name(value.prototype, `${text}.prototype`);
    members(value.prototype, `${text}.prototype`);
  };
  const errors = ["Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError"];
  const views = ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "Float32", "Float64", "BigInt64", "BigUint64"].map((k) => `${k}Array`);
  const classes = ["Object", "Function", "Array", "Date", "RegExp", "Map", "Set", "WeakMap", "WeakSet", "WeakRef", "Promise", "ArrayBuffer", "DataView"];
  const boxes = ["Number", "String", "Boolean", "BigInt", "Symbol"];
  for (const text of [...classes, ...boxes, ...errors, ...views, "Proxy", "Math", "JSON", "Reflect"]) if (globalThis[text]) whole(globalThis[text], text);
  const TypedArray = getPrototypeOf(Uint8Array);
  whole(TypedArray, "TypedArray");
  const arrayIterator = getPrototypeOf([].values());
  const generator = getPrototypeOf(function* () {});
  const asyncGenerator = getPrototypeOf(async function* () {});
  for (const [text, value] of [
    ["Iterator.prototype", getPrototypeOf(arrayIterator)],
    ["ArrayIterator", arrayIterator],
    ["MapIterator", getPrototypeOf(new Map().values())],
    ["SetIterator", getPrototypeOf(new Set().values())],
    ["StringIterator", getPrototypeOf(""[Symbol.iterator]())],
    ["GeneratorFunction.prototype", generator],
    ["Generator", generator.prototype],
    ["AsyncGeneratorFunction.prototype", asyncGenerator],
    ["AsyncGenerator", asyncGenerator.prototype],
    ["AsyncIterator", getPrototypeOf(asyncGenerator.prototype)],
    ["AsyncFunction.prototype", getPrototypeOf(async () => {})],
  ]) {
    name(value, text);
    members(value, text);
  }
  const strictArguments = Function('"use strict"; return arguments')();
  name(getOwnPropertyDescriptor(strictArguments, "callee").get, "ThrowTypeError");

  // Internal slots: a method that only their owner answers.
  const kindOfView = getter(TypedArray.prototype, Symbol.toStringTag);
  const slots = [
    ["Date", (v) => num(call(Date.prototype.getTime, v))],
    ["RegExp", (v) => (v === RegExp.prototype ? fail() : `${call(getter(RegExp.prototype, "source"), v)} ${flagsOf(v)}`)],
    ["Map", (v, show) => call(getter(Map.prototype, "size"), v) + entries(Map, v, (value, key) => `${show(key)}=>${show(value)}`)],
    ["Set", (v, show) => call(getter(Set.prototype, "size"), v) + entries(Set, v, (value) => show(value))],
    ["WeakMap", (v) => call(WeakMap.prototype.has, v, {}) || ""],
    ["WeakSet", (v) => call(WeakSet.prototype.has, v, {}) || ""],
    ["WeakRef", (v, show) => show(call(WeakRef.prototype.deref, v))],
    ["ArrayBuffer", (v) => bytes(v)],
    ["DataView", (v, show) => `${offset(DataView, v)} ${show(call(getter(DataView.prototype, "buffer"), v))}`],
    ["Number", (v) => num(call(Number.prototype.valueOf, v))],
    ["String", (v) => quote(call(String.prototype.valueOf, v))],
    ["Boolean", (v) => String(call(Boolean.prototype.valueOf, v))],
    ["BigInt", (v) => String(call(BigInt.prototype.valueOf, v))],
    ["Symbol", (v, show) => show(call(Symbol.prototype.valueOf, v))],
    ["Promise", (v) => !call(Promise.prototype.then, v, nothing, nothing) || ""],
  ];
  const nothing = () => {};
  const fail = () => {
    throw new TypeError("no slot");
  };
  const entries = (Class, v, line) => {
    const lines = [];
    call(Class.prototype.forEach, v, (value, key) => lines.push(line(value, key)));
    return `{${lines.join(", ")}}`;
  };
  const flagLetters = [
    ["hasIndices", "d"],
    ["global", "g"],
    ["ignoreCase", "i"],
    ["multiline", "m"],
    ["dotAll", "s"],
    ["unicode", "u"],
    ["unicodeSets", "v"],
    ["sticky", "y"],
  ];
  const flagsOf = (v) =>
    flagLetters.map(([key, letter]) => (getOwnPropertyDescriptor(RegExp.prototype, key) && call(getter(RegExp.prototype, key), v) ? letter : "")).join("");
  const offset = (Class, v) => `${call(getter(Class.prototype, "byteOffset"), v)}+${call(getter(Class.prototype, "byteLength"), v)}`;
  const bytes = (v) => {
    const length = call(getter(ArrayBuffer.prototype, "byteLength"), v);
    const resizable = call(getter(ArrayBuffer.prototype, "resizable"), v) ? ` of ${call(getter(ArrayBuffer.prototype, "maxByteLength"), v)}` : "";
    let sum = 0; // of a long one
    let text = "";
    let view;
    try {
      view = new Uint8Array(v);
    } catch {
      return "detached";
    }
    for (let i = 0; i < length; i++) if (i < 64) text += view[i].toString(16).padStart(2, "0");
    for (let i = 64; i < length; i++) sum = (sum * 31 + view[i]) | 0;
    return `${length}${resizable} ${text}${length > 64 ? ` ${sum}` : ""}`;
  };

  // Primitives.
  const num = (v) => (Object.is(v, -0) ? "-0" : String(v));
  const quote = (v) => {
    let text = "";
    for (let i = 0; i < v.length && i < 2000; i++) {
      const unit = v.charCodeAt(i);
      text += unit < 32 || unit > 126 || unit === 34 ? `\\u${unit.toString(16).padStart(4, "0")}` : v[i];
    }
    return v.length > 2000 ? `"${text}..." ${v.length}` : `"${text}"`;
  };
  const wellKnown = new Map(ownKeys(Symbol).map((key) => [Symbol[key], `@@${key}`]));
  const symbol = (v, known) => {
    if (wellKnown.has(v)) return wellKnown.get(v);
    if (Symbol.keyFor(v) !== undefined) return `Symbol.for(${quote(Symbol.keyFor(v))})`;
    if (!known.has(v)) known.set(v, known.size);
    return `Symbol${known.get(v)}(${v.description === undefined ? "" : quote(v.description)})`;
  };

  /** A primitive as text. */
  const show = (v, known = new Map()) => {
    if (typeof v === "number") return num(v);
    if (typeof v === "string") return quote(v);
    if (typeof v === "bigint") return `${v}n`;
    if (typeof v === "symbol") return symbol(v, known);
    if (v === null || v === undefined || typeof v === "boolean") return String(v);
    return names.get(v) ?? typeof v;
  };

  const isConstructor = (v) => {
    try {
      construct(Object, [], v);
      return true;
    } catch (error) {
      if (isRefusal(error)) throw error;
      return false;
    }
  };
  /** Whether an error is what a severed value answers with. */
  const isRefusal = (error) => {
    const text = typeof error === "object" && error !== null && typeof error.name === "string" ? error.name : "";
    return text.startsWith("Sandbox");
  };

  // `stack` is an engine's own; `caller` and `arguments` are V8's on sloppy functions; Node
  // numbers promises while somebody traces them.
  const skipped = (tag, key) =>
    (tag === "[object Error]" && (key === "stack" || key === "stackTraceLimit")) ||
    key === "caller" ||
    key === "arguments" ||
    (tag === "[object Promise]" && typeof key === "symbol" && /^(trigger_)?async_id_symbol$/.test(key.description));

  /** Everything reflection can tell of a value and of what it holds, as text; `kinds` are the slots to look for. */
  const observe = (root, kinds) => {
    const known = new Map(); // unique symbols
    const seen = new Map(); // object -> number
    const queue = [];
    const put = (v) => {
      if (v === null || (typeof v !== "object" && typeof v !== "function")) return show(v, known);
      if (names.has(v)) return names.get(v);
      if (!seen.has(v)) {
        seen.set(v, seen.size);
        queue.push(v);
      }
      return `#${seen.get(v)}`;
    };
    const property = (v, key) => {
      const d = getOwnPropertyDescriptor(v, key);
      const label = typeof key === "symbol" ? `[${symbol(key, known)}]` : quote(key).slice(1, -1);
      if (!d) return `${label}?`;
      const flags = (d.writable ? "w" : "") + (d.enumerable ? "e" : "") + (d.configurable ? "c" : "");
      if (d.get || d.set) return `${label}(${flags}) get ${put(d.get)} set ${put(d.set)}`;
      return `${label}${flags === "wec" ? "" : `(${flags})`}: ${put(d.value)}`;
    };
    const lines = [put(root)];
    for (let at = 0; at < queue.length; at++) {
      const v = queue[at];
      const tag = call(Object.prototype.toString, v);
      const parts = [`#${at} ${typeof v} ${tag} of ${put(getPrototypeOf(v))}`];
      if (Array.isArray(v)) parts.push("array");
      if (!isExtensible(v)) parts.push("fixed");
      if (typeof v === "function") parts.push(isConstructor(v) ? "constructor" : "no constructor");
      if (typeof v === "object") {
        // Most of these throw, and nobody reads where.
        const limit = Error.stackTraceLimit;
        Error.stackTraceLimit = 0;
        for (const [kind, look] of slots) {
          if (kinds && !kinds.includes(kind)) continue;
          try {
            parts.push(`[[${kind} ${look(v, put)}]]`);
          } catch (error) {
            if (isRefusal(error)) {
              Error.stackTraceLimit = limit;
              throw error;
            }
          }
        }
        Error.stackTraceLimit = limit;
        const kind = call(kindOfView, v);
        if (kind !== undefined) parts.push(`[[${kind} ${offset(TypedArray, v)} ${put(call(getter(TypedArray.prototype, "buffer"), v))}]]`);
      }
      let keys = ownKeys(v).filter((key) => !skipped(tag, key));
      if (call(kindOfView, v) !== undefined) keys = keys.filter((key) => typeof key === "symbol" || String(key >>> 0) !== key);
      if (typeof v === "function") keys = [...keys.filter((key) => typeof key === "string").sort(), ...keys.filter((key) => typeof key === "symbol")];
      lines.push(`${parts.join(" ")}; ${keys.map((key) => property(v, key)).join("; ")}`);
    }
    return lines.join("\n");
  };

  /** What a call gave: its value, or the class of what it threw. A refusal goes on. */
  const attempt = (body, known) => {
    try {
      const v = body();
      return show(v, known);
    } catch (error) {
      if (isRefusal(error)) throw error;
      return `throws ${kindOf(error)}`;
    }
  };
  const kindOf = (error) => {
    if (!(error instanceof Error)) return show(error);
    return names.get(getPrototypeOf(error)) ?? `${error.constructor.name}: ${error.message}`;
  };
  /** Some turns of the job queue. */
  const turns = async (n = 100) => {
    for (let i = 0; i < n; i++) await null;
  };
  /** What a promise has come to after some turns. */
  const outcome = async (promise) => {
    let text = "pending";
    let refusal;
    promise.then(
      (v) => {
        text = `fulfilled ${show(v)}`;
      },
      (error) => {
        if (isRefusal(error)) refusal = error;
        text = `rejected ${error instanceof Error ? kindOf(error) : show(error)}`;
      },
    );
    await turns();
    if (refusal) throw refusal;
    return text;
  };

  const compile = (source) => (0, eval)(`"use strict"; (${source}\n)`);
  /** The text of a row's observation: of everything, then of what its probe asks. */
  const look = (probe, value, bare) => {
    const text = bare ? "" : observe(value);
    if (!probe) return text;
    const more = compile(probe)(value, api);
    const join = (found) =>
      `${text}\n= ${Array.isArray(found) ? found.map((part) => (typeof part === "string" ? part : show(part))).join(" | ") : show(found)}`;
    return more instanceof Promise ? more.then(join) : join(more);
  };
  const api = { show, observe, attempt, kindOf, turns, outcome, compile, look, isRefusal };
  return api;
}

/** The library that the suite's sandboxes hold. */
export const librarySource = `var __SANDBOXED_LIB__ = (() => {
  "use strict";
  const K = (${kit})();
  let held;
  let kept;
  return {
    make: (source) => K.compile(source),
    hold: (source) => { held = K.compile(source); },
    held: () => held,
    heldInData: () => ({ list: [held], again: held }),
    giveHeld: (f) => f(held),
    throwHeld: () => { throw held; },
    isHeld: (v) => Object.is(v, held),
    keep: (v) => { kept = v; },
    isKept: (v) => Object.is(v, kept),
    id: (v) => v,
    same: (a, b) => Object.is(a, b),
    sameInData: (data, v) => Object.is(data.list[0], v) && Object.is(data.again, v),
    look: (probe, v, bare) => K.look(probe, v, bare),
    lookInData: (probe, data, bare) => K.look(probe, data.list[0], bare),
    lookAtGiven: (probe, f, bare) => K.look(probe, f(), bare),
    lookAtThrown: (probe, f, bare) => { try { f(); } catch (v) { return K.look(probe, v, bare); } return "nothing was thrown"; },
    lookAtHeld: (probe, bare) => K.look(probe, held, bare),
    act: (source, v) => { K.compile(source)(v, K); },
    actOnHeld: (source) => { K.compile(source)(held, K); },
    alone: (make, change, probe, bare) => { const v = K.compile(make); if (change) K.compile(change)(v, K); return K.look(probe, v, bare); },
    play: (source, theirs) => K.compile(source)(theirs, K),
    playAlone: (source) => K.compile(source)(K.compile, K),
  };
})();`;
