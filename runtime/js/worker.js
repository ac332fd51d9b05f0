// A sandbox on a thread of its own, which can be ended wherever the guest is: the hard
// limit for what the engine cannot interrupt, such as a loop inside of a builtin.
import { nodeBuiltin } from "./node-builtin.js";
import { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError } from "./errors.js";
import { checkOptions } from "./options.js";
import { checkEngine, compile } from "./wasm.js";

/** How much later than the guest's own clock the thread is ended, in milliseconds. */
const GRACE_MS = 500;

const kinds = { SandboxError, SandboxLimitError, SandboxDeadError, SandboxDisposedError };

/** What a load may take at least, in milliseconds: the thread has to start as well. */
const LOAD_MS = 5000;

/** The longest that a timer can be set for. */
const MAX_MS = 2 ** 31 - 1 - GRACE_MS;

/** The thread's file, where nothing has moved it. */
const FILE = "./worker-thread.js";

/** What cannot go to another thread. */
const local = ["capabilities", "onViolation", "reportOnly", "marshallers"];

/**
 * The thread, as Node and browsers have it. It is spoken to through a port of its own: the
 * thread's global `postMessage` may be granted to the library.
 *
 * @param given where its file is instead, or a function that makes it
 */
function startThread(given, onMessage, onFailure) {
  const threads = nodeBuiltin("node:worker_threads");
  const worker = threads ? nodeThread(threads, given) : pageThread(given);
  const { port1: port, port2: theirs } = new MessageChannel();
  worker.postMessage({ port: theirs }, [theirs]);
  port.onmessage = (event) => onMessage(event.data);
  if (threads) {
    worker.on("error", onFailure);
    worker.on("exit", (code) => onFailure(new Error(`it ended by itself, with code ${code}`)));
    worker.unref();
    port.unref();
    return { port, end: () => worker.terminate(), busy: (yes) => (yes ? worker.ref() : worker.unref()) };
  }
  worker.onerror = (event) => onFailure(new Error(event.message ?? "the browser does not say why"));
  return { port, end: () => worker.terminate(), busy() {} };
}

function nodeThread(threads, given = new URL(FILE, import.meta.url)) {
  if (typeof given === "function") return given();
  return new threads.Worker(/^\w\w+:/.test(given) ? new URL(given) : given);
}

// Bundlers find the file by these very words, and put its place in theirs.
function pageThread(given) {
  if (typeof given === "function") return given();
  if (given !== undefined) return new Worker(given, { type: "module" });
  return new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
}

/** Where the thread's file was looked for. */
function placeOf(given) {
  if (typeof given === "function") return "what the option thread makes";
  if (given !== undefined) return String(given);
  try {
    return new URL(FILE, import.meta.url).href;
  } catch {
    return FILE; // the bundle is no module, and does not know where it is
  }
}

class WorkerSandbox {
  #name;
  #timeoutMs;
  #thread;
  #queue = []; // calls that wait: the thread is given one at a time
  #pending = new Map(); // id -> { resolve, reject }
  #lastId = 0;
  #running; // id of the call whose synchronous part runs
  #clock;
  #over; // the error for every later call
  #place; // of the thread's file, until it has answered

