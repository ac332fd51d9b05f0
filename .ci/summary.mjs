// Reads the output of `make test TEST_FLAGS=-json`: prints a line per Go package and
// the output of what failed, passes other lines through, and writes "passed failed" to
// the file that is its argument. Subtests count, as Go's own reports have them.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

let passed = 0;
let failed = 0;
const output = new Map(); // package and test -> lines, until it is known how it ended
const failures = new Set(); // packages with a failed test

const key = ({ Package, ImportPath, Test }) => `${Package ?? ImportPath} ${Test ?? ""}`;

function event(e) {
  switch (e.Action) {
    case "output":
    case "build-output":
      output.set(key(e), [...(output.get(key(e)) ?? []), e.Output]);
      return;
    case "pass":
    case "fail": {
      const bad = e.Action === "fail";
      if (e.Test) {
        bad ? failed++ : passed++;
        if (bad) failures.add(e.Package);
      } else {
        console.log(`${bad ? "FAIL" : "ok  "} ${e.Package} ${e.Elapsed}s`);
        // A package can fail without a test: it does not compile, or it exits.
        if (bad && !failures.has(e.Package)) failed++;
      }
      if (bad) process.stdout.write((output.get(key(e)) ?? []).join(""));
      if (bad && e.FailedBuild) process.stdout.write((output.get(`${e.FailedBuild} `) ?? []).join(""));
      output.delete(key(e));
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let parsed;
  try {
    parsed = JSON.parse(line);
  } catch {
    // not Go's
  }
  if (parsed?.Action) {
    event(parsed);
    continue;
  }
  const counts = /^(?:#|ℹ) (pass|fail) (\d+)$/.exec(line);
  if (counts?.[1] === "pass") passed += Number(counts[2]);
  if (counts?.[1] === "fail") failed += Number(counts[2]);
  // Node's own report of what passed says nothing that the counts do not.
  if (!/^(ok|# Subtest:|  ---|  \.\.\.|  duration_ms:)/.test(line)) console.log(line);
}
writeFileSync(process.argv[2], `${passed} ${failed}\n`);
