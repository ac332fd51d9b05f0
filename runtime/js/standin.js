/**
 * A proxy for a guest object that has behaviour: every trap asks the guest.
 *
 * @param target what brand checks see: a function, an array, an error or an object
 * @param guest `ask(helper, ...args)`, `apply(self, args)` and `construct(args)`
 */
export function makeStandIn(target, { ask, apply, construct }) {
  // A proxy may not hide what its target cannot lose: a function's prototype, an
  // array's length.
  const pinned = (key) => Reflect.getOwnPropertyDescriptor(target, key)?.configurable === false;
  return new Proxy(target, {
    apply: (_, self, args) => apply(self, args),
    construct: (_, args) => construct(args),
    // An error shows its stack without the guest being asked, also when it is gone.
    get: (_, key) => (key === "stack" && target instanceof Error ? target.stack : ask("get", key)),
    set: (_, key, value) => ask("set", key, value),
    has: (_, key) => ask("has", key) || pinned(key),
    deleteProperty: (_, key) => ask("delete", key),
    defineProperty: (_, key, descriptor) => "value" in descriptor && ask("set", key, descriptor.value),
    ownKeys: () => [...new Set([...ask("keys"), ...Reflect.ownKeys(target).filter(pinned)])],
    getOwnPropertyDescriptor: (_, key) => {
      const fixed = pinned(key) ? Reflect.getOwnPropertyDescriptor(target, key) : undefined;
      const [writable, enumerable] = ask("describe", key) ?? [];
      if (writable === undefined) return fixed;
      return { value: ask("get", key), writable, enumerable, ...(fixed && { writable: true, enumerable: fixed.enumerable }), configurable: !fixed };
    },
    getPrototypeOf: () => {
      const proto = ask("proto");
      return typeof proto === "string" ? globalThis[proto].prototype : proto;
    },
    // A frozen or re-parented stand-in would say what the guest's object is not.
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  });
}
