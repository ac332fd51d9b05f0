// Nothing grows: neither in the guest, nor in the host, nor by sandboxes that come and go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { SandboxManager } from "../../index.js";
import { collectGarbage, collectUntil, countFrom, gc, libraryOf, sandboxOf } from "./tools.js";

const cycles = countFrom("LEAK_CYCLES", 500);
const calls = countFrom("LEAK_CALLS", 100_000);
const MB = 2 ** 20;

const library = `{
  add: (a, b) => a + b,
  data: (i) => ({ i, list: [1, 2, 3], nested: { text: "text " + i } }),
  wide: (i) => ({ a: i, b: i, c: i, d: i, e: i, f: i, g: i, h: i, i, j: i, k: i, l: i, m: i, n: i, o: i, p: i, q: i, r: i, s: i, t: i }),
  echo: (v) => v,
  size: (v) => Object.keys(v).length,
  map: (list, f) => list.map(f),
  make: (i) => () => i,
  Counter: class { n = 0; up() { return ++this.n; } },
  date: (i) => new Date(i),
  bytes: (i) => new Uint8Array(16).fill(i),
  table: (i) => new Map([[i, i]]),
  promised: async (v) => v,
  fails: (i) => { throw new TypeError("no " + i); },
  symbol: (i) => Symbol("s" + i),
  kept: [],
  keep(v) { this.kept.push(v); },
  forget() { this.kept.length = 0; },
}`;

/** Bytes of the host that only live values hold, once garbage is gone. */
async function hostBytes() {
  await collectGarbage();
  return hostBytesNow();
}

