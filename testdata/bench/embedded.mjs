// The membrane in the embedded host beside the same calls in V8: microseconds a call, and
// how many times as long the embedded host takes.
//
//   node embedded.mjs
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";
import { SandboxManager } from "../../runtime/js/index.js";

const TARGET = 3;
const { library, rows, measure } = runInThisContext(readFileSync(new URL("embedded-rows.js", import.meta.url), "utf8"));
const lodash = readFileSync(createRequire(import.meta.url).resolve("lodash/lodash.js"), "utf8");
const sandbox = await SandboxManager.createSandbox("bench", `${lodash};${library}`, { limits: { memoryMB: 256 } });
const all = rows(sandbox.exports);
const now = () => performance.now();
for (const make of Object.values(all)) measure(make, now, 50); // V8 compiles what is hot
const inV8 = Object.fromEntries(Object.entries(all).map(([name, make]) => [name, measure(make, now, 500)]));

const root = fileURLToPath(new URL("../..", import.meta.url));
const go = spawnSync("go", ["test", "-run", "^$", "-bench", "Membrane", "-benchtime", "1x", "./runtime/embedded"], { cwd: root, encoding: "utf8" });
if (go.status !== 0) throw new Error(`the embedded host was not measured:\n${go.stdout}${go.stderr}`);
for (const [, name, us] of go.stdout.matchAll(/^BenchmarkMembrane\/(\S+?)(?:-\d+)?\s.*?([\d.]+) us\/call/gm)) {
  const v8 = inV8[name.replace("_", " ")];
  const times = Number(us) / v8;
  console.log(
    `${name.replace("_", " ").padEnd(24)} ${v8.toFixed(1).padStart(10)} us in V8 ${Number(us).toFixed(1).padStart(12)} us embedded  ${times.toFixed(1).padStart(6)}x${times > TARGET ? `  (target ${TARGET}x: not met)` : ""}`,
  );
}
