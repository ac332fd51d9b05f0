import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { SandboxManager } from "../../index.js";
import { libraryOf, sandboxOf, thrownBy } from "./tools.js";
import { unstoppable } from "./unstoppable.js";

// One of everything that can be taken from a sandbox, before it dies.
const library = `{
  spin() { for (;;); },
  ok: () => 1,
  through: (f) => f(),
  wait: () => new Promise(() => {}),
  later: async () => { await undefined; for (;;); },
  get spinning() { for (;;); },
  set spinning(value) { for (;;); },
  Spins: class { constructor() { for (;;); } },
  Calm: class { n = 1; method() { return 2; } },
  *numbers() { yield 1; for (;;); },
  text: { toString() { for (;;); } , f() {} },
  json: { toJSON() { for (;;); } },
  trapped: new Proxy({ f() {} }, { ownKeys() { for (;;); }, get() { for (;;); }, getPrototypeOf() { for (;;); } }),
  compare: () => { for (;;); },
  date: () => new Date(5),
  caught(tell) { try { for (;;); } catch (e) { tell("caught"); } finally { tell("finally"); } },
  forever(tell) { for (;;) { try { for (;;); } finally { tell("finally"); continue; } } },
  eat(how, tell) {
    const all = [];
    try {
      for (let i = 0; ; i++) all.push(how(i, all));
    } catch (e) { tell("caught " + e); } finally { tell("finally"); }
  },
}`;

/** Takes hold of things, and says after the death whether each is dead. */
function takeAll({ exports }) {
  const { ok, Calm } = exports;
  const [calm, numbers, waiting, date] = [new Calm(), exports.numbers(), exports.wait(), exports.date()];
  assert.equal(numbers.next().value, 1);
  return { ok, Calm, calm, numbers, waiting, date, exports };
}

async function assertDead(sandbox, taken, name = "SandboxDeadError") {
  const { ok, Calm, calm, numbers, waiting, date, exports } = taken;
  const uses = {
    call: () => ok(),
    construct: () => new Calm(),
    method: () => calm.method(),
    get: () => calm.n,
    set: () => Reflect.set(calm, "n", 2),
    has: () => "n" in calm,
    delete: () => Reflect.deleteProperty(calm, "n"),
    define: () => Object.defineProperty(calm, "n", { value: 1 }),
    descriptor: () => Object.getOwnPropertyDescriptor(calm, "n"),
    keys: () => Object.keys(calm),
    prototype: () => Object.getPrototypeOf(calm),
    setPrototype: () => Object.setPrototypeOf(calm, null),
    extensible: () => Object.isExtensible(calm),
    freeze: () => Object.freeze(calm),
    next: () => numbers.next(),
    read: () => exports.ok,
    exports: () => sandbox.exports,
    fn: () => sandbox.fn("ok"),
    instance: () => sandbox.createInstance("Calm"),
    workload: () => sandbox.loadWorkload("w", "globalThis.__SANDBOXED_WORKLOAD__ = {}"),
  };
  for (const [what, use] of Object.entries(uses)) assert.throws(use, { name }, what);
  await assert.rejects(waiting, { name: name === "SandboxDeadError" ? "SandboxLimitError" : name });
  assert.equal(date.getTime(), 5, "a mirror is data already given");
}

// Every way in by which a guest can be made to run.
const waysIn = {
  "a call": (e) => e.spin(),
  "a read": (e) => e.spinning,
  "a write": (e) => {
    e.spinning = 1;
  },
  "a construction": (e) => new e.Spins(),
  "an iteration": (e) => [...e.numbers()],
  "a conversion": (e) => `${e.text}`,
  "a toJSON": (e) => JSON.stringify(e.json),
  "own keys of a proxy": (e) => Object.keys(e.trapped),
  "the prototype of a proxy": (e) => Object.getPrototypeOf(e.trapped),
  "a host's sort": (e) => [2, 1].sort(e.compare),
  "a callback in a callback": (e) => e.through(() => e.through(() => e.spin())),
  "a class of the host's": (e) => new (class extends e.Spins {})(),
};

for (const [what, way] of Object.entries(waysIn)) {
  test(`limits: time ends ${what}, and everything of that sandbox is dead`, async (t) => {
    const sandbox = await sandboxOf(t, library, { limits: { timeoutMs: 30 } });
    const other = await sandboxOf(t, library);
    const taken = takeAll(sandbox);
    const error = thrownBy(() => way(sandbox.exports));
    assert.equal(error.name, "SandboxLimitError", error.stack);
    assert.equal(error.limit, "time");
    await assertDead(sandbox, taken);
    assert.equal(other.exports.ok(), 1);
  });
}

