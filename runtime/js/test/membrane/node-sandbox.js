import { SandboxManager } from "../../index.js";

/** A sandbox as the suites ask for it. */
export function createSandbox(source, options) {
  return SandboxManager.createSandbox("lib", source, options);
}
