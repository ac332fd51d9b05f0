// What the peers' scripts share: their arguments, medians, and the printed line.
import { execFileSync } from "node:child_process";

export const libraries = ["lodash", "dayjs", "zod", "date-fns", "uuid"];

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const round = (ms) => Math.round(ms * 1000) / 1000;

export function usage(text) {
  console.error(`usage: node ${text}`);
  process.exit(2);
}

/** Runs this very script in fresh processes and returns the JSON that each printed. */
export function inFreshProcesses(script, args, runs) {
  return Array.from({ length: runs }, () => JSON.parse(execFileSync(process.execPath, [script, ...args], { encoding: "utf8", env: { ...process.env, BENCH_ONCE: "1" } })));
}

export function print(result) {
  console.log(JSON.stringify(result));
}
