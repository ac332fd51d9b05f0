// The guest's half of a load check, evaluated before the library so that it works
// with intrinsics that the library has not touched.
(() => {
  const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const global = globalThis;
  const source = Function.prototype.toString;
  const startsWith = String.prototype.startsWith;
  const MakeProxy = Proxy;
  const text = String;

  // A stand-in for a host global: every property of it is another stand-in, calling
  // and constructing it gives one, and as a primitive it is the empty string. It
  // shows whether a library loads once it has the capability, not what it then does.
  const standIn = (name) => {
    const made = { __proto__: null };
    const self = new MakeProxy(function () {}, {
      get(target, key) {
        if (key === Symbol.toPrimitive) return () => "";
        if (key === Symbol.iterator) return function* () {};
        if (typeof key === "symbol" || key === "then") return undefined;
        if (key === "prototype") return target.prototype;
        return (made[key] ??= standIn(name + "." + key));
      },
      set(target, key, value) {
        made[key] = value;
        return true;
      },
      has: () => true,
      apply: () => standIn(name + "()"),
      construct: () => standIn("new " + name),
    });
    return self;
  };

  const typeOf = (value) => {
    if (typeof value !== "function") return value === null ? "null" : typeof value;
    return apply(startsWith, apply(source, value, []), ["class"]) ? "class" : "function";
  };

  // What every function has of its own tells nothing about a library.
  const builtin = { __proto__: null, length: true, name: true, prototype: true, arguments: true, caller: true };

  return {
    // Reports whether the name is a stand-in now.
    grant(name) {
      if (getOwnPropertyDescriptor(global, name) !== undefined) return false;
      const aliases = { __proto__: null, window: true, self: true, global: true, globalThis: true };
      defineProperty(global, name, {
        value: aliases[name] ? global : standIn(name), writable: true, enumerable: false, configurable: true,
      });
      return true;
    },

    inspect(name) {
      const exported = global[name];
      const list = [typeOf(exported)];
      const holds = (typeof exported === "object" && exported !== null) || typeof exported === "function";
      let mark = false;
      if (holds) {
        const descriptor = getOwnPropertyDescriptor(exported, "__esModule");
        mark = descriptor !== undefined && descriptor.value === true;
      }
      list[1] = text(mark);
      // A polyfill may hand out the global object itself. Its properties are the realm's,
      // not exports, and another realm has others.
      if (!holds || exported === global) return list;
      const keys = ownKeys(exported);
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (typeof key === "symbol" || key === "__esModule" || (typeof exported === "function" && builtin[key])) continue;
        let type;
        try {
          type = typeOf(exported[key]);
        } catch {
          type = "accessor that throws";
        }
        list[list.length] = key;
        list[list.length] = type;
      }
      return list;
    },
  };
})()
