// Runs one expression in a sandbox, on a thread that can be ended from outside.
import { parentPort, workerData } from "node:worker_threads";
import { SandboxManager } from "../../index.js";

const { expression, timeoutMs } = workerData;
const sandbox = await SandboxManager.createSandbox("lib", `var __SANDBOXED_LIB__ = { run() { ${expression}; return "done"; } }`, { limits: { timeoutMs } });
parentPort.postMessage("started");
try {
  sandbox.exports.run();
  parentPort.postMessage("done");
} catch (error) {
  parentPort.postMessage(`${error.name} ${error.limit}`);
}
process.exit(0);
