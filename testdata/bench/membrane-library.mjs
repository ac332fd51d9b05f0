// What membrane.mjs runs in each contestant: a library around lodash, and where it runs:
// in our sandbox, in the peer's, and natively.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from "quickjs-emscripten";
import { Arena } from "quickjs-emscripten-sync";

/**
 * The library. Its text is evaluated in every realm, so it refers to nothing outside.
 * The functions named floor... do the work of a row with data that is in the realm
 * already, `calls` times: what no membrane can be faster than.
 */
function library(_) {
  const numbers = (n) => Array.from({ length: n }, (_, i) => i * 3);
  const users = (n) =>
    Array.from({ length: n }, (_, i) => ({
      id: i,
      name: `user${i}`,
      age: i % 90,
      address: { city: `c${i % 20}`, zip: `1${i}` },
      tags: ["a", `b${i % 7}`],
    }));
  const record = (first) => {
    const made = {};
    for (let i = 0; i < 20; i++) made[`item${i}`] = i % 2 ? first + i : `text${first}`;
    return made;
  };
  const size = (object) => {
    let sum = 0;
    for (let i = 0; i < 20; i++) sum += typeof object[`item${i}`] === "string" ? 1 : object[`item${i}`];
    return sum;
  };
  class Counter {
    total = 0; // #total fails in the peer, whose receivers are proxies
    add(by) {
      this.total += by;
      return this.total;
    }
  }
  const add = (a, b) => a + b;
  const double = (x) => x * 2;
  const city = (user) => user.address.city;
  const counter = new Counter();
  let held = [];
  let object = record(1);

  return {
    numbers,
    users,
    record,
    size,
    counter: () => new Counter(), // with `new` outside, the peer's methods get another object
    add,
    map: _.map,
    groupBy: _.groupBy,
    mapDoubled: (list) => _.map(list, double),
    groupByCity: (list) => _.groupBy(list, city),

    floorHold(kind, n) {
      held = kind === "users" ? users(n) : numbers(n);
      object = record(n);
    },
    floorAdd(calls) {
      let sum = 0;
      for (let i = 0; i < calls; i++) sum = add(sum, i);
    },
    floorMethod(calls) {
      for (let i = 0; i < calls; i++) counter.add(i);
    },
    floorMap(calls) {
      for (let i = 0; i < calls; i++) _.map(held, double);
    },
    floorGroup(calls) {
      for (let i = 0; i < calls; i++) _.groupBy(held, city);
    },
    floorPath(calls) {
      for (let i = 0; i < calls; i++) _.groupBy(held, "address.city");
    },
    floorIn(calls) {
      for (let i = 0; i < calls; i++) size(object);
    },
    floorOut(calls) {
      for (let i = 0; i < calls; i++) record(i);
    },

    /** As many values of four kinds, which the host keeps. */
    mirrors: (count) => Array.from({ length: count }, (_, i) => [new Date(i), new Map([[i, i]]), new Set([i]), { i }][i % 4]),
  };
}

const lodash = readFileSync(createRequire(import.meta.url).resolve("lodash/lodash.js"), "utf8");
const code = `(function () {
  const module = { exports: {} };
  (function (module, exports) {${lodash}
  })(module, module.exports);
  globalThis.__SANDBOXED_LIB__ = (${library})(module.exports);
})()`;

// Every property is read once: what is measured are calls.
const taken = (exports) => Object.fromEntries(Object.keys(native.exports).map((name) => [name, exports[name]]));

function evaluated() {
  runInThisContext(code);
  const exports = globalThis.__SANDBOXED_LIB__;
  delete globalThis.__SANDBOXED_LIB__;
  return exports;
}

/** No boundary at all. */
export const native = { name: "native", exports: evaluated(), dispose() {} };

/** The library in a sandbox of the runtime. */
export async function ours({ SandboxManager }) {
  const sandbox = await SandboxManager.createSandbox("bench", code, { permissions: [] });
  return {
    name: "ours",
    exports: taken(sandbox.exports),
    bytes: () => sandbox.stats().memoryBytes,
    dispose: () => sandbox.dispose(),
  };
}

// Compiled once, like our own, so that every instance runs what the compiler has made fast.
const require = createRequire(createRequire(import.meta.url).resolve("quickjs-emscripten"));
const compiled = newVariant(RELEASE_SYNC, {
  wasmModule: await WebAssembly.compile(readFileSync(require.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))),
});

/** The library in an Arena of quickjs-emscripten-sync, with the settings that let everything cross. */
export async function peer() {
  const runtime = (await newQuickJSWASMModule(compiled)).newRuntime();
  const arena = new Arena(runtime.newContext(), { isMarshalable: true });
  arena.evalCode(`${code}; 0`);
  return {
    name: "peer",
    exports: taken(arena.evalCode("__SANDBOXED_LIB__")),
    bytes() {
      const usage = runtime.computeMemoryUsage();
      const bytes = arena.context.dump(usage).memory_used_size;
      usage.dispose();
      return bytes;
    },
    pump: () => arena.executePendingJobs(),
    // Disposing aborts with some graphs; the module is this one's own, so letting go is enough.
    dispose() {},
  };
}