test("limits: time ends a job too, and the promise that waits for it is rejected", async (t) => {
  const sandbox = await sandboxOf(t, library, { limits: { timeoutMs: 30 } });
  const taken = takeAll(sandbox);
  const error = await sandbox.exports.later().then(assert.fail, (e) => e);
  assert.equal(error.name, "SandboxLimitError");
  assert.equal(error.limit, "time");
  await assertDead(sandbox, taken);
});

test("limits: neither catch nor finally of the guest runs once time is over", async (t) => {
  for (const name of ["caught", "forever"]) {
    const sandbox = await sandboxOf(t, library, { limits: { timeoutMs: 30 } });
    const told = [];
    const error = thrownBy(() => sandbox.exports[name]((what) => told.push(what)));
    assert.equal(error.limit, "time");
    assert.deepStrictEqual(told, []);
  }
});

test("limits: a host callback that catches the limit revives no frame of the guest", async (t) => {
  const source = `{ spin() { for (;;); }, ok: () => 1, outer(f, after) { try { f(); } catch (e) { after("catch"); } finally { after("finally"); } after("on"); return "revived"; } }`;
  const sandbox = await sandboxOf(t, source, { limits: { timeoutMs: 30 } });
  const { exports } = sandbox;
  const seen = [];
  const after = [];
  const nest = (depth) =>
    exports.outer(
      () => {
        try {
          if (depth > 0) nest(depth - 1);
          else exports.spin();
        } catch (error) {
          seen.push(error.name);
        }
      },
      (where) => after.push(where),
    );
  const error = thrownBy(() => nest(2));
  assert.equal(error.name, "SandboxLimitError");
  assert.equal(error.limit, "time");
  assert.equal(seen.length, 3);
  assert.equal(seen[0], "SandboxLimitError");
  assert.deepStrictEqual(after, [], "the guest went on after its time was over");
  assert.throws(() => exports.ok(), { name: "SandboxDeadError" });
});

test("limits: the clock counts the guest's parts of one call together, not the host's", async (t) => {
  const source = `{ ping(f) { for (let i = 0; i < 1000; i++) { for (let n = 0; n < 20000; n++); f(); } } }`;
  const sandbox = await sandboxOf(t, source, { limits: { timeoutMs: 100 } });
  let calls = 0;
  const error = thrownBy(() => sandbox.exports.ping(() => calls++));
  assert.equal(error.limit, "time");
  assert.ok(calls > 0 && calls < 1000, `${calls} callbacks`);
});

const eaters = {
  objects: "(i) => ({ i })",
  lists: "() => new Array(1000).fill(0)",
  buffers: "() => new Uint8Array(256 * 1024)",
  "one buffer": "() => new ArrayBuffer(512 * 1024 * 1024)",
  strings: "(i) => ('x' + i).repeat(10000)",
  closures: "(i) => () => i",
  maps: "(i) => new Map([[i, i]])",
  symbols: "(i) => Symbol('s'.repeat(100) + i)",
  "long lists": "() => new Array(30000000).fill(1)",
  "parsed data": "() => JSON.parse('[' + '[1],'.repeat(10000) + '1]')",
  "big numbers": "(i) => 3n ** BigInt(60000 + i)",
  promises: "(i) => Promise.resolve(i)",
};

for (const [what, how] of Object.entries(eaters)) {
  test(`limits: memory ends for ${what}, and everything of that sandbox is dead`, async (t) => {
    const sandbox = await sandboxOf(t, library.replace("eat(how, tell)", `how: ${how},\n  eat(how, tell)`), { limits: { memoryMB: 8 } });
    const other = await sandboxOf(t, library);
    const taken = takeAll(sandbox);
    const { how: eater } = sandbox.exports;
    const told = [];
    const error = thrownBy(() => sandbox.exports.eat(eater, (text) => told.push(text)));
    assert.equal(error.name, "SandboxLimitError", error.stack);
    assert.equal(error.limit, "memory");
    assert.deepStrictEqual(told, []);
    await assertDead(sandbox, taken);
    assert.equal(other.exports.ok(), 1);
  });
}

// The engine reports these as errors of the program's, which it may catch.
test("limits: memory that regular expressions need is bounded, and the sandbox is dead or whole", async (t) => {
  const sandbox = await sandboxOf(t, `{ eat() { const all = []; for (let i = 0; ; i++) all.push(new RegExp("a".repeat(1000) + i)); }, ok: () => 1 }`, {
    limits: { memoryMB: 8 },
  });
  const error = thrownBy(() => sandbox.exports.eat());
  if (error.name === "SandboxLimitError") assert.throws(() => sandbox.exports.ok(), { name: "SandboxDeadError" });
  else {
    assert.equal(error.name, "SyntaxError");
    assert.equal(sandbox.exports.ok(), 1);
    assert.ok(sandbox.stats().memoryBytes <= 8 << 20);
  }
});

