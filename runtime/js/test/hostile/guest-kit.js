// The hostile library: runs programs in the guest and tries what they got hold of.
//
// It is source text, evaluated in the guest; it keeps the intrinsics that it needs, since
// the programs replace them.
import { MARK } from "./loot.js";

function library(MARK, libraryText) {
  // biome-ignore lint/suspicious/noRedundantUseStrict: the guest evaluates it as a script
  "use strict";
  const { apply, construct, get, getPrototypeOf, setPrototypeOf, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const ObjectCall = Object;
  const evaluate = globalThis.eval;
  const functionText = Function.prototype.toString;
  const { includes } = String.prototype;
  const { then } = Promise.prototype;
  const PromiseClass = Promise;
  const TypeProblem = TypeError;
  const ObjectPrototype = Object.prototype;
  const isObject = (v) => ObjectCall(v) === v;
  const bare = () => {
    const list = [];
    setPrototypeOf(list, null);
    return list;
  };

  let candidates = bare(); // what the program got hold of
  let own; // the program's text, and this one
  let given; // objects of the membrane's user: reachable from what was given

  const push = (v) => {
    if (candidates.length < 400) candidates[candidates.length] = v;
  };
  const take = (...values) => {
    for (let i = 0; i < values.length; i++) push(values[i]);
    return values[0];
  };
  /** Runs one attempt; an error is worth as much as a value. */
  const attempt = (f) => {
    try {
      const value = take(f());
      hush(value);
      return value;
    } catch (error) {
      takeError(error);
      return error;
    }
  };
  const takeError = (error) => {
    take(error);
    try {
      if (isObject(error)) take(error.stack, error.message, error.cause, error.fileName);
    } catch (another) {
      take(another);
    }
  };
  const attempts = (...fs) => {
    for (let i = 0; i < fs.length; i++) attempt(fs[i]);
  };
  const settle = async (promise) => {
    try {
      take(await promise);
    } catch (error) {
      takeError(error);
    }
  };

  // Whether a value is worth something: it tells on itself when it is.

  const mark = (v) => {
    try {
      const tell = get(v, MARK, v);
      if (typeof tell === "function") apply(tell, v, []);
    } catch {}
  };
  // Two steps, since a compiled function may have to be called, a generator advanced.
  const codes = [`globalThis.${MARK} && globalThis.${MARK}()`, `return globalThis.${MARK} && globalThis.${MARK}()`, "return globalThis"];
  const hush = (v) => {
    try {
      if (isObject(v)) apply(then, v, [undefined, () => {}]); // which throws unless it is a promise
    } catch {}
  };
  const compile = (f) => {
    for (let i = 0; i < codes.length; i++) {
      for (let how = 0; how < 3; how++) {
        try {
          const made = how === 0 ? f(codes[i]) : how === 1 ? construct(f, [codes[i]]) : apply(f, undefined, ["a", codes[i]]);
          hush(made);
          if (typeof made !== "function") continue;
          const ran = made();
          if (!isObject(ran)) continue;
          hush(ran);
          mark(ran);
          if (i === 2) push(ran);
          if (typeof ran.next === "function") ran.next();
        } catch {}
      }
    }
  };
  const probe = (root) => {
    const seen = bare();
    const queue = bare();
    const add = (v, depth) => {
      if (!isObject(v) || queue.length >= 60) return;
      for (let i = 0; i < seen.length; i++) if (seen[i] === v) return;
      seen[seen.length] = v;
      queue[queue.length] = { v, depth };
    };
    add(root, 0);
    for (let at = 0; at < queue.length; at++) {
      const { v, depth } = queue[at];
      mark(v);
      if (typeof v === "function") compile(v);
      if (depth > 1) continue;
      try {
        add(get(v, "constructor", v), depth + 1);
        add(getPrototypeOf(v), depth + 1);
        const keys = ownKeys(v);
        for (let i = 0; i < keys.length && i < 30; i++) {
          const d = getOwnPropertyDescriptor(v, keys[i]);
          if (d === undefined) continue;
          if (getOwnPropertyDescriptor(d, "value")) add(d.value, depth + 1);
          else {
            add(d.get, depth + 1);
            add(d.set, depth + 1);
            add(get(v, keys[i], v), depth + 1);
          }
        }
      } catch {}
    }
  };

  // Spies: what the membrane hands to an intrinsic that the program replaced.

  const inside = bare(); // what is no business of the program
  let listening = true;
  const spied = (where, v) => {
    if (!listening) return;
    push(v);
    if (!isObject(v) || v === ObjectPrototype) return;
    try {
      if (typeof v === "function") {
        const source = apply(functionText, v, []);
        const native = apply(includes, source, ["[native code]"]);
        // The engine's host functions are named by numbers.
        if (native ? isNumber(getOwnPropertyDescriptor(v, "name")?.value) : !apply(includes, own, [source])) {
          inside[inside.length] = `${where} was given the function ${source}`;
        }
      } else if (getPrototypeOf(v) === null && !isGiven(v)) inside[inside.length] = `${where} was given an object without a prototype`;
    } catch {}
  };
  const isNumber = (name) => typeof name === "string" && name !== "" && `${+name}` === name;
  const isGiven = (v) => {
    for (let i = 0; i < given.length; i++) if (given[i] === v) return true;
    return false;
  };
  /** Replaces functions of an object by ones that listen, and do as before. */
  const spy = (object, name, ...keys) => {
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const d = getOwnPropertyDescriptor(object, key);
      if (d === undefined) continue;
      const field = typeof d.value === "function" ? "value" : typeof d.get === "function" ? "get" : undefined;
      if (field === undefined) continue;
      const before = d[field];
      const where = `${name}.${String(key)}`;
      d[field] = function (...args) {
        spied(where, this);
        for (let j = 0; j < args.length; j++) spied(where, args[j]);
        if (new.target !== undefined) return construct(before, args, new.target === d[field] ? before : new.target);
        return apply(before, this, args);
      };
      // What is found on a class is found on its stand-in too.
      if (typeof before.prototype === "object" && before.prototype !== null) d[field].prototype = before.prototype;
      defineProperty(object, key, d);
    }
  };

  /** One of each thing that a guest does with host values. */
  const exercise = (x) => {
    attempts(
      () => x.object.a,
      () => (x.object.a = 2),
      () => delete x.object.a,
      () => Object.defineProperty(x.object, "d", { value: 1, configurable: true }),
      () => Object.defineProperty(x.object, "g", { get: () => 1, configurable: true }),
      () => x.object.g,
      () => ownKeys(x.object).length,
      () => "a" in x.object,
      () => getPrototypeOf(x.instance),
      () => x.instance.method(1),
      () => (x.instance.accessor = 2),
      () => new x.Thing().field,
      () => new (class extends x.Thing {})().method(2),
      () => x.calls((v) => v, x.object),
      () => x.calls(() => x.array.map((n) => n)),
      () => x.fails(),
      () => x.date.getTime() + x.map.size + x.set.size + x.bytes.length,
      () => x.map.get("k"),
      () => x.regexp.test("ab"),
      () => x.generator().next(),
      () => x.symbol.description,
      () => x.keep({ data: [1, { a: 1 }] }),
      () => x.keep(() => 1),
      () => x.keep(new Map([[1, 2]])),
      () => x.kept(),
      () => x.lazily,
    );
    attempts(
      () => apply(then, x.promise, [(v) => v]),
      () => x.later((v) => v),
      () => x.asyncFunction(1),
      () => x.asyncIterator.next(),
    );
  };

  const kit = { take, spied, attempt, attempts, takeError, settle, probe, spy, exercise, MARK };

  const finish = () => {
    const n = candidates.length;
    listening = false;
    for (let i = 0; i < n; i++) probe(candidates[i]);
    const all = [];
    for (let i = 0; i < candidates.length; i++)
      defineProperty(all, i, { __proto__: null, value: candidates[i], writable: true, enumerable: true, configurable: true });
    return all;
  };

  class Victim {
    #own = 1;
    n = 1;
    get own() {
      return this.#own;
    }
    twice(v) {
      return v * 2;
    }
    through(f, v) {
      return f(v);
    }
  }

  return {
    /** Runs a program: the body of a function of what it is given and of the kit. */
    run(source, x) {
      candidates = bare();
      given = bare();
      const whole = `(function (x, kit, take, attempt, attempts) {\n${source}\n})`;
      own = whole + libraryText;
      const f = evaluate(whole);
      for (const key of ownKeys(x)) given[given.length] = x[key];
      return f(x, kit, take, attempt, attempts);
    },
    async runAsync(source, x) {
      candidates = bare();
      given = bare();
      const whole = `(async function (x, kit, take, attempt, attempts) {\n${source}\n})`;
      own = whole + libraryText;
      const f = evaluate(whole);
      await f(x, kit, take, attempt, attempts);
    },
    /** What it got hold of, once all of that has been tried. */
    collect: finish,
    /** What of the membrane itself it has seen. */
    inside() {
      return String(inside.length === 0 ? "" : inside[0]);
    },
    // For the host to use after a program has run.
    Victim,
    echo: (v) => v,
    add: (a, b) => a + b,
    failing() {
      throw new TypeProblem("it fails");
    },
    promised: (v) => new PromiseClass((resolve) => resolve(v)),
    data: () => ({ list: [1, 2, { three: 3 }], text: "text" }),
    poke: (f) => f(),
  };
}

/** The source text of the hostile library's bundle. */
export const hostileBundle = `var __SANDBOXED_LIB__ = (${library})(${JSON.stringify(MARK)}, ${JSON.stringify(String(library))});`;
