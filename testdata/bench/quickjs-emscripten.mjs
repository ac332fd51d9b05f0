// A library in a new context of quickjs-emscripten: create, evaluate, dispose.
//
//   node quickjs-emscripten.mjs <bundle.js> [runs]
//
// The WebAssembly module is compiled before the first run.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { getQuickJS } from "quickjs-emscripten";
import { median, print, round, usage } from "./args.mjs";

const [bundle, runs = "15"] = process.argv.slice(2);
if (!bundle) usage("quickjs-emscripten.mjs <bundle.js> [runs]");

const code = readFileSync(bundle, "utf8");
const engine = await getQuickJS();
const times = { createMs: [], evalMs: [], disposeMs: [], ms: [] };
for (let i = 0; i < Number(runs); i++) {
  const start = performance.now();
  const context = engine.newContext();
  const created = performance.now();
  const result = context.evalCode(code, "bundle.js");
  if (result.error) throw new Error(`the bundle failed: ${JSON.stringify(context.dump(result.error))}`);
  result.value.dispose();
  const evaluated = performance.now();
  context.dispose();
  const disposed = performance.now();
  times.createMs.push(created - start);
  times.evalMs.push(evaluated - created);
  times.disposeMs.push(disposed - evaluated);
  times.ms.push(evaluated - start);
}
const { version } = createRequire(import.meta.url)("quickjs-emscripten/package.json");
print({
  peer: "quickjs-emscripten",
  version,
  runs: Number(runs),
  bytes: code.length,
  ...Object.fromEntries(Object.entries(times).map(([name, list]) => [name, round(median(list))])),
});
