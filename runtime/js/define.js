// Mends a realm of QuickJS: there a proxy throws "inconsistent" when it is given a property
// that can be written and not be configured, after its trap has done it.

/**
 * Puts functions that know of it in the place of those that define properties. It is
 * evaluated in the guest by its text, so that it uses nothing of this module.
 */
export function mendDefine() {
  const { apply, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const { is } = Object;
  const NativeProxy = Proxy;
  const define = Object.defineProperty;
  const INCONSISTENT = "proxy: inconsistent defineProperty";

  const isWrong = (error) => typeof error === "object" && error !== null && getOwnPropertyDescriptor(error, "message")?.value === INCONSISTENT;
  const isDone = (target, key, wanted) => {
    const own = getOwnPropertyDescriptor(target, key);
    return own !== undefined && own.writable === true && !own.configurable && (!("value" in wanted) || is(own.value, wanted.value));
  };
  // A proxy of a built-in function is as native as that to whoever looks.
  const instead = (owner, key, handler) => {
    const { value, ...rest } = getOwnPropertyDescriptor(owner, key);
    define(owner, key, { __proto__: null, ...rest, value: new NativeProxy(value, { __proto__: null, ...handler }) });
    return owner[key];
  };
  const mended = (result) => ({
    apply(native, self, args) {
      try {
        return apply(native, self, args);
      } catch (error) {
        if (!isWrong(error) || !isDone(args[0], args[1], args[2])) throw error;
        return result(args);
      }
    },
  });

  instead(
    Reflect,
    "defineProperty",
    mended(() => true),
  );
  const defineProperty = instead(
    Object,
    "defineProperty",
    mended((args) => args[0]),
  );
  instead(Object, "defineProperties", {
    apply(native, self, args) {
      try {
        return apply(native, self, args);
      } catch (error) {
        if (!isWrong(error)) throw error;
        const keys = ownKeys(args[1]);
        for (let i = 0; i < keys.length; i++) {
          if (getOwnPropertyDescriptor(args[1], keys[i])?.enumerable) defineProperty(args[0], keys[i], args[1][keys[i]]);
        }
        return args[0];
      }
    },
  });
}