test("limits: memory counts what the host sends in", async (t) => {
  const sandbox = await sandboxOf(t, `{ kept: [], keep(v) { this.kept.push(v); }, ok: () => 1 }`, { limits: { memoryMB: 8 } });
  const { exports } = sandbox;
  const text = "x".repeat(500_000);
  const error = thrownBy(() => {
    for (let i = 0; i < 1000; i++) exports.keep(text + i);
  });
  assert.equal(error.limit, "memory", error.stack);
  assert.throws(() => exports.ok(), { name: "SandboxDeadError" });
});

test("limits: memory counts what the host sends in at once", async (t) => {
  for (const value of ["x".repeat(64 << 20), new Uint8Array(64 << 20), Array.from({ length: 1_000_000 }, (_, i) => ({ i, text: `text ${i}` }))]) {
    const sandbox = await sandboxOf(t, `{ touch: (v) => { let n = 0; for (const x of v) n++; return n; }, ok: () => 1 }`, { limits: { memoryMB: 8 } });
    const error = thrownBy(() => sandbox.exports.touch(value));
    assert.equal(error.limit, "memory", error.stack);
    assert.throws(() => sandbox.exports.ok(), { name: "SandboxDeadError" });
  }
});

const deep = {
  recursion: "() => { const f = (n) => f(n + 1) + 1; return f(0); }",
  "mutual recursion": "() => { const f = (n) => g(n) + 1, g = (n) => f(n) + 1; return f(0); }",
  getters: "() => { const o = { get a() { return this.a; } }; return o.a; }",
  conversions: "() => { const o = { toString() { return '' + o; } }; return '' + o; }",
  constructors: "() => { class A { constructor() { new A(); } } return new A(); }",
  "proxy traps": "() => { let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); return p.a; }",
  "proxy traps of itself": "() => { const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); return p.a; }",
  "a deep source": "() => (0, eval)('('.repeat(20000) + ')'.repeat(20000))",
  "a deep source of lists": "() => (0, eval)('['.repeat(50000) + ']'.repeat(50000))",
  "deep JSON": "() => JSON.parse('['.repeat(200000))",
  "deep JSON out": "() => { let o = {}; for (let i = 0; i < 100000; i++) o = { o }; return JSON.stringify(o); }",
  "a deep regular expression": "() => new RegExp('('.repeat(50000) + ')'.repeat(50000))",
  "flat of a deep list": "() => { let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a.flat(Infinity); }",
  "bound functions": "() => { let f = () => 1; for (let i = 0; i < 2000; i++) f = f.bind(null); return f(); }",
  "a toJSON of itself": "() => { const o = { toJSON() { return JSON.stringify(o); } }; return JSON.stringify(o); }",
  "a sort of itself": "() => { const f = () => { [2, 1].sort(f); return 0; }; return f(); }",
  "a replacement of itself": "() => { const f = () => 'a'.replace('a', f); return f(); }",
  generators: "() => { function* g() { yield* g(); } return [...g()]; }",
};

for (const [what, source] of Object.entries(deep)) {
  test(`limits: the stack ends for ${what} as an error or not at all, and the sandbox stays whole, 50 times`, async (t) => {
    const sandbox = await sandboxOf(
      t,
      `{ deep: ${source}, tries(f) { try { f(); return "done"; } catch (e) { return e instanceof Error; } }, ok: () => 1, keep: { n: 1 } }`,
    );
    const { exports } = sandbox;
    for (let i = 0; i < 50; i++) {
      try {
        exports.deep();
      } catch (error) {
        assert.ok(error instanceof Error);
        assert.doesNotMatch(error.name, /^Sandbox/, error.message);
      }
      assert.equal(exports.ok(), 1);
    }
    assert.ok([true, "done"].includes(exports.tries(exports.deep)));
    assert.equal(exports.keep.n, 1);
  });
}

const crossings = {
  calls: [`{ go: (f) => f() }`, (e) => () => e.go(crossings.calls[1](e))],
  getters: [
    `{ go: (o) => o.next }`,
    (e) => () =>
      e.go({
        get next() {
          return crossings.getters[1](e)();
        },
      }),
  ],
  setters: [
    `{ go: (o) => { o.next = 1; } }`,
    (e) => () =>
      e.go({
        set next(_) {
          crossings.setters[1](e)();
        },
      }),
  ],
  constructors: [
    `{ go: (C) => new C() }`,
    (e) => () =>
      e.go(
        class {
          constructor() {
            crossings.constructors[1](e)();
          }
        },
      ),
  ],
  conversions: [
    `{ go: (o) => "" + o }`,
    (e) => () =>
      e.go(
        new (class {
          toString() {
            return crossings.conversions[1](e)();
          }
        })(),
      ),
  ],
  comparisons: [`{ go: (f) => [2, 1].sort(f) }`, (e) => () => e.go(() => crossings.comparisons[1](e)())],
  "proxies of the host": [
    `{ go: (p) => Object.keys(p) }`,
    (e) => () =>
      e.go(
        new Proxy(
          {},
          {
            ownKeys() {
              crossings["proxies of the host"][1](e)();
              return [];
            },
          },
        ),
      ),
  ],
  "the guest's own classes": [`{ go: (f) => new (class { constructor() { f(); } })() }`, (e) => () => e.go(() => crossings["the guest's own classes"][1](e)())],
};

