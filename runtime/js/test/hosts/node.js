// Runs the suite in Node and prints what it shows as one line of JSON.
import { SandboxManager } from "../../index.js";
import { runAll } from "./suite.js";

// What a program leaves behind to be rejected later is its own affair.
process.on("unhandledRejection", () => {});

const createSandbox = (source, options) => SandboxManager.createSandbox("lib", source, options);
console.log(JSON.stringify(await runAll({ createSandbox, say: process.argv.includes("-v") ? console.error : undefined })));
