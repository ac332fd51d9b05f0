// Which values cross by copy, and small things that copying needs.

/** The well-known symbols with their names on Symbol. */
export const wellKnown = new Map(
  Object.getOwnPropertyNames(Symbol)
    .filter((name) => typeof Symbol[name] === "symbol")
    .map((name) => [Symbol[name], name]),
);

const typedArrays = ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "Float16", "Float32", "Float64", "BigInt64", "BigUint64"].map(
  (name) => `${name}Array`,
);
/** Built-in classes whose immediate instances cross by copy, errors aside. */
export const brands = new Set([...typedArrays, "Object", "Array", "Date", "RegExp", "Map", "Set", "ArrayBuffer", "DataView", "Arguments"]);
/** Those of them that box a primitive. */
export const boxes = new Set(["Number", "String", "Boolean", "BigInt", "Symbol"]);
for (const name of boxes) brands.add(name);

const brandOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const isPlain = (value) => [null, Object.prototype].includes(Object.getPrototypeOf(value));

/** The built-in class that a host value is an immediate instance of, if it crosses by copy. */
export function copyBrand(value) {
  if (Array.isArray(value)) return Object.getPrototypeOf(value) === Array.prototype ? "Array" : undefined;
  const brand = brandOf(value);
  if (brand === "Arguments") return isPlain(value) ? brand : undefined;
  // What has hidden or symbol keys, as prototypes of classes do, is more than data.
  if (brand === "Object") return isPlain(value) && Reflect.ownKeys(value).length === Object.keys(value).length ? brand : undefined;
  return brands.has(brand) && Object.getPrototypeOf(value) === globalThis[brand]?.prototype ? brand : undefined;
}

/** A target for stand-ins of functions: only what can be constructed lets a proxy be. */
// biome-ignore lint/complexity/useArrowFunction: an arrow function cannot be constructed
export const constructible = () => function () {};

/** A stack without the frames of the guest half, which would only distract. */
export function guestFrames(stack) {
  return String(stack ?? "")
    .split("\n")
    .filter((line) => !/sandbox-guest\.js|^\s*at apply \(native\)$/.test(line))
    .join("\n");
}

/** Sets a property, never by assignment: a key such as __proto__ would make that something else. */
export function define(object, key, value, enumerable = true) {
  Object.defineProperty(object, key, { value, writable: true, enumerable, configurable: true });
}