for (const [what, [source, way]] of Object.entries(crossings)) {
  test(`limits: the depth of crossings ends for ${what} with a RangeError, and the sandbox stays whole, 20 times`, async (t) => {
    const { exports } = await sandboxOf(t, `{ ...${source}, ok: () => 1 }`);
    for (let i = 0; i < 20; i++) {
      assert.throws(way(exports), RangeError);
      assert.equal(exports.ok(), 1);
    }
  });
}

test("limits: two sandboxes that call each other end with a RangeError, and both stay whole", async (t) => {
  const [a, b] = [await sandboxOf(t, `{ go: (f) => f(), ok: () => 1 }`), await sandboxOf(t, `{ go: (f) => f(), ok: () => 1 }`)];
  const ping = () => a.exports.go(() => b.exports.go(ping));
  for (let i = 0; i < 10; i++) {
    assert.throws(ping, RangeError);
    assert.equal(a.exports.ok() + b.exports.ok(), 2);
  }
});

test("limits: a guest that catches the end of the depth goes on", async (t) => {
  const { exports } = await sandboxOf(t, `{ go(f) { try { return f(); } catch (e) { return e instanceof RangeError ? "caught" : String(e); } } }`);
  const again = () => exports.go(again);
  assert.equal(again(), "caught");
});

test("limits: what is no limit is refused when the sandbox is made", async () => {
  for (const limits of [{ timeoutMs: "5" }, { stackKB: 1e9 }, { timeoutMs: NaN }]) {
    await assert.rejects(SandboxManager.createSandbox("lib", libraryOf("{}"), { limits }), { name: "SandboxError", message: /limits\./ });
  }
  for (const memoryMB of [0, -1, 0.5, 1.5, 2049, 1e9, Infinity, NaN, "64", null, {}, 1n]) {
    await assert.rejects(SandboxManager.createSandbox("lib", libraryOf("{}"), { limits: { memoryMB } }), {
      name: "SandboxError",
      message: `limits.memoryMB: a whole number from 1 to 2048 is needed, not ${memoryMB}`,
    });
  }
});

test("limits: a worker that is terminated ends the builtins that no clock ends", async (t) => {
  const mine = await sandboxOf(t, library, { limits: { timeoutMs: 1000 } });
  const ended = unstoppable.map(
    (expression) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL("./limits-worker.js", import.meta.url), { workerData: { expression, timeoutMs: 100 }, stdout: true, stderr: true });
        let last;
        worker.on("message", (message) => {
          last = message;
          // It had its time, and as much again; then it is killed wherever it is.
          if (message === "started") setTimeout(() => worker.terminate(), 1000).unref();
        });
        worker.once("error", reject);
        worker.once("exit", () => resolve(last));
      }),
  );
  for (const last of await Promise.all(ended)) assert.match(last, /^(started|SandboxLimitError (time|memory))$/);
  assert.equal(mine.exports.ok(), 1);
});

test("revoke: everything that was taken is refused, mirrors stay readable, and a second time changes nothing", async (t) => {
  const sandbox = await sandboxOf(t, library);
  const other = await sandboxOf(t, library);
  const taken = takeAll(sandbox);
  sandbox.revoke();
  sandbox.revoke();
  await assertDead(sandbox, taken, "SandboxRevokedError");
  assert.equal(other.exports.ok(), 1);
});

test("revoke: one capability is taken back, and the others go on", async (t) => {
  const called = [];
  const capabilities = { first: (n) => called.push(`first ${n}`), second: (n) => called.push(`second ${n}`) };
  const source = `{ first: (n) => first(n), second: (n) => second(n), kept: [first], indirect(n) { return this.kept[0].call(null, n); } }`;
  const { exports, ...sandbox } = await sandboxOf(t, source, { permissions: ["first", "second"], capabilities }).then((s) => ({
    exports: s.exports,
    revoke: (v) => s.revoke(v),
  }));
  exports.first(1);
  sandbox.revoke(capabilities.first);
  assert.throws(() => exports.first(2), { name: "SandboxRevokedError" });
  assert.throws(() => exports.indirect(3), { name: "SandboxRevokedError" });
  exports.second(4);
  assert.deepStrictEqual(called, ["first 1", "second 4"]);
});
