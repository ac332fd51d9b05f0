// Mends the realm of the embedded host: QuickJS shows an accessor that the trap of a
// proxy describes as data that is undefined. Whatever asks for descriptors is told the
// truth here. It is imported before anything that holds on to what it puts in place.
import { mendDefine } from "./define.js";

const { apply, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const NativeProxy = Proxy;

const made = new WeakMap(); // proxy -> its target and handler

// A proxy of a built-in function is as native as that is to whoever looks.
function instead(owner, key, handler) {
  const descriptor = getOwnPropertyDescriptor(owner, key);
  defineProperty(owner, key, { ...descriptor, value: new NativeProxy(descriptor.value, handler) });
}

function described(value, key) {
  const seen = getOwnPropertyDescriptor(value, key);
  if (seen === undefined || !("value" in seen) || seen.value !== undefined) return seen;
  const parts = made.get(value);
  if (parts === undefined) return seen;
  const [target, handler] = parts;
  const trap = handler.getOwnPropertyDescriptor;
  const told = trap === undefined || trap === null ? described(target, key) : apply(trap, handler, [target, key]);
  if (told === undefined || !("get" in told || "set" in told)) return seen;
  return { get: told.get, set: told.set, enumerable: seen.enumerable, configurable: seen.configurable };
}

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const keyOf = (key) => (typeof key === "symbol" ? key : ownKeys({ [key]: 0 })[0]);

instead(globalThis, "Proxy", {
  construct(_, [target, handler]) {
    const proxy = new NativeProxy(target, handler);
    made.set(proxy, [target, handler]);
    return proxy;
  },
});
for (const owner of [Object, Reflect]) {
  instead(owner, "getOwnPropertyDescriptor", {
    apply: (native, self, args) => (made.has(args[0]) ? described(args[0], keyOf(args[1])) : apply(native, self, args)),
  });
}
instead(Object, "getOwnPropertyDescriptors", {
  apply(native, self, args) {
    if (!made.has(args[0])) return apply(native, self, args);
    const found = {};
    for (const key of ownKeys(args[0])) {
      const value = described(args[0], key);
      if (value !== undefined) defineProperty(found, key, { value, writable: true, enumerable: true, configurable: true });
    }
    return found;
  },
});
for (const [name, part] of [
  ["__lookupGetter__", "get"],
  ["__lookupSetter__", "set"],
]) {
  instead(Object.prototype, name, {
    apply(native, self, args) {
      if (!isObject(self)) return apply(native, self, args);
      const key = keyOf(args[0]);
      for (let at = self; at !== null; at = getPrototypeOf(at)) {
        const found = described(at, key);
        if (found !== undefined) return found[part];
      }
      return undefined;
    },
  });
}
mendDefine();
