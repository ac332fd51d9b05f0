// Runs the suite in a worker: what a program leaves behind to be rejected later is its own
// affair, and would be held against whichever test runs then.
import { parentPort } from "node:worker_threads";
import { SandboxManager } from "../../index.js";
import { runHostile } from "./suite.js";

process.on("unhandledRejection", () => {});

const lines = [];
const cases = [];
const { passed, failed, total } = await runHostile({
  createSandbox: (code, options) => SandboxManager.createSandbox("hostile", code, options),
  say: (line) => lines.push(line),
  onCase: (route, { name }, problems) => cases.push({ route, name, problems }),
});
parentPort.postMessage({ passed, failed, total, lines, cases });
