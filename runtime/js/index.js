import { fetchBytecode } from "./bundle.js";
import { bytecodeOf } from "./bytecode.js";
import { Engine } from "./engine.js";
import { Images } from "./image.js";
import { persist, readImage, writeImage } from "./image-store.js";
import { managerOf } from "./sandbox.js";
import { checkEngine, compile, compiledNow } from "./wasm.js";

export { loadBundle } from "./bundle.js";
export { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError, SandboxRevokedError } from "./errors.js";

const check = (name, wanted) => {
  compiledNow();
  checkEngine(name, wanted);
};

export const SandboxManager = managerOf({
  store: { persist, fetchBytecode, read: readImage, write: writeImage },
  bytecodeOf,
  load: compile,
  open: (_, image) => new Engine(compiledNow(), image),
  check,
  images: new Images(),
});

/** Returns the policy as it is; it gives editors its type. */
export function defineConfig(config) {
  return config;
}
