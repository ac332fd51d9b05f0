// Where the engine's WebAssembly module comes from: compiled once per process.
import { nodeBuiltin } from "./bundle.js";
import { SandboxError } from "./errors.js";

/** Where browsers find the engine unless `SandboxManager.ready` says otherwise. */
const BROWSER_WASM = "/dist/quickjs.wasm";

/** How every WebAssembly module begins. */
const MAGIC = [0, 0x61, 0x73, 0x6d];

let compiling; // Promise<WebAssembly.Module>
let compiled; // what it gave

/** Compiles the engine; `source` counts only the first time. */
export function compile(source) {
  compiling ??= load(source).then(
    (module) => {
      compiled = module;
      return module;
    },
    (cause) => {
      compiling = undefined;
      throw cause instanceof SandboxError ? cause : new SandboxError(`the QuickJS engine cannot be loaded: ${cause.message}`, { cause });
    },
  );
  return compiling;
}

/** The module, if it has been compiled; in Node it can be had at once. */
export function compiledNow() {
  if (!compiled && nodeBuiltin("node:fs")) compiled = new WebAssembly.Module(fromDisk());
  if (!compiled) throw new SandboxError("the QuickJS engine is not loaded yet: await SandboxManager.ready() first");
  return compiled;
}

function fromDisk(source = import.meta.resolve("quickjs-wasi/quickjs.wasm")) {
  return nodeBuiltin("node:fs").readFileSync(new URL(source));
}

async function load(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) return WebAssembly.compile(source);
  if (nodeBuiltin("node:fs") && !/^https?:/.test(String(source ?? ""))) return WebAssembly.compile(fromDisk(source));
  const url = source ?? BROWSER_WASM;
  const response = await fetch(url);
  const bytes = response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  // Development servers answer unknown paths with their index page.
  if (bytes === undefined || !MAGIC.every((byte, i) => bytes[i] === byte)) {
    const type = response.headers.get("content-type") ?? "no content type";
    const what = bytes === undefined ? response.status : `with something else (${type})`;
    throw new SandboxError(
      `the QuickJS engine cannot be loaded: ${url} answered ${what}. Serve quickjs.wasm there, or call SandboxManager.ready({ wasm: url }) before the first proxy is imported.`,
    );
  }
  return WebAssembly.compile(bytes);
}
