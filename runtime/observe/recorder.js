// Records which names a script asks of the global object that the realm does not
// have, and which of the watched ones it uses. Evaluated before anything else, so
// that it works with intrinsics that no script has touched.
//
// Names that are absent from the global object are looked for in its prototype; that
// is where the recorder stands. It answers as an empty prototype would, with one
// difference that no trap can avoid: reading an undeclared name gives undefined
// instead of a ReferenceError.
((report, perPlace) => {
  const { defineProperty, get, has, set, setPrototypeOf } = Reflect;
  const global = globalThis;
  const ErrorHere = Error;
  const counts = { __proto__: null };
  const inherited = Object.prototype;

  // A library's own prepareStackTrace must neither see nor change this stack.
  const stack = () => {
    const prepare = ErrorHere.prepareStackTrace;
    if (prepare === undefined) return new ErrorHere().stack;
    ErrorHere.prepareStackTrace = undefined;
    try {
      return new ErrorHere().stack;
    } finally {
      ErrorHere.prepareStackTrace = prepare;
    }
  };

  const note = (operation, name) => {
    const key = operation + " " + name;
    const count = (counts[key] = (counts[key] || 0) + 1);
    if (count <= perPlace) report(operation, name, stack());
  };
  const absent = (key) => typeof key === "string" && !has(inherited, key);

  setPrototypeOf(
    global,
    new Proxy(
      { __proto__: inherited },
      {
        __proto__: null,
        has(target, key) {
          if (absent(key)) note("has", key);
          return has(target, key);
        },
        get(target, key, receiver) {
          if (absent(key)) note("get", key);
          return get(target, key, receiver);
        },
        set(target, key, value, receiver) {
          if (absent(key)) note("set", key);
          return set(target, key, value, receiver);
        },
      },
    ),
  );

  // Turns an own property of the global object into one that records its uses.
  return (name) => {
    let value = global[name];
    defineProperty(global, name, {
      get() {
        note("get", name);
        return value;
      },
      set(next) {
        note("set", name);
        value = next;
      },
      enumerable: false,
      configurable: true,
    });
  };
})
