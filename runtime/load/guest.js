// What a recorded load has in its realm, evaluated before the library so that it works with
// intrinsics that the library has not touched.
(() => {
  const { defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const global = globalThis;
  const MakeProxy = Proxy;

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

    // Reads what a script has exported, as whoever lists it does: getters run.
    read(name) {
      const exported = global[name];
      if ((typeof exported !== "object" || exported === null) && typeof exported !== "function") return;
      // A polyfill may hand out the global object itself, whose properties are no exports.
      if (exported === global) return;
      const keys = ownKeys(exported);
      for (let i = 0; i < keys.length; i++) {
        if (typeof keys[i] === "symbol") continue;
        try {
          exported[keys[i]];
        } catch {
          // The next one.
        }
      }
    },
  };
})()
