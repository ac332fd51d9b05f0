import { Engine } from "./engine.js";
import { managerOf } from "./sandbox.js";
import { compile, compiledNow } from "./wasm.js";

export { loadBundle } from "./bundle.js";
export { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError, SandboxRevokedError } from "./errors.js";

export const SandboxManager = managerOf({ load: compile, open: () => new Engine(compiledNow()) });

/** Returns the policy as it is; it gives editors its type. */
export function defineConfig(config) {
  return config;
}
