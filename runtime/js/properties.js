// Own properties of mirrors: copied, compared with what both sides had, and carried over
// by the smallest edits.
const { getOwnPropertyDescriptor, isExtensible, ownKeys } = Reflect;

/** What an object holds: key -> descriptor. */
export function hostProperties(value, skip) {
  const found = new Map();
  for (const key of ownKeys(value)) if (!skip?.(key)) found.set(key, getOwnPropertyDescriptor(value, key));
  return found;
}

/** The same of a guest's object, with the host's values. */
export function guestProperties(engine, ref, skip) {
  const found = new Map();
  for (const key of engine.keys(ref)) if (!skip?.(key)) found.set(key, engine.own(ref, key));
  return found;
}

export const isIndex = (key) => typeof key === "string" && /^(?:0|[1-9]\d*)$/.test(key);

export function sameDescriptor(a, b) {
  return (
    a !== undefined &&
    b !== undefined &&
    Object.is(a.value, b.value) &&
    a.get === b.get &&
    a.set === b.set &&
    a.writable === b.writable &&
    a.enumerable === b.enumerable &&
    a.configurable === b.configurable
  );
}

// A key that went and came again stands last. From the first that is out of place, all
// are taken out and put in anew.
// Indices have a place of their own.
function outOfPlace(now, base) {
  const before = [...base.keys()].filter((key) => now.has(key) && !isIndex(key));
  let i = 0;
  const found = [];
  for (const key of now.keys()) {
    if (isIndex(key)) continue;
    if (found.length === 0 && before[i] === key) i++;
    else if (i < before.length || found.length > 0) found.push(key);
  }
  return found;
}

/** Makes a guest's object hold what changed on the host's side since both had `base`. */
export function pushProperties(engine, ref, value, base, skip) {
  const now = hostProperties(value, skip);
  for (const key of base.keys()) if (!now.has(key)) engine.delete(ref, key);
  const moved = new Set(outOfPlace(now, base));
  for (const key of moved) engine.delete(ref, key);
  for (const [key, descriptor] of now) if (moved.has(key) || !sameDescriptor(descriptor, base.get(key))) engine.define(ref, key, descriptor);
  if (!isExtensible(value) && engine.extensible(ref)) engine.preventExtensions(ref);
  return now;
}

/** Makes a host's object hold what changed on the guest's side since both had `base`. */
export function pullProperties(engine, ref, value, base, skip) {
  const now = guestProperties(engine, ref, skip);
  for (const key of base.keys()) if (!now.has(key)) Reflect.deleteProperty(value, key);
  const moved = new Set(outOfPlace(now, base));
  for (const key of moved) Reflect.deleteProperty(value, key);
  for (const [key, descriptor] of now) if (moved.has(key) || !sameDescriptor(descriptor, base.get(key))) Reflect.defineProperty(value, key, descriptor);
  if (isExtensible(value) && !engine.extensible(ref)) Reflect.preventExtensions(value);
  return now;
}