/** The same in the middle of a turn, when no finalizer has run. */
function hostBytesNow() {
  gc();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

class Thing {
  n = 1;
  method() {
    return this.n;
  }
}

async function oneLife() {
  const sandbox = await SandboxManager.createSandbox("lib", libraryOf(library), { permissions: ["given"], capabilities: { given: new Thing() } });
  const { exports } = sandbox;
  const counter = new exports.Counter();
  counter.up();
  exports.map([1, 2, 3], (n) => ({ n }));
  exports.keep(new Thing());
  exports.keep(exports.data(1));
  exports.table(1).get(1);
  exports.promised(1).catch(() => {});
  exports.keep(Promise.resolve(new Thing()));
  assert.equal(exports.add(1, 2), 3);
  sandbox.dispose();
}

test(`leaks: ${cycles} sandboxes that come and go leave nothing behind`, async () => {
  for (let i = 0; i < 50; i++) await oneLife();
  const before = await hostBytes();
  for (let i = 0; i < cycles; i++) {
    await oneLife();
    if (i % 100 === 99) await collectGarbage(1);
  }
  const grown = (await hostBytes()) - before;
  // One engine takes more than a MB: one in a hundred left behind would show.
  assert.ok(grown < 6 * MB, `${(grown / MB).toFixed(2)} MB more after ${cycles} sandboxes`);
});

// Each is one call; all of them in one turn, in which no finalizer can run.
const inOneTurn = {
  "plain numbers": (e, i) => e.add(i, 1),
  "plain results": (e, i) => e.data(i),
  "results of twenty fields": (e, i) => e.wide(i),
  "plain arguments": (e, i) => e.size({ i, list: [i] }),
  "plain arguments that come back": (e, i) => e.echo({ i }),
  callbacks: (e, i) => e.map([i], (n) => n + 1),
  "instances of the host's": (e) => e.echo(new Thing()),
  dates: (e, i) => e.date(i),
  bytes: (e, i) => e.bytes(i),
  maps: (e, i) => e.table(i),
  errors: (e, i) => {
    try {
      e.fails(i);
    } catch {}
  },
};

for (const [what, call] of Object.entries(inOneTurn)) {
  // The one that the figure is about, and a fifth of it for its relatives.
  const count = what === "plain results" ? calls : Math.ceil(calls / 5);
  test(`leaks: ${count} synchronous calls with ${what} stay flat at 64 MB`, async (t) => {
    const sandbox = await sandboxOf(t, library, { limits: { memoryMB: 64 } });
    const { exports } = sandbox;
    for (let i = 0; i < count / 2; i++) call(exports, i);
    const half = sandbox.stats().memoryBytes;
    const hostHalf = hostBytesNow();
    for (let i = 0; i < count / 2; i++) call(exports, i);
    const whole = sandbox.stats().memoryBytes;
    const hostWhole = hostBytesNow();
    assert.ok(whole < 32 * MB, `${(whole / MB).toFixed(2)} MB`);
    // The first half may fill what is budgeted; the second adds nothing to it, on either side.
    assert.ok(whole - half < 4 * MB, `${((whole - half) / MB).toFixed(2)} MB more in the second half`);
    const host = hostWhole - hostHalf;
    assert.ok(host < 50 * MB, `${(host / MB).toFixed(2)} MB more of the host's in the second half`);
  });
}

test("leaks: guest objects that the host dropped go back to the guest", async (t) => {
  const sandbox = await sandboxOf(t, library);
  const { exports } = sandbox;
  const use = (n) => {
    for (let i = 0; i < n; i++) {
      exports.make(i)();
      new exports.Counter().up();
    }
  };
  use(2000);
  await collectGarbage();
  exports.add(1, 2);
  const before = sandbox.stats();
  use(20_000);
  const full = sandbox.stats();
  assert.ok(full.held > before.held + 10_000, "they were not held at all, so this shows nothing");
  await collectUntil(() => exports.add(1, 2) && sandbox.stats().held < before.held + 500);
  const after = sandbox.stats();
  assert.ok(after.held < before.held + 500, `${after.held} are held, ${before.held} were`);
  assert.ok(after.memoryBytes < before.memoryBytes + MB, `${after.memoryBytes} bytes, ${before.memoryBytes} before`);
});

test("leaks: host objects that the guest dropped go back to the host", async (t) => {
  const sandbox = await sandboxOf(t, library);
  const { exports } = sandbox;
  const waves = [];
  for (let wave = 0; wave < 8; wave++) {
    const refs = [];
    for (let i = 0; i < 1000; i++) {
      const thing = new Thing();
      refs.push(new WeakRef(thing));
      exports.keep(thing);
    }
    waves.push(refs);
    await collectGarbage(1);
    assert.ok(
      refs.every((ref) => ref.deref() !== undefined),
      "the guest keeps what it was given",
    );
    exports.forget();
  }
  // How many may wait to be looked for is bounded by how many there are at once.
  const alive = () => waves.flat().filter((ref) => ref.deref() !== undefined).length;
  await collectUntil(() => alive() <= 3000);
  assert.ok(alive() <= 3000, `${alive()} of 8000 are alive`);
  assert.ok(sandbox.stats().exposed <= 3000, `${sandbox.stats().exposed} are known`);
});

test("leaks: what a sandbox was given and what it gave is free after its end", async () => {
  const refs = [];
  const live = async (end) => {
    const thing = new Thing();
    const sandbox = await SandboxManager.createSandbox("lib", libraryOf(library), { permissions: ["given"], capabilities: { given: thing } });
    const { exports } = sandbox;
    const f = () => thing;
    exports.keep(thing);
    exports.keep(f);
    exports.keep({ deep: thing });
    for (const value of [thing, f, exports, exports.make(1), new exports.Counter(), exports.data(1), exports.table(1), sandbox]) refs.push(new WeakRef(value));
    end(sandbox);
  };
  await live((sandbox) => sandbox.dispose());
  await live((sandbox) => sandbox.revoke());
  await live((sandbox) => assert.throws(() => sandbox.exports.map([1], () => sandbox.dispose())));
  await live(() => {}); // dropped without a word
  await collectUntil(() => refs.every((ref) => ref.deref() === undefined));
  const alive = refs.map((ref, i) => (ref.deref() === undefined ? -1 : i)).filter((i) => i >= 0);
  assert.deepStrictEqual(alive, []);
});

// What a library does between load and end; each of these can be struck at any step.
function scenario({ exports }) {
  exports.map([1, 2, 3], (n) => exports.data(n));
  exports.keep({ a: [1, { b: new Thing() }], m: new Map([[1, new Set([2])]]) });
  exports.keep(() => exports.wide(1));
  const counter = new exports.Counter();
  class Counts extends exports.Counter {}
  counter.up() + new Counts().up();
  exports.echo(new Error("e", { cause: new TypeError("c") }));
  exports.echo(new Uint8Array(1000));
  exports.echo(Symbol("s"));
  exports.promised(1).catch(() => {});
  for (let i = 0; i < 30; i++) exports.spin?.(2000);
}

const spinning = library.replace("{", "{ spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s; },");

test("faults: memory that ends at any step of a call leaves a clean end", async () => {
  const outcomes = new Set();
  const source = spinning.replace("{", "{ fill(n) { for (let i = 0; i < n; i++) this.kept.push(new ArrayBuffer(64)); },");
  for (let n = 0; n < 6000; n += 40) {
    const sandbox = await SandboxManager.createSandbox("lib", libraryOf(source), { limits: { memoryMB: 1 } });
    try {
      sandbox.exports.fill(n);
      scenario(sandbox);
      outcomes.add("whole");
    } catch (error) {
      assert.equal(error.name, "SandboxLimitError", `${n}: ${error.stack}`);
      assert.equal(error.limit, "memory", `${n}: ${error.stack}`);
      assert.throws(() => sandbox.exports.add(1, 2), { name: "SandboxDeadError" });
      outcomes.add("ended");
    }
    sandbox.dispose();
    sandbox.dispose();
  }
  assert.deepStrictEqual([...outcomes].sort(), ["ended", "whole"]);
  const after = await SandboxManager.createSandbox("lib", libraryOf(spinning));
  scenario(after);
  after.dispose();
});

test("faults: too little memory to load says so, and never hangs", async () => {
  const whole = await SandboxManager.createSandbox("lib", libraryOf(library));
  const needed = whole.stats().memoryBytes;
  whole.dispose();
  const worker = new Worker(new URL("./faults-worker.js", import.meta.url), {
    workerData: { code: libraryOf(library), from: 4096, to: 2 * needed, step: Math.ceil(needed / 40) },
  });
  const outcomes = new Map();
  let at;
  // Only for a worker that answers no more: each step takes milliseconds.
  let watch;
  await new Promise((resolve, reject) => {
    worker.on("message", ({ bytes, outcome }) => {
      clearTimeout(watch);
      if (outcome === undefined) {
        at = bytes;
        watch = setTimeout(() => worker.terminate(), 20_000);
      } else {
        at = undefined;
        outcomes.set(bytes, outcome);
      }
    });
    worker.once("error", reject);
    worker.once("exit", resolve);
  });
  assert.equal(at, undefined, `with ${at} bytes it never came back`);
  for (const [bytes, outcome] of outcomes) assert.match(outcome, /^(whole|SandboxLimitError memory)$/, `${bytes} bytes`);
  assert.equal(new Set(outcomes.values()).size, 2);
  assert.ok(outcomes.size > 60);
});

test("faults: a clock that runs out at any step leaves a clean end", async (t) => {
  const { now } = performance;
  t.after(() => {
    performance.now = now;
  });
  const outcomes = new Set();
  for (let n = 1; n < 400; n += 3) {
    const sandbox = await SandboxManager.createSandbox("lib", libraryOf(spinning), { limits: { timeoutMs: 50 } });
    let asked = 0;
    // From the nth time on that it is asked, an age has passed since.
    performance.now = () => (++asked < n ? 1 : 1e9 + asked * 1000);
    try {
      scenario(sandbox);
      outcomes.add("whole");
    } catch (error) {
      assert.equal(error.name, "SandboxLimitError", `step ${n}: ${error.stack}`);
      assert.equal(error.limit, "time");
      assert.throws(() => sandbox.exports.add(1, 2), { name: "SandboxDeadError" });
      outcomes.add("ended");
    }
    sandbox.dispose();
    performance.now = now;
  }
  assert.ok(outcomes.has("ended"), [...outcomes].join());
});
