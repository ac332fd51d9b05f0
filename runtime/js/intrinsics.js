// The built-in objects of the host's realm, by the names that the guest's half of the
// membrane uses for its own.
import { ifAnswered, protoOf } from "./brand.js";

function* named() {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
    if (typeof value !== "function" || !Object.hasOwn(value, "prototype")) continue;
    yield [name, value];
    if (typeof value.prototype === "object" && value.prototype !== null) yield [`${name}.prototype`, value.prototype];
  }
  const typed = protoOf(Uint8Array.prototype);
  const generator = protoOf(function* () {});
  const asyncGenerator = protoOf(async function* () {});
  const asyncFunction = protoOf(async () => {});
  const arrayIterator = protoOf([].values());
  // biome-ignore lint/security/noGlobalEval: it is named here, never called
  yield ["eval", globalThis.eval];
  yield ["Function.prototype", Function.prototype];
  yield ["TypedArray", typed.constructor];
  yield ["TypedArray.prototype", typed];
  yield ["ArrayIterator", arrayIterator];
  yield ["Iterator.prototype", protoOf(arrayIterator)];
  yield ["MapIterator", protoOf(new Map().values())];
  yield ["SetIterator", protoOf(new Set().values())];
  yield ["StringIterator", protoOf(""[Symbol.iterator]())];
  yield ["RegExpStringIterator", protoOf("".matchAll(/a/g))];
  yield ["GeneratorFunction.prototype", generator];
  yield ["GeneratorFunction", generator.constructor];
  yield ["Generator", generator.prototype];
  yield ["AsyncGeneratorFunction.prototype", asyncGenerator];
  yield ["AsyncGeneratorFunction", asyncGenerator.constructor];
  yield ["AsyncGenerator", asyncGenerator.prototype];
  yield ["AsyncIterator", protoOf(asyncGenerator.prototype)];
  yield ["AsyncFunction.prototype", asyncFunction];
  yield ["AsyncFunction", asyncFunction.constructor];
}

/** The host's intrinsics as they are now: name -> object. */
export function hostIntrinsics() {
  return new Map(named());
}

/** Prototypes of iterators. */
export const iterators = new Set(["ArrayIterator", "MapIterator", "SetIterator", "StringIterator", "RegExpStringIterator", "Generator", "AsyncGenerator"]);

/** What compiles text as code. It never leaves its realm. */
export const compilers = new Set(["Function", "eval", "GeneratorFunction", "AsyncGeneratorFunction", "AsyncFunction"]);

// QuickJS asks a proxy for its name, which one of a sandbox that is gone refuses.
const sourceOf = (f) => ifAnswered(() => Function.prototype.toString.call(f)) ?? "";

/** Whether a function compiles source text, in whatever realm it is at home. */
export function compilesCode(value) {
  return /^function (eval|(Async)?(Generator)?Function)\(\) \{\s*\[native code\]\s*\}$/.test(sourceOf(value));
}

/** Whether a function is the host's own rather than the application's. */
export function isNative(value) {
  return /\{\s*\[native code\]\s*\}$/.test(sourceOf(value));
}

/** Whether `new` can be used on a value; what it makes is not made. */
export function isConstructor(value) {
  try {
    Reflect.construct(Object, [], value);
    return true;
  } catch {
    return false;
  }
}

/** Whether an object is the prototype that a class gives its instances. */
export function isClassPrototype(value) {
  const maker = Object.getOwnPropertyDescriptor(value, "constructor")?.value;
  return typeof maker === "function" && maker.prototype === value;
}
