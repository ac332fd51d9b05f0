/** A host global that a library may use: by name, or narrowed to what `allow` lists. */
export type Permission = string | { name: string; allow?: string[] };

/** Quotas. One that fires makes the sandbox dead. */
export interface Limits {
  /** The guest's heap in MiB, buffers included. 64 when not given. */
  memoryMB?: number;
  /** Guest time of one outermost call in milliseconds; host callbacks do not count. */
  timeoutMs?: number;
  /** The guest's stack in KiB, at most 64 here. */
  stackKB?: number;
  /** The size budget of the library's bundle in KiB. A matter of the build. */
  bundleKB?: number;
}

/** An adapter that runs inside a library's sandbox. */
export interface Workload {
  /** Its JavaScript file, relative to the project root. */
  entry: string;
  /** The functions that its proxy exposes. */
  exports: string[];
}

/** The policy of one library. */
export interface LibraryPolicy {
  /** The host globals that it may use. `[]` grants none. */
  permissions: Permission[];
  workloads?: Record<string, Workload>;
  /** Whether requests below the package are redirected as well. */
  subpaths?: boolean;
  limits?: Limits;
  /** `"data"` refuses host functions and instances as arguments. */
  arguments?: "membrane" | "data";
  /** `"mirror"` copies plain results; `"live"` returns proxies of the guest's own objects. */
  results?: "mirror" | "live";
  /** Whether host data is read ahead in bulk. */
  reads?: "window" | "exact";
  /** Whether an image of the heap is kept after the library has loaded. */
  snapshot?: boolean;
}

/** A policy: what each library may do, keyed by package request. */
export type SandboxConfig = Record<string, LibraryPolicy>;

/** Returns the policy as it is; it gives editors its type. */
export declare function defineConfig(config: SandboxConfig): SandboxConfig;

export interface SandboxOptions {
  permissions?: readonly Permission[];
  limits?: Limits;
  arguments?: "membrane" | "data";
  results?: "mirror" | "live";
  /** Where the value of a granted name comes from, instead of `globalThis[name]`. */
  capabilities?: Record<string, unknown>;
}

/**
 * One library in an engine of its own.
 *
 * Plain data crosses as copies: a write to a copy is not seen on the other side.
 * Functions, classes, instances and errors of the library's own classes cross as
 * proxies. Arguments that a callback does not declare, past the second, are live
 * proxies too.
 */
export interface Sandbox {
  /** What the library exports, as a live proxy. */
  readonly exports: any;
  /** An exported function. Throws a SandboxError when there is none of that name. */
  fn(name: string): (...args: any[]) => any;
  /** An exported class, whose instances live in the guest. */
  cls(name: string): new (...args: any[]) => any;
  /** The exports themselves when they can be called, else their default export. */
  callable(): any;
  /** An exported value, read now. */
  value(name: string): any;
  /** Constructs the class at a path of names, such as `"core.Node"`. */
  createInstance(path: string | readonly string[], args?: readonly unknown[]): any;
  /** Evaluates a workload beside the library, once per name, and returns its exports. */
  loadWorkload(name: string, code: string): any;
  /** Does nothing: a sandbox holds no process open. */
  unrefPump(): void;
  /** Frees the engine. Every later use of anything that came from it throws. */
  dispose(): void;
}

export declare const SandboxManager: {
  /**
   * Loads the engine. `wasm` says where from: in browsers `/dist/quickjs.wasm` when it
   * is not given. `count` engines are prepared for createSandboxSync.
   */
  ready(options?: { wasm?: string | URL | BufferSource | WebAssembly.Module; count?: number }): Promise<void>;
  /**
   * Runs `code`, which assigns the library's exports to `__SANDBOXED_LIB__`, in a
   * sandbox of its own. Rejects with a SandboxError when it does not load.
   */
  createSandbox(name: string, code: string, options?: SandboxOptions): Promise<Sandbox>;
  /** The same, with one of the engines that `ready` prepared. */
  createSandboxSync(name: string, code: string, options?: SandboxOptions): Sandbox;
};

/** Reads a bundle's source text: from `node` on disk, or from `browser` over HTTP. */
export declare function loadBundle(from: { node: URL; browser: string }): Promise<string>;

/** Anything that this package itself has to say. */
export declare class SandboxError extends Error {}

/** A limit fired during this very call. The sandbox is dead from now on. */
export declare class SandboxLimitError extends SandboxError {
  readonly limit: "memory" | "time" | "fault";
}

/** The sandbox died in an earlier call. */
export declare class SandboxDeadError extends SandboxError {}

/** The sandbox was disposed of. */
export declare class SandboxDisposedError extends SandboxError {}
