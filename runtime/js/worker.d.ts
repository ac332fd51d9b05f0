import type { SandboxOptions } from "./index.js";

/**
 * A sandbox on a thread of its own. Calls run one after the other; arguments, results and
 * what is thrown are cloned.
 */
export interface WorkerSandbox {
  /**
   * Calls an exported function by its path of names, such as `"groupBy"` or `"core.parse"`.
   * Rejects with what it throws, or with a SandboxError.
   */
  call(path: string | readonly string[], args?: readonly unknown[]): Promise<any>;
  /** Ends the thread. Calls that wait, and later ones, reject with a SandboxDisposedError. */
  dispose(): void;
}

/**
 * Makes a sandbox on a thread of its own (a Worker). `limits.timeoutMs` is a hard limit
 * there: half a second after it the thread is ended, whatever the guest is at, the call
 * rejects with a SandboxLimitError, and later ones with a SandboxDeadError. The granted
 * globals are the thread's own.
 */
export declare function createSandboxInWorker(
  name: string,
  code: string,
  options: Omit<SandboxOptions, "capabilities" | "onViolation" | "reportOnly" | "marshallers"> & { limits: { timeoutMs: number } },
): Promise<WorkerSandbox>;
