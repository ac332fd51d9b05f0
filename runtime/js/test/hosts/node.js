// Runs the suite in Node and prints what it shows as one line of JSON; with --restored in
// sandboxes that go on from images.
import { SandboxManager } from "../../index.js";
import { createRestored, made } from "../restored.js";
import { runAll } from "./suite.js";

// What a program leaves behind to be rejected later is its own affair.
process.on("unhandledRejection", () => {});

const restored = process.argv.includes("--restored");
const createSandbox = restored ? createRestored : (source, options) => SandboxManager.createSandbox("lib", source, options);
const shown = await runAll({ createSandbox, say: process.argv.includes("-v") ? console.error : undefined });
console.log(JSON.stringify({ ...shown, made }));
