// Who carries out random operations on a pool of shared values. `actor` goes into the
// guest as source text, so it refers to nothing outside itself but its argument.
import { kit } from "./kit.js";

/** Makes a realm's actor out of its observer. An operation is numbers in an object. */
export function actor(K) {
  const MOST = 20; // values in a pool
  const slots = ["Date", "RegExp", "Map", "Set", "ArrayBuffer", "DataView", "Number"]; // of what is made here
  const constants = [0, 1, -0, Number.NaN, "s", "", null, undefined, true, 5n, 2.5, "a"];
  const keys = ["a", "b", "c", "0", "1", "3", "length", "name", "lastIndex", "message", Symbol.for("k")];
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";

  // V8 takes what inherits from the proxy of a function or array for one itself.
  const isParent = (v) => typeof v === "object" && v !== null && !Array.isArray(v);

  // Every error that an operation makes has a property; the engines' have words of their own.
  const isEngines = (error) => error instanceof Error && !Object.hasOwn(error, "a");

  // Bodies touch what they are given and nothing else.
  const functions = [
    () => (x) => x,
    () => (x) => {
      throw x;
    },
    () =>
      function (x) {
        return isObject(this) ? this : x;
      },
    () => (x, y) => [x, y],
    () => (x) => {
      if (isObject(x)) x.a = 1;
      return x;
    },
    () => (x, y) => ({ x, y }),
    () => (f, x) => (typeof f === "function" ? f(x) : x),
    () =>
      function Made(x) {
        if (new.target) this.n = x;
        return x;
      },
    () => (x) => touch(x),
    () => {
      let n = 0;
      return () => n++;
    },
    () => (f) => {
      try {
        return f();
      } catch (error) {
        return isEngines(error) ? "an error of the engine's" : error;
      }
    },
    () => (x) => isObject(x) && Reflect.deleteProperty(x, "a"),
    () => (x, i, list) => (Array.isArray(list) && list.length < 8 ? list.push(i) : x),
    () => (x) => !!x,
    () =>
      class Made {
        #own = 0;
        a = 1;
        constructor(x) {
          this.b = x;
        }
        up(x) {
          this.#own++;
          return x ?? this.#own;
        }
        get own() {
          return this.#own;
        }
        static of(x) {
          return new Made(x);
        }
      },
  ];
  const touch = (x) => {
    if (x instanceof Date) x.setTime(7);
    else if (x instanceof Map) x.set("touched", x.size);
    else if (x instanceof Set) x.add("touched");
    else if (Array.isArray(x)) x.length < 9 && x.push("touched");
    else if (isObject(x)) x.touched = true;
  };
  const makes = [
    () => ({}),
    (x, y) => ({ a: x, b: y }),
    (x, y) => [x, y],
    (_x, _y, n) => [1, 2, 3, n],
    (_x, _y, n) => new Date(n),
    (x, y) =>
      new Map([
        ["a", x],
        [y, 1],
      ]),
    (x, y) => new Set([x, y]),
    (x) => {
      const error = Object.assign(new TypeError("made"), { a: x });
      delete error.stack; // the engines' texts, wherever it stands when it inherits anew
      return error;
    },
    () => /a(b)?/g,
    (_x, _y, n) => new Uint8Array([n, 2, 3]),
    (_x, _y, n) => functions[n % functions.length](),
    (_x, _y, n) => functions[n % functions.length](),
    (x) => new (functions[14]())(x),
    (x) => Object.assign(Object.create(null), { c: x }),
    (x) => Object.freeze([x]),
    (x, _y, n) => Object.assign(Object(n), { a: x }),
    (x) => (isParent(x) ? Object.create(x) : {}),
    (x) => ({ a: [x, { b: [x] }], c: new Map([["deep", { x }]]) }),
    (x) => Object.assign(Object.assign(Array(3), [1]), { 2: x, extra: x }),
    () => new DataView(new ArrayBuffer(4)),
  ];
  const isOfClass = (v) => typeof v === "object" && Object.hasOwn(v, "constructor") && v.constructor?.prototype === v;
  const rank = (v) => (typeof v === "number" ? v || 0 : isObject(v) ? 100 : String(v).length);
  const lists = [
    (l, x) => l.length < 8 && l.push(x),
    (l) => l.pop(),
    (l) => l.shift(),
    (l, x) => l.length < 8 && l.unshift(x),
    (l) => l.reverse(),
    (l, x, _y, n) => l.splice(n % 3, 1, x),
    (l, _x, _y, n) => l.slice(n % 3),
    (l, x) => l.concat(x).length,
    (l, x) => l.indexOf(x),
    (l, x) => l.includes(x),
    (l) => l.sort((a, b) => rank(a) - rank(b)),
    (l, x, _y, n) => l.length < 9 && l.fill(x, n % 3),
    (l) => l.at(-1),
    (l) => [...l],
    (l) => l.flat(),
    (l, _x, _y, n) => {
      if (l.length < 9) l.length = n % 6;
    },
    (l) => l.findLast(isObject),
    (l) => Object.entries(l).length,
  ];
  const called = ["map", "filter", "forEach", "some", "find", "reduce", "flatMap", "every"];
  const maps = [
    (m, x, y) => m.size < 8 && m.set(x, y),
    (m, x) => m.get(x),
    (m, x) => m.delete(x),
    (m, x) => m.has(x),
    (m) => m.clear(),
    (m) => m.size,
    (m) => [...m.values()].at(-1),
    (m) => [...m.keys()][0],
    (m, x) => m.set("a", x),
    (m) => m.get("a"),
  ];
  const sets = [(s, x) => s.size < 8 && s.add(x), (s, x) => s.delete(x), (s, x) => s.has(x), (s) => s.clear(), (s) => [...s][0], (s) => s.size];
  const dates = [(d, n) => d.setTime(n), (d) => d.getTime(), (d) => d.setUTCHours(3), (d) => d.toISOString(), (d) => d.setTime(Number.NaN)];

  const operations = {
    make: ({ x, y, n, which }) => makes[which % makes.length](x, y, n),
    get: ({ o, key }) => o[key],
    set: ({ o, key, x }) => {
      o[key] = x;
    },
    put: ({ o, key, x }) => Reflect.set(o, key, x),
    receive: ({ o, key, x, y }) => Reflect.set(o, key, x, y),
    fetch: ({ o, key, y }) => Reflect.get(o, key, y),
    delete: ({ o, key }) => Reflect.deleteProperty(o, key),
    has: ({ o, key }) => key in o,
    own: ({ o, key }) => Object.hasOwn(o, key),
    define: ({ o, key, x, n }) => Reflect.defineProperty(o, key, { value: x, writable: !!(n & 1), enumerable: !!(n & 2), configurable: !!(n & 4) }),
    redefine: ({ o, key, n }) => Reflect.defineProperty(o, key, n & 1 ? { enumerable: !!(n & 2) } : { writable: !!(n & 2) }),
    accessor: ({ o, n }) =>
      Reflect.defineProperty(o, n & 1 ? "a" : "c", {
        get() {
          return this.b;
        },
        set(v) {
          this.b = v;
        },
        enumerable: !!(n & 2),
        configurable: true,
      }),
    keys: ({ o }) => Object.keys(o).join(),
    names: ({ o }) => Reflect.ownKeys(o).length - (o instanceof Error && Object.hasOwn(o, "stack") ? 1 : 0),
    describe: ({ o, key }) => {
      const d = Reflect.getOwnPropertyDescriptor(o, key);
      return d && [d.writable, d.enumerable, d.configurable, typeof d.get, typeof d.set].join();
    },
    prototype: ({ o }) => Object.getPrototypeOf(o),
    inherit: ({ o, x }) => Reflect.setPrototypeOf(o, isParent(x) ? x : null),
    // One engine seals typed arrays, whose elements cannot be.
    freeze: ({ o }) => !(o instanceof Uint8Array) && Object.freeze(o),
    seal: ({ o }) => !(o instanceof Uint8Array) && Object.seal(o),
    fix: ({ o }) => Reflect.preventExtensions(o),
    state: ({ o }) => [Object.isFrozen(o), Object.isSealed(o), Object.isExtensible(o)].join(),
    call: ({ f, x, y }) => f(x, y),
    apply: ({ f, o, x }) => Reflect.apply(f, o, [x]),
    construct: ({ f, x }) => new f(x),
    method: ({ o, x }) => o.up(x),
    list: ({ l, x, y, n, which }) => lists[which % lists.length](l, x, y, n),
    each: ({ l, f, which }) => l[called[which % called.length]](f),
    map: ({ m, x, y, which }) => maps[which % maps.length](m, x, y),
    eachOf: ({ m, f }) => m.forEach(f),
    member: ({ s, x, which }) => sets[which % sets.length](s, x),
    date: ({ d, n, which }) => dates[which % dates.length](d, n * 1000),
    exec: ({ r, n }) => r.exec(n & 1 ? "xabab" : "none")?.index,
    byte: ({ t, n }) => {
      t[n % 3] = n;
      return t[1] + t.length;
    },
    assign: ({ o, x }) => Object.assign(o, isObject(x) && Reflect.ownKeys(x).length < 8 ? x : { a: x }),
    spread: ({ o }) => ({ ...o }),
    instance: ({ o, f }) => o instanceof f,
    tag: ({ o }) => Object.prototype.toString.call(o),
    same: ({ o, x }) => Object.is(o, x),
    throw: ({ x }) => {
      throw x;
    },
  };
  // What an operation wants of the pool for each letter.
  const wanted = {
    o: isObject,
    f: (v) => typeof v === "function",
    l: Array.isArray,
    m: (v) => v instanceof Map,
    s: (v) => v instanceof Set,
    d: (v) => v instanceof Date,
    r: (v) => v instanceof RegExp,
    t: (v) => v instanceof Uint8Array,
  };
  const find = (pool, from, test) => {
    for (let i = 0; i < pool.length; i++) if (test(pool[(from + i) % pool.length])) return pool[(from + i) % pool.length];
    return undefined;
  };
  const pick = (pool, at) => (at < 0 || pool.length === 0 ? constants[Math.abs(at) % constants.length] : pool[at % pool.length]);

  const name = (v, pool) => {
    if (!isObject(v)) return K.show(v);
    const known = K.show(v);
    if (known.startsWith("%")) return known;
    const at = pool.indexOf(v);
    if (at >= 0) return `#${at}`;
    if (isEngines(v)) return K.show(Object.getPrototypeOf(v));
    // The other realm's is only read, by design.
    if (isOfClass(v)) return "the prototype of a class";
    if (pool.length < MOST) pool.push(v);
    return `new ${Object.prototype.toString.call(v)}`;
  };
  const step = (op, pool) => {
    const bound = { key: keys[op.key % keys.length], n: op.n, which: op.which, x: pick(pool, op.x), y: pick(pool, op.y) };
    // The engines have different errors for lengths that are none.
    if (bound.key === "length") bound.x = op.n % 6;
    for (const letter of Object.keys(wanted)) {
      bound[letter] = undefined;
      if (!op.wants.includes(letter)) continue;
      bound[letter] = find(pool, op.o, wanted[letter]);
      if (bound[letter] === undefined) return "nothing to do it to";
    }
    try {
      return name(operations[op.kind](bound), pool);
    } catch (error) {
      if (K.isRefusal(error)) throw error;
      return `throws ${name(error, pool)}`;
    }
  };
  return {
    /** Runs operations on a pool, to which it adds; says what each gave. */
    run(ops, pool) {
      const seen = [];
      for (const op of ops) seen.push(`${op.kind}: ${step(op, pool)}`);
      return seen;
    },
    /** The key that an operation means. */
    keyOf: (op) => String(keys[op.key % keys.length]),
    /** All that the pool holds, as text. */
    digest: (pool) => K.observe([...pool], slots),
  };
}

/** The library of the sandboxes in which half of the operations run. */
export const actorSource = `var __SANDBOXED_LIB__ = (() => {
  "use strict";
  const K = (${kit})();
  const one = (${actor})(K);
  return {
    turn: (json, given) => {
      const pool = [...given];
      const before = one.digest(pool);
      return { seen: one.run(JSON.parse(json), pool), before, pool };
    },
    alone: (json) => {
      const pool = [];
      const texts = [];
      for (const ops of JSON.parse(json)) texts.push(one.digest(pool), ...one.run(ops, pool));
      return [...texts, one.digest(pool)].join("\\n@ ");
    },
  };
})();`;
