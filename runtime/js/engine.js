// Brings up QuickJS instances. The only file that knows where the WebAssembly
// module comes from, and the only one that uses exports of the engine that its
// wrapper does not name.
import { QuickJS } from "quickjs-wasi";
import { nodeBuiltin } from "./bundle.js";
import { SandboxError } from "./errors.js";

/** Where browsers find the engine unless `SandboxManager.ready` says otherwise. */
const BROWSER_WASM = "/dist/quickjs.wasm";

let compiled; // Promise<WebAssembly.Module>

/** Compiles the engine once per process; `source` counts only the first time. */
export function compile(source) {
  compiled ??= load(source).catch((cause) => {
    compiled = undefined;
    throw cause instanceof SandboxError ? cause : new SandboxError(`the QuickJS engine cannot be loaded: ${cause.message}`, { cause });
  });
  return compiled;
}

async function load(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) return WebAssembly.compile(source);
  const fs = nodeBuiltin("node:fs");
  if (fs && !/^https?:/.test(String(source ?? ""))) {
    return WebAssembly.compile(fs.readFileSync(new URL(source ?? import.meta.resolve("quickjs-wasi/quickjs.wasm"))));
  }
  const url = source ?? BROWSER_WASM;
  const response = await fetch(url);
  if (!response.ok) {
    throw new SandboxError(
      `the QuickJS engine cannot be loaded: ${url} answered ${response.status}. Serve quickjs.wasm there, or call SandboxManager.ready({ wasm: url }) before the first proxy is imported.`,
    );
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/**
 * One instance without limits yet. `poll` is asked from time to time while guest
 * code runs; true ends it.
 */
export class Engine {
  #exports;

  static async start(source) {
    const engine = new Engine();
    engine.poll = () => false;
    engine.vm = await QuickJS.create({ wasm: await compile(source), interruptHandler: () => engine.poll() });
    engine.#exports = engine.vm._getExports();
    return engine;
  }

  setLimits(memoryBytes, stackBytes) {
    this.#exports.qjs_set_memory_limit(memoryBytes);
    this.#exports.qjs_set_max_stack_size(stackBytes);
  }

  get hasJobs() {
    return this.#exports.qjs_is_job_pending() !== 0;
  }

  /** Differs after a call when something unwound a frame of the engine. */
  get stackPointer() {
    return this.#exports.__stack_pointer.value;
  }

  /** Whether guest code cannot catch what was thrown: a limit, that is. */
  isUncatchable(exception) {
    return this.#exports.qjs_is_uncatchable_error(exception.handle.ptr) !== 0;
  }

  get memoryBytes() {
    return this.#exports.qjs_get_allocated_size();
  }

  stop() {
    this.vm.dispose();
    this.#exports = undefined;
  }
}
