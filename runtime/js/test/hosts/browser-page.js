// The runtime as a page has it, for tests that play the application.
import { loadBundle, SandboxManager } from "../../index.js";

globalThis.runtime = { SandboxManager, loadBundle };
