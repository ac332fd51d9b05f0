// What a guest may do to a host object or function that it was given: use it, but not
// reach through it for what belongs to the whole host realm.

/** The answer for what the guest has of its own: it looks there instead. */
export const ABSENT = Symbol("absent");

const protoOf = Object.getPrototypeOf;

// Every realm's own, so that they are never a host's: hasOwnProperty, bind, constructor.
const basePrototypes = new Set([Object.prototype, Function.prototype, protoOf(async () => {}), protoOf(function* () {}), protoOf(async function* () {})]);

// Prototypes and namespaces that were reached or granted. The application shares them
// with everything else, so the guest only reads them.
const shared = new WeakSet();

/** Marks a granted value that is no instance of anything, such as Intl, as read-only. */
export function shareNamespace(value) {
  if (typeof value !== "object" || value === null) return;
  const proto = protoOf(value);
  if (proto === null || proto === Object.prototype || !Object.hasOwn(proto, "constructor")) shared.add(value);
}

/** Whether a function is one that compiles source text, in whatever realm it is at home. */
export function compilesCode(value) {
  return (
    typeof value === "function" && /^function (eval|(Async)?(Generator)?Function)\(\) \{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(value))
  );
}

function isShared(target, key) {
  if (key === "__proto__" || typeof target === "function" || shared.has(target)) return true;
  const maker = Object.hasOwn(target, "constructor") ? target.constructor : undefined;
  return typeof maker === "function" && maker.prototype === target;
}

function share(value) {
  if (typeof value === "object" && value !== null) shared.add(value);
  return value;
}

function get(target, key) {
  let owner = target;
  while (owner !== null && !Object.hasOwn(owner, key)) owner = protoOf(owner);
  if (basePrototypes.has(owner)) return ABSENT;
  return key === "prototype" ? share(target[key]) : target[key];
}

/** Does one operation of a guest on a host object; ABSENT sends it back to its own. */
export function reflect(op, target, key, value) {
  switch (op) {
    case "get":
      return get(target, key);
    case "set":
      return !isShared(target, key) && Reflect.set(target, key, value);
    case "delete":
      return !isShared(target, key) && Reflect.deleteProperty(target, key);
    case "has":
      return Reflect.has(target, key);
    case "keys":
      return Reflect.ownKeys(target);
    case "proto":
      return share(protoOf(target));
    default:
      return Reflect.getOwnPropertyDescriptor(target, key)?.enumerable;
  }
}
