// The other end of worker.js: one sandbox, which is asked by messages.
import { nodeBuiltin } from "./bundle.js";
import { SandboxError } from "./errors.js";
import { SandboxManager } from "./index.js";

const port = nodeBuiltin("node:worker_threads")?.parentPort ?? globalThis;

function listen(listener) {
  if (port.on) port.on("message", listener);
  else port.onmessage = (event) => listener(event.data);
}

let sandbox;

async function answer({ wasm, name, code, options, path, args }) {
  if (wasm !== undefined) return SandboxManager.ready({ wasm });
  if (path === undefined) {
    sandbox = SandboxManager.createSandboxSync(name, code, options);
    return undefined;
  }
  const owner = path.slice(0, -1).reduce((value, key) => value?.[key], sandbox.exports);
  const f = path.length === 0 ? sandbox.callable() : owner?.[path.at(-1)];
  if (typeof f !== "function") throw new SandboxError(`the sandbox exports no function ${path.join(".")}`);
  return Reflect.apply(f, owner, args);
}

/** Says how a request ended; what cannot be cloned is said in words. */
function tell(id, message) {
  try {
    port.postMessage({ id, ...message });
  } catch (cause) {
    const what = "thrown" in message ? `what was thrown (${describe(message.thrown)})` : "the result";
    port.postMessage({ id, kind: "SandboxError", text: `${what} cannot be cloned out of the sandbox's thread: ${cause.message}` });
  }
}

function describe(thrown) {
  try {
    return String(thrown);
  } catch {
    return "which has no text";
  }
}

function failure(error) {
  if (!(error instanceof SandboxError)) return { thrown: error };
  return { kind: error.name, text: error.message, limit: error.limit };
}

listen((request) => {
  if (request.alive) return port.postMessage({ alive: true });
  const { id } = request;
  const done = answer(request);
  port.postMessage({ alive: true, returned: id });
  done.then(
    (value) => tell(id, { value }),
    (error) => tell(id, failure(error)),
  );
});
