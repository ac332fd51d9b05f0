// Where the engine's WebAssembly module comes from: compiled once per process.
import { nodeBuiltin } from "./node-builtin.js";
import { SandboxError } from "./errors.js";
import { hashNow, hashOf } from "./hash.js";

/** Where browsers find the engine unless `SandboxManager.ready` says otherwise. */
const BROWSER_WASM = "/dist/quickjs.wasm";

/** How every WebAssembly module begins. */
const MAGIC = [0, 0x61, 0x73, 0x6d];

let compiling; // Promise<WebAssembly.Module>
let compiled; // what it gave
let hash; // of its bytes; undefined for a module that somebody else compiled

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
  if (!compiled && nodeBuiltin("node:fs")) {
    const bytes = fromDisk();
    hash = hashNow(bytes);
    compiled = new WebAssembly.Module(bytes);
  }
  if (!compiled) throw new SandboxError("the QuickJS engine is not loaded yet: await SandboxManager.ready() first");
  return compiled;
}

/** The hash of the engine, once it is compiled. */
export function engineHash() {
  return hash;
}

/** Refuses an engine that is not the one that a sandbox was built for. */
export function checkEngine(name, wanted) {
  if (wanted === undefined || hash === undefined || hash === wanted) return;
  throw new SandboxError(
    `the QuickJS engine that is loaded is not the one that ${name} was built for, since its hash is not the one in the proxy (SBX045). Serve the quickjs.wasm of this version of @sandbox-lsp/runtime, or run \`sandbox-lsp build\` with the sandbox-lsp that belongs to it.`,
  );
}

async function compileBytes(bytes) {
  const [module, sum] = await Promise.all([WebAssembly.compile(bytes), hashOf(bytes)]);
  hash = sum;
  return module;
}

function fromDisk(source = import.meta.resolve("quickjs-wasi/quickjs.wasm")) {
  return nodeBuiltin("node:fs").readFileSync(new URL(source));
}

async function load(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) return compileBytes(source);
  if (nodeBuiltin("node:fs") && !/^https?:/.test(String(source ?? ""))) return compileBytes(fromDisk(source));
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
  return compileBytes(bytes);
}
