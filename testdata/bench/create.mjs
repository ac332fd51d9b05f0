// What it takes to have a library in a sandbox: the first one of it in a page, and the next,
// against a new context of quickjs-emscripten that evaluates the same bundle; and the bytes
// that a page downloads for it.
//
//   node create.mjs <library.bundle.js> [rounds]
//
// The bytecode stands beside the bundle, where the policy says `snapshot: true`.
// All in one process and by turns, each after a collection of what the one before it left.
// WebAssembly is compiled before the first round, and the first rounds do not count. Timing
// never makes this fail.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { getQuickJS } from "quickjs-emscripten";
import { noteBytecode } from "../../runtime/js/bytecode.js";
import { SandboxManager } from "../../runtime/js/index.js";
import { median, usage } from "./args.mjs";

const [bundle, rounds = "25"] = process.argv.slice(2);
if (!bundle) usage("create.mjs <library.bundle.js> [rounds]");
const WARM = 5;
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

const code = readFileSync(bundle, "utf8");
const bytecode = readFileSync(bundle.replace(/\.bundle\.js$/, ".bytecode.bin"));
noteBytecode(code, bytecode);
const engine = await getQuickJS();
await SandboxManager.ready();

const contestants = {
  peer() {
    const context = engine.newContext();
    const result = context.evalCode(code, "bundle.js");
    if (result.error) throw new Error(`the bundle failed: ${JSON.stringify(context.dump(result.error))}`);
    result.value.dispose();
    return () => context.dispose();
  },
  // A name that has not been there before is a library that has not.
  first: (round) => made(`first${round}`, false),
  firstFromSource: (round) => made(`source${round}`, false, `${code}\n`),
  next: () => made("next", true),
  nextBesides: () => made("next", true),
};

function made(name, restored, source = code) {
  const sandbox = SandboxManager.createSandboxSync(name, source, { snapshot: true });
  return () => {
    if (sandbox.stats().restored !== restored) throw new Error(`${name} was ${restored ? "evaluated" : "restored"}`);
    sandbox.dispose();
  };
}

const open = []; // one that is not disposed of leaves no instance to the next
const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
made("next", false)();
for (let round = 0; round < WARM + Number(rounds); round++) {
  for (const [name, make] of Object.entries(contestants)) {
    // What is disposed of before is what the next one may use again.
    if (name === "nextBesides") for (let i = 0; i < 4; i++) open.push(made("next", true));
    gc();
    const start = performance.now();
    const end = make(round);
    const ms = performance.now() - start;
    if (round >= WARM) times[name].push(ms);
    if (name === "nextBesides") for (const close of [end, ...open.splice(0)]) close();
    else end();
  }
  await new Promise((done) => setImmediate(done));
}

const { build } = createRequire(fileURLToPath(new URL("../../runtime/js/package.json", import.meta.url)))("esbuild");
const require = createRequire(import.meta.url);
const KB = (bytes) => `${(gzipSync(bytes, { level: 9 }).length / 1000).toFixed(0)} kB`;

/** What an application gets of a package that it imports, for browsers and minified. */
async function script(source) {
  const resolveDir = fileURLToPath(new URL(".", import.meta.url));
  const options = { bundle: true, minify: true, format: "esm", platform: "browser", write: false, logLevel: "silent" };
  const { outputFiles } = await build({ stdin: { contents: source, resolveDir }, ...options });
  return outputFiles[0].contents;
}

const peerWasm = readFileSync(require.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
const peerScript = `
  import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
  import variant from "@jitl/quickjs-wasmfile-release-sync";
  globalThis.made = newQuickJSWASMModuleFromVariant(variant);`;
const wasm = readFileSync(createRequire(new URL("../../runtime/js/package.json", import.meta.url)).resolve("quickjs-wasi/quickjs.wasm"));
const ownScript = 'export { SandboxManager, loadBundle } from "../../runtime/js/index.js";';

const ms = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
const row = (what, own, target) =>
  console.log(`${what}: ${(ms.peer / own).toFixed(1)}x faster (peer ${ms.peer.toFixed(1)} ms, ours ${own.toFixed(1)} ms${target ? `, target ${target}x` : ""})`);
row("first sandbox of a library in a process, from bytecode", ms.first, 3);
row("the same from source", ms.firstFromSource);
row("next one, in an instance that was disposed of", ms.next, 10);
row("next one, in a new instance", ms.nextBesides);
console.log(
  `downloaded, gzip: ours ${KB(await script(ownScript))} script, ${KB(wasm)} engine, ${KB(code)} bundle, and ${KB(bytecode)} bytecode where it is asked for; peer ${KB(await script(peerScript))} script, ${KB(peerWasm)} engine, ${KB(code)} bundle`,
);
