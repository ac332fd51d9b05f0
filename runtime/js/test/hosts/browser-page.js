// The runtime as a page has it, for tests that play the application.
import { loadBundle, SandboxManager } from "../../index.js";
import { createSandboxInWorker } from "../../worker.js";

globalThis.runtime = { SandboxManager, loadBundle, createSandboxInWorker };