  constructor(name, timeoutMs, thread) {
    this.#name = name;
    this.#timeoutMs = timeoutMs;
    this.#place = placeOf(thread);
    try {
      this.#thread = startThread(
        thread,
        (message) => this.#hear(message),
        (cause) => this.#end(this.#failure(cause)),
      );
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  #failure(cause) {
    if (this.#place === undefined) return new SandboxError(`the thread of the sandbox of ${this.#name} failed: ${cause.message}`, { cause });
    return new SandboxError(
      `the thread of the sandbox of ${this.#name} cannot be loaded from ${this.#place}: ${cause.message}. Have your bundler emit @sandbox-lsp/runtime/worker-thread as a module of its own, and give createSandboxInWorker its URL, or a function that makes the Worker, as the option thread`,
      { cause },
    );
  }

  /**
   * Calls an exported function by its path of names, such as "groupBy" or "core.parse".
   * Arguments and result are cloned.
   */
  async call(path, args = []) {
    const names = typeof path === "string" ? path.split(".") : path;
    if (!Array.isArray(names)) throw new SandboxError(`what is called in the sandbox of ${this.#name} is a path of names, not ${String(path)}`);
    return this.send({ path: [...names], args });
  }

  /** Ends the thread. Every call that waits, and every later one, is refused. */
  dispose() {
    this.#end(new SandboxDisposedError(`the sandbox of ${this.#name} was disposed of; create another one to go on`));
  }

  /** Posts a request, once those before it have returned; resolves to the answer. */
  send(request) {
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(this.#over);
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject });
      this.#queue.push({ id, ...request });
      this.#thread.busy(true);
      this.#next();
    });
  }

  #next() {
    if (this.#running !== undefined || this.#queue.length === 0) return;
    const request = this.#queue.shift();
    this.#running = request.id;
    try {
      this.#thread.port.postMessage(request);
    } catch (cause) {
      this.#settle(request.id, "reject", new SandboxError(`an argument cannot be cloned for the sandbox's thread: ${cause.message}`, { cause }));
      this.#running = undefined;
      return this.#next();
    }
    this.#watch(request.path === undefined ? LOAD_MS : 0);
  }

  // Whatever the thread is at, it has to come back to its messages in time.
  #watch(atLeast = 0) {
    clearTimeout(this.#clock);
    this.#clock = setTimeout(() => {
      if (this.#place !== undefined) return this.#end(this.#failure(new Error("it does not answer")));
      const message = `the sandbox of ${this.#name} was stopped: it ran longer than the ${this.#timeoutMs} ms of limits.timeoutMs, where only the end of its thread could stop it`;
      this.#end(new SandboxLimitError(message, "time"), new SandboxDeadError(`${message}; create another one to go on`, "time"));
    }, Math.max(this.#timeoutMs, atLeast) + GRACE_MS);
  }

  #hear(message) {
    if (this.#over) return;
    this.#place = undefined;
    if (message.alive) {
      // An answer to a question says nothing of the call that was posted after it.
      if (message.returned !== this.#running) return;
      clearTimeout(this.#clock);
      // Promises may keep it busy after a call has returned.
      if (this.#pending.size > 0) {
        this.#clock = setTimeout(() => {
          this.#thread.port.postMessage({ alive: true });
          this.#watch();
        }, this.#timeoutMs);
      }
      this.#running = undefined;
      this.#next();
      return;
    }
    const { id, value, thrown, kind } = message;
    if (kind !== undefined) this.#settle(id, "reject", new kinds[kind](message.text, message.limit));
    else if ("thrown" in message) this.#settle(id, "reject", thrown);
    else this.#settle(id, "resolve", value);
  }

  #settle(id, how, value) {
    this.#pending.get(id)?.[how](value);
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    clearTimeout(this.#clock);
    this.#thread.busy(false);
  }

  #end(error, later = error) {
    if (this.#over) return;
    this.#over = later;
    clearTimeout(this.#clock);
    this.#queue.length = 0;
    for (const id of [...this.#pending.keys()]) this.#settle(id, "reject", error);
    this.#thread?.port.close();
    this.#thread?.end();
  }
}

/**
 * Makes a sandbox on a thread of its own. `limits.timeoutMs` has to be given: half a second
 * after it the thread is ended, whatever it is at.
 */
export async function createSandboxInWorker(name, code, options = {}) {
  checkOptions(options, "thread");
  const { thread, ...rest } = options;
  const timeoutMs = options.limits?.timeoutMs;
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0 && timeoutMs <= MAX_MS))
    throw new SandboxError(`a sandbox in a Worker needs limits.timeoutMs, a number above 0 and up to ${MAX_MS}: it is what the Worker is for`);
  const refused = local.find((option) => options[option] !== undefined);
  if (refused) throw new SandboxError(`${refused} cannot go to the thread of a Worker; the granted globals there are the thread's own`);
  const wasm = await compile();
  checkEngine(name, options.engine);
  const sandbox = new WorkerSandbox(name, timeoutMs, thread);
  try {
    await sandbox.send({ wasm });
    await sandbox.send({ name, code, options: rest });
  } catch (error) {
    sandbox.dispose();
    throw error;
  }
  return sandbox;
}
