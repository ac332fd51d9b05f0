// The values that a host gives to a hostile program, and what it keeps from it.
import { briefly } from "./realm.js";

/** The property by which anything that a guest must not have tells on it. */
export const MARK = "__hostile__";

// Compiled from text, because a module has no sloppy functions: one whose `this` is the
// global object when none is given, one whose arguments and caller can be asked for
// while it runs, and a caller of it.
const sloppyThis = Function("return this");
const sloppyCall = Function("kept", "f", "return f()");
const withScope = Function("scope", "with (scope) { return typeof answer; }");

/** Nobody waits for most of what the programs make; its failures are no news. */
function hush(v) {
  if (v instanceof Promise) Promise.prototype.then.call(v, undefined, () => {});
  return v;
}

/**
 * @param {(how: string) => void} tell is told of everything that the guest got hold of
 */
export function makeLoot(tell) {
  /** Marks an object as one that the guest must not reach. */
  const secretly = (object, what) => {
    Object.defineProperty(object, MARK, { value: () => tell(what), configurable: true });
    return object;
  };
  const secret = secretly({ word: "the secret" }, "a secret object");
  const vault = new WeakMap();
  const given = { n: 1 };

  class Base {
    inherited() {
      return "base";
    }
    get base() {
      return this;
    }
  }
  class Thing extends Base {
    #secret = secret;
    static kept = 1;
    field = 1;
    method(x) {
      return x;
    }
    get accessor() {
      return this.field;
    }
    set accessor(value) {
      this.field = value;
    }
    isThing(x) {
      return #secret in x && x.#secret === secret;
    }
    fails() {
      throw Object.assign(new TypeError("it failed", { cause: new RangeError("deeper") }), { detail: { n: 1 } });
    }
    static make() {
      return new Thing();
    }
    static *[Symbol.iterator]() {
      yield 1;
    }
  }
  const instance = new Thing();
  vault.set(instance, secret);
  function* generator() {
    const got = yield 1;
    yield got;
  }
  async function* asyncGenerator() {
    try {
      const got = yield 1;
      yield got;
    } finally {
      vault.get(instance);
    }
  }
  const kept = []; // what the guest made the host keep
  const outer = Function("inner", "secret", "f", "return inner(secret, f)");

  const x = {
    object: { a: 1, nested: { b: 2 }, list: [1, 2, 3] },
    array: [3, 1, 2],
    instance,
    Thing,
    Base,
    nullProto: Object.assign(Object.create(null), { a: 1 }),
    frozen: Object.freeze({ a: 1, deep: { b: 1 } }),
    fn(...args) {
      return args.length;
    },
    arrow: (v) => v,
    bound: function bound() {
      return this;
    }.bind(given),
    sloppyThis,
    receiver() {
      return this;
    },
    generator,
    iterator: generator(),
    asyncFunction: async (v) => hush(v),
    asyncGenerator,
    asyncIterator: asyncGenerator(),
    promise: Promise.resolve(given),
    rejected: () => Promise.reject(new TypeError("rejected")),
    later: (f) => hush(Promise.resolve(given).then(f)),
    date: new Date(0),
    regexp: /a(b)?/g,
    map: new Map([["k", given]]),
    set: new Set([given]),
    weakMap: new WeakMap([[given, 1]]),
    weakRef: new WeakRef(given),
    error: Object.assign(new TypeError("an error", { cause: new Error("its cause") }), { field: 1 }),
    aggregate: new AggregateError([new Error("one")], "several"),
    bytes: new Uint8Array([1, 2, 3]),
    buffer: new ArrayBuffer(8),
    view: new DataView(new ArrayBuffer(8)),
    boxed: Object("text"),
    symbol: Symbol("given"),
    big: 12345678901234567890n,
    args: (function () {
      // biome-ignore lint/complexity/noArguments: an arguments object is what is wanted
      return arguments;
    })(1, 2),
    proxy: new Proxy({ a: 1 }, {}),
    compiler: Function,
    indirectEval: globalThis.eval,
    get lazily() {
      return given;
    },
    set lazily(value) {
      kept.push(value);
    },
    fails() {
      throw new TypeError("no", { cause: new Error("why") });
    },
    failsDeep() {
      const nest = (n) => (n === 0 ? null.field : nest(n - 1));
      return nest(5);
    },
    calls: (f, ...args) => f(...args),
    callsOn: (f, self, ...args) => Reflect.apply(f, self, args),
    // The guest's function runs while host functions that know the secret are on the stack.
    sloppyCall,
    callsSecretly: (f) => outer(sloppyCall, secret, f),
    keep: (v) => kept.push(hush(v)),
    kept: () => kept.length,
    returns: (i) => kept[i],
    use: (how, v) => use(how, v, given),
  };
  return { x, secret, secretly, kept, given, watched: watched(Thing, Base) };
}

