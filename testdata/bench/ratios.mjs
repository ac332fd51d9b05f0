// Reads what run.sh printed, the JSON lines and Go's benchmark lines, and prints what
// people wait for, and how our figures stand to those of the peers of the same run.
import { readFileSync } from "node:fs";

const peers = {};
const ours = {};
let check, edits;
for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line.startsWith("{")) {
    const figure = JSON.parse(line);
    if (figure.peer) peers[figure.peer.split(" ")[0]] = figure;
    if (figure.check) check = figure;
    if (figure.edits) edits = figure;
  }
  const bench = /^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns\/op/.exec(line);
  if (bench) ours[bench[1]] = Number(bench[2]) / 1e6;
}

console.log(`edit to diagnostics, ${edits.libraries} libraries: p95 ${edits.msToDiagnostics.p95} ms; peak memory ${edits.peakMiB.server} MiB, ${edits.peakMiB.workers.length} workers beside it`);
console.log(`check of the corpus: ${check.cachedMs.nothing} ms with nothing cached, ${check.cachedMs.engine} ms with the engine, ${check.cachedMs.everything} ms with everything`);
console.log(`inference: ${["lodash", "d3", "zod"].map((name) => `${name} ${ours[`Infer/${name}`].toFixed(1)} ms`).join(", ")}`);

const rows = [
  ["build of 5 libraries, load check left out", peers.webpack?.ms, ours.Build_ofFive, 30],
  ["build of 5 libraries, load check included", peers.webpack?.ms, ours.Build_ofFiveWithLoad],
  ["exports (ours: of 6 libraries, the 5 among them)", peers.TypeScript?.totalMs, ours.Declarations_ofSixLibraries, 5],
  ["lodash: restore an image, against a new context and evaluation", peers["quickjs-emscripten"]?.ms, ours.Lodash_restore, 10],
  ["lodash: create and evaluate", peers["quickjs-emscripten"]?.ms, ours.Lodash_evaluate],
];
for (const [what, peer, own, target] of rows) {
  if (!peer || !own) {
    console.log(`${what}: not measured`);
    continue;
  }
  const aim = target ? `, target ${target}x` : "";
  console.log(`${what}: ${(peer / own).toFixed(1)}x faster (peer ${peer.toFixed(1)} ms, ours ${own.toFixed(1)} ms${aim})`);
}
