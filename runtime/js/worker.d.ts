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
 * globals are the thread's own. The time to clone arguments and results counts as well.
 */
export declare function createSandboxInWorker(
  name: string,
  code: string,
  options: Omit<SandboxOptions, "capabilities" | "onViolation" | "reportOnly" | "marshallers"> & {
    limits: { timeoutMs: number };
    /**
     * Where the thread's file is, or a function that makes the Worker. Bundlers that know
     * `new Worker(new URL(…, import.meta.url))` find it by themselves; for others, emit
     * `@sandbox-lsp/runtime/worker-thread` as a module of its own and say here where.
     */
    thread?: string | URL | (() => unknown);
  },
): Promise<WorkerSandbox>;