/** Host objects that no program may change: every instance of the application shares them. */
function watched(Thing, Base) {
  return new Map([
    [Thing.prototype, "Thing.prototype"],
    [Base.prototype, "Base.prototype"],
  ]);
}

// What applications do with a value that a library gave them; each runs the library's
// code if it can.
const uses = {
  text: (v) => String(v),
  number: (v) => Number(v),
  concat: (v) => `${v}`,
  plus: (v) => v + 1,
  // biome-ignore lint/suspicious/noDoubleEquals: it converts, which is what is wanted
  equal: (v) => v == 1,
  json: (v) => JSON.stringify({ v }),
  spread: (v) => ({ ...v }),
  spreadList: (v) => [...v],
  from: (v) => Array.from(v),
  keys: (v) => Object.keys(v),
  entries: (v) => Object.entries(v),
  assign: (v) => Object.assign({}, v),
  fromEntries: (v) => Object.fromEntries(v),
  forIn: (v) => {
    let keys = "";
    for (const key in v) keys += key;
    return keys;
  },
  call: (v) => v(),
  construct: (v) => new v(),
  extends: (v) => new (class extends v {})(),
  super: (v) =>
    new (class extends v {
      constructor() {
        super(1);
        this.own = 1;
      }
    })(),
  instanceOf: (v, given) => given instanceof v,
  isInstance: (v) => v instanceof Object,
  sort: (v) => [2, 1].sort(v),
  map: (v, given) => [given].map(v),
  species: (v) => Array.prototype.map.call(v, (n) => n),
  concatLists: (v) => [1].concat(v),
  flat: (v) => [v].flat(),
  replace: (v) => "aba".replace("a", v),
  split: (v) => "a,b".split(v),
  match: (v) => "ab".match(v),
  search: (v) => "ab".search(v),
  regexp: (v) => RegExp.prototype.test.call(v, "ab"),
  mapOf: (v) => new Map(v),
  setOf: (v) => new Set(v),
  weak: (v) => new WeakMap([[v, 1]]),
  all: (v) => Promise.all(v),
  resolve: (v) => Promise.resolve(v),
  await: async (v) => await v,
  race: (v) => Promise.race([v]),
  forAwait: async (v) => {
    for await (const item of v) return item;
  },
  handler: (v, given) => Reflect.get(new Proxy({ ...given }, v), "n"),
  handlerSet: (v) => Reflect.set(new Proxy({}, v), "n", 1),
  proto: (v) => Object.create(v).toString(),
  define: (v) => Object.defineProperty({}, "n", v),
  defineAll: (v) => Object.defineProperties({}, v),
  cause: (v) => new Error("with", v).cause,
  date: (v) => new Date(v),
  bytes: (v) => new Uint8Array(v),
  index: (v, given) => given[v],
  template: (v) => String.raw(v, 1),
  isArray: (v) => Array.isArray(v),
  tag: (v) => Object.prototype.toString.call(v),
  with: (v) => withScope(v),
  message: (v) => briefly(v),
  reflect: (v) => [Reflect.ownKeys(v), Reflect.getPrototypeOf(v), Reflect.isExtensible(v)].length,
  bind: (v) => Function.prototype.bind.call(v, null)(),
  apply: (v) => Reflect.apply(v, undefined, [1]),
  getter: (v) => v.value,
  throws: (v) => {
    throw v;
  },
};

function use(how, v, given) {
  return hush(uses[how](v, given));
}

/** The names of everything that `x.use` does. */
export const useNames = Object.keys(uses);
