export { loadBundle } from "./bundle.js";
export { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError, SandboxRevokedError } from "./errors.js";
export { SandboxManager } from "./sandbox.js";

/** Returns the policy as it is; it gives editors its type. */
export function defineConfig(config) {
  return config;
}
