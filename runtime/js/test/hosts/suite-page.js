// The suite as a page's script: `runAll()` runs it there.
import { SandboxManager } from "../../index.js";
import { runAll } from "./suite.js";

globalThis.runAll = () =>
  runAll({
    createSandbox: (source, options) => SandboxManager.createSandbox("lib", source, options),
    say: (text) => console.log(text),
  });
