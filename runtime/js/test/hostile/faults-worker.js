// Loads a library with less memory left than it needs, on a thread that can be ended: says
// before each try how much there is, and after it how that went.
import { parentPort, workerData } from "node:worker_threads";
import { SandboxManager } from "../../index.js";

const { code, from, to, step } = workerData;
for (let bytes = from; bytes < to; bytes += step) {
  parentPort.postMessage({ bytes });
  let outcome = "whole";
  try {
    const taken = `globalThis.taken = new ArrayBuffer(${2 ** 20 - bytes});`;
    const sandbox = await SandboxManager.createSandbox("lib", taken + code, { limits: { memoryMB: 1 } });
    sandbox.exports.add(1, 2);
    sandbox.dispose();
  } catch (error) {
    outcome = error.limit ? `${error.name} ${error.limit}` : `${error.name}: ${error.message}`;
  }
  parentPort.postMessage({ bytes, outcome });
}
process.exit(0);
