// The host's half of a load check, evaluated in the realm of the embedded host: it loads a
// library in a sandbox, as an application would, with stand-ins for what it is granted.
((SandboxManager, { SandboxDeadError, SandboxError, SandboxLimitError }) => {
  const { apply, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const { toString } = Object.prototype;
  const hasWeakKey = WeakMap.prototype.has;
  const hasWeakMember = WeakSet.prototype.has;

  // A stand-in for a host global: every property of it is another stand-in, calling
  // and constructing it gives one, and as a primitive it is the empty string. It
  // shows whether a library loads once it has the capability, not what it then does.
  const standIn = (name) => {
    const made = { __proto__: null };
    return new Proxy(function () {}, {
      get(target, key) {
        if (key === Symbol.toPrimitive) return () => "";
        if (key === Symbol.iterator) return function* () {};
        if (typeof key === "symbol" || key === "then") return undefined;
        if (key === "prototype") return target.prototype;
        return (made[key] ??= standIn(`${name}.${key}`));
      },
      set(target, key, value) {
        made[key] = value;
        return true;
      },
      has: () => true,
      apply: () => standIn(`${name}()`),
      construct: () => standIn(`new ${name}`),
    });
  };

  // The runtime gives a facade of these, which insists on what they are.
  const crypto = {
    getRandomValues(array) {
      for (let i = 0; i < array.length; i++) array[i] = Math.floor(256 * Math.random());
      return array;
    },
    randomUUID: () => "00000000-0000-4000-8000-000000000000",
  };
  const globals = new Set(["window", "self", "frames", "global", "globalThis"]);
  const capability = (name) => (globals.has(name) ? globalThis : name === "crypto" ? crypto : standIn(name));

  const passes = (test) => {
    try {
      return test();
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      return false; // it has not the slots, or a getter of the library's own throws
    }
  };

  const typeOf = (value) => {
    if (value === null) return "null";
    if (typeof value === "object") {
      // What does not cross as it is has a name of its own.
      if (passes(() => apply(hasWeakKey, value, [value]) || true)) return "WeakMap";
      if (passes(() => apply(hasWeakMember, value, [value]) || true)) return "WeakSet";
      if (passes(() => !(Symbol.toStringTag in value) && apply(toString, value, []) === "[object Arguments]")) return "Arguments";
      return "object";
    }
    if (typeof value !== "function") return typeof value;
    try {
      return `${value}`.startsWith("class") ? "class" : "function";
    } catch {
      return "function"; // a toString of the library's own
    }
  };

  // What every function has of its own tells nothing about a library.
  const builtin = { __proto__: null, length: true, name: true, prototype: true, arguments: true, caller: true };

  // The type of the whole, its __esModule mark, then name and type by turns.
  const inspect = (exported) => {
    if (Object(exported) !== exported) return [typeOf(exported), "false"];
    const list = [typeOf(exported), String(getOwnPropertyDescriptor(exported, "__esModule")?.value === true)];
    // A polyfill may hand out the global object itself. Its properties are the realm's,
    // not exports, and another realm has others.
    if (getOwnPropertyDescriptor(exported, "globalThis")?.value === exported) return list;
    for (const key of ownKeys(exported)) {
      if (typeof key === "symbol" || key === "__esModule" || (typeof exported === "function" && builtin[key])) continue;
      let type;
      try {
        type = typeOf(exported[key]);
      } catch (error) {
        if (error instanceof SandboxError) throw error;
        type = "accessor that throws";
      }
      list.push(key, type);
    }
    return list;
  };

  const text = (read) => {
    try {
      return String(read());
    } catch {
      return "";
    }
  };

  /** What happened: "ok" and a list, or the kind of failure and what there is to say. */
  const attempt = (body) => {
    try {
      return ["ok", ...body()];
    } catch (error) {
      if (error instanceof SandboxLimitError || error instanceof SandboxDeadError) return [error.limit === "fault" ? "crashed" : "limit", error.limit, error.message];
      let thrown = error;
      if (error instanceof SandboxError) {
        if (!Object.hasOwn(error, "cause")) return [/ did not assign /.test(error.message) ? "missing" : "crashed", "", error.message];
        thrown = error.cause;
      }
      if (!(thrown instanceof Error)) return ["threw", "", text(() => thrown), ""];
      const stack = text(() => thrown.stack);
      const frames = stack.search(/^\s+at /m);
      return ["threw", text(() => thrown.name), text(() => thrown.message), frames < 0 ? "" : stack.slice(frames)];
    }
  };

  let sandbox;
  return {
    load(name, code, memoryMB, stackKB, timeoutMs, ...permissions) {
      return attempt(() => {
        const capabilities = Object.fromEntries(permissions.map((granted) => [granted, capability(granted)]));
        // A stand-in has what it is asked for, and lists nothing.
        sandbox = SandboxManager.createSandboxSync(name, code, { permissions, capabilities, reads: "exact", results: "live", limits: { memoryMB, stackKB, timeoutMs } });
        return [];
      });
    },
    exports: () => attempt(() => inspect(sandbox.exports)),
    workload: (name, code) =>
      attempt(() => {
        sandbox.loadWorkload(name, code);
        return [];
      }),
    workloadExports: (name) => attempt(() => inspect(sandbox.loadWorkload(name, ""))),
    end: () =>
      attempt(() => {
        sandbox.dispose();
        return [];
      }),
    memory: () => attempt(() => [String(sandbox.stats().memoryBytes)]),
  };
})
