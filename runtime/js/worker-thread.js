// The other end of worker.js: one sandbox, which is asked by messages.
import { nodeBuiltin } from "./node-builtin.js";
import { SandboxError, wordsOf } from "./errors.js";
import { SandboxManager } from "./index.js";

let port; // to worker.js alone: nothing that runs here finds it
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
    const what = "thrown" in message ? `what was thrown (${wordsOf(message.thrown)})` : "the result";
    port.postMessage({ id, kind: "SandboxError", text: `${what} cannot be cloned out of the sandbox's thread: ${cause.message}` });
  }
}

function failure(error) {
  if (!(error instanceof SandboxError)) return { thrown: error };
  return { kind: error.name, text: error.message, limit: error.limit };
}

function listen(request) {
  if (request.alive) return port.postMessage({ alive: true });
  const { id } = request;
  const done = answer(request);
  port.postMessage({ alive: true, returned: id });
  done.then(
    (value) => tell(id, { value }),
    (error) => tell(id, failure(error)),
  );
}

// The first message of all brings the port, before there is a library.
function begin(message) {
  if (port) return;
  port = message.port;
  port.onmessage = (event) => listen(event.data);
}

const parent = nodeBuiltin("node:worker_threads")?.parentPort;
if (parent) parent.once("message", begin);
else globalThis.addEventListener("message", (event) => begin(event.data), { once: true });
