import { JSException } from "quickjs-wasi";
import { grant, grantedNames } from "./capabilities.js";
import { compile, Engine } from "./engine.js";
import { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError } from "./errors.js";
import { Marshaller } from "./marshal.js";

const DEFAULT_MEMORY_MB = 64;
// The only size at which V8 hosts catch recursion, deep sources and deep JSON alike.
const STACK_KB = 64;
// Calls inside calls, from host to guest to host. In Node the host's own stack ends
// after about 45 of them when the application has used none of it, and an overflow
// there tears the engine's frames and so kills the sandbox; this end is clean.
const MAX_DEPTH = 24;

/** One library in an engine of its own. */
class Sandbox {
  #name;
  #engine;
  #marshaller;
  #granted;
  #timeoutMs;
  #library; // handle of what the library exports
  #workloads = new Map();
  #depth = 0;
  #spent = 0; // guest time of the outermost call so far, in ms
  #since = 0; // when the guest was last given control; 0 while it is not
  #death; // { limit, message } once dead
  #disposed = false;

  constructor(engine, name, code, options) {
    const { permissions = [], limits = {}, capabilities = {}, arguments: args = "membrane", results = "mirror" } = options;
    this.#name = name;
    this.#engine = engine;
    this.#granted = grantedNames(permissions);
    this.#timeoutMs = positive("timeoutMs", limits.timeoutMs, Infinity);
    const stackKB = positive("stackKB", limits.stackKB, STACK_KB);
    if (stackKB > STACK_KB) throw new SandboxError(`limits.stackKB: ${stackKB} is more than the ${STACK_KB} that this host can hold a guest to`);
    const memory = positive("memoryMB", limits.memoryMB, DEFAULT_MEMORY_MB) * 2 ** 20;
    engine.setLimits(memory, stackKB * 2 ** 10);
    engine.poll = () => this.#poll();
    const sandbox = this;
    this.#marshaller = new Marshaller(
      {
        run: (body) => this.#run(body),
        answer: (body) => this.#answer(body),
        pause: (body) => this.#pause(body),
        exhausted: () => this.#exhausted(),
        get crowded() {
          return engine.memoryBytes > memory / 4;
        },
        get usable() {
          return !sandbox.#disposed && !sandbox.#death;
        },
        dataOnly: oneOf("arguments", args, "membrane", "data") === "data",
        live: oneOf("results", results, "mirror", "live") === "live",
      },
      engine.vm,
    );
    try {
      this.#library = this.#run(() => {
        grant(this.#marshaller, engine.vm, this.#granted, capabilities);
        return this.#evaluate(code, `${name}.bundle.js`, "__SANDBOXED_LIB__");
      });
    } catch (cause) {
      this.dispose();
      if (cause instanceof SandboxError) throw cause;
      throw new SandboxError(
        `${name} failed while loading in its sandbox: ${cause?.name ?? "thrown"}: ${cause?.message ?? String(cause)}${this.#hint(cause)}`,
        { cause },
      );
    }
  }

  /** What the library exports, as a live proxy. */
  get exports() {
    return this.#run(() => this.#marshaller.alive(this.#library));
  }

  /** An exported function. */
  fn(name) {
    const value = this.value(name);
    if (typeof value !== "function") throw new SandboxError(`${this.#name} exports no function ${String(name)}`);
    return value;
  }

  /** An exported class; `new` constructs in the guest. */
  cls(name) {
    return this.fn(name);
  }

  /** The exports themselves when they can be called, else their default. */
  callable() {
    const whole = this.exports;
    return typeof whole === "function" ? whole : this.fn("default");
  }

  /** An exported value, read now. */
  value(name) {
    return this.#run(() => this.#marshaller.toHost(this.#marshaller.get(this.#library, name)));
  }

  /** Constructs the class at a path of names, such as "Duration" or "core.Node". */
  createInstance(path, args = []) {
    const names = typeof path === "string" ? path.split(".") : path;
    return this.#run(() => {
      const found = names.reduce((handle, name) => this.#marshaller.get(handle, name), this.#library);
      if (!found.isFunction) throw new SandboxError(`${this.#name} exports no class ${names.join(".")}`);
      return this.#marshaller.toHost(this.#marshaller.construct(found, args));
    });
  }

  /** Evaluates a workload beside the library, once per name. */
  loadWorkload(name, code) {
    return this.#run(() => {
      if (!this.#workloads.has(name)) this.#workloads.set(name, this.#evaluate(code, `${this.#name}.${name}.workload.bundle.js`, "__SANDBOXED_WORKLOAD__"));
      return this.#marshaller.alive(this.#workloads.get(name));
    });
  }

  /** Kept for generated proxies: nothing here polls, so nothing holds a process open. */
  unrefPump() {}

  /** Frees the engine. Every later use of anything that came from it throws. */
  dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#marshaller?.abandon(this.#refusal());
    if (this.#depth === 0) this.#engine.stop();
  }

  #evaluate(code, file, global) {
    const { vm } = this.#engine;
    const marshaller = this.#marshaller;
    marshaller.temp(vm.evalCode(code, file));
    const value = marshaller.temp(vm.global.getProp(global));
    if (!value.isObject && !value.isFunction) throw new SandboxError(`${file} did not assign an object or a function to ${global}`);
    return value.dup();
  }

  // A missing global is what a policy is most often wrong about.
  #hint(cause) {
    const name = cause?.name === "ReferenceError" && /^'?([\w$]+)'? is not defined/.exec(cause.message)?.[1];
    return name && !this.#granted.includes(name) ? ` (its policy does not grant ${name})` : "";
  }

  #refusal() {
    if (this.#disposed) return new SandboxDisposedError(`the sandbox of ${this.#name} was disposed of; create another one to go on`);
    return new SandboxDeadError(`the sandbox of ${this.#name} is dead since ${this.#death.message}; create another one to go on`);
  }

  /** Every way into the guest: runs `body` under the limits. */
  #run(body) {
    if (this.#disposed || this.#death) throw this.#refusal();
    if (this.#depth >= MAX_DEPTH) throw new RangeError(`more than ${MAX_DEPTH} calls between ${this.#name} and its host are nested`);
    const mark = this.#marshaller.mark;
    const pointer = this.#engine.stackPointer;
    if (this.#depth++ === 0) this.#spent = 0;
    this.#since = performance.now();
    try {
      const result = body();
      if (this.#depth === 1) this.#marshaller.sweep();
      if (this.#death) throw this.#limitError();
      return result;
    } catch (error) {
      throw this.#judge(error);
    } finally {
      this.#spent += performance.now() - this.#since;
      this.#since = 0;
      this.#depth--;
      if (this.#engine.stackPointer !== pointer) this.#die("fault", "an error tore through the engine's frames");
      this.#marshaller.release(mark);
      if (this.#depth === 0) this.#afterwards();
    }
  }

  #afterwards() {
    if (this.#disposed || this.#death) this.#engine.stop();
    else if (this.#engine.hasJobs) queueMicrotask(() => this.#runJobs());
  }

  #runJobs() {
    if (this.#disposed || this.#death) return;
    try {
      this.#run(() => this.#engine.vm.executePendingJobs());
    } catch {
      // No caller to tell; abandon() has told whoever waits.
    }
  }

  /** A callback's way: guest code waits on the stack, so its clock and fate matter. */
  #answer(body) {
    let result;
    try {
      result = body();
    } catch (error) {
      if (!this.#death && !this.#disposed) throw error;
    }
    if (this.#death || this.#disposed) throw this.#refusal();
    return result;
  }

  /** Runs host code with the guest's clock stopped. */
  #pause(body) {
    this.#spent += performance.now() - this.#since;
    this.#since = 0;
    try {
      return body();
    } finally {
      this.#since = performance.now();
    }
  }

  #poll() {
    if (this.#disposed || this.#death) return true;
    if (this.#since === 0 || this.#spent + performance.now() - this.#since <= this.#timeoutMs) return false;
    this.#die("time", `it ran longer than the ${this.#timeoutMs} ms of limits.timeoutMs`);
    return true;
  }

  #die(limit, message) {
    if (this.#death) return;
    this.#death = { limit, message };
    this.#marshaller.abandon(this.#refusal());
  }

  #limitError() {
    const { limit, message } = this.#death;
    return new SandboxLimitError(`the sandbox of ${this.#name} was stopped: ${message}`, limit);
  }

  /** Tells what ended a call: a limit, a fault of the engine, or an ordinary error. */
  #judge(error) {
    if (error instanceof JSException && !this.#death) {
      if (!this.#engine.isUncatchable(error)) {
        const value = this.#marshaller.toHost(error.handle);
        error.dispose();
        return value;
      }
      return this.#exhausted();
    } else if (error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /call stack/.test(error.message) && this.#torn(error))) {
      this.#die("fault", `the engine failed (${error.message})`);
    }
    if (this.#disposed) return this.#refusal();
    return this.#death && !(error instanceof SandboxError) ? this.#limitError() : error;
  }

  #exhausted() {
    this.#die("memory", "it needed more than limits.memoryMB");
    return this.#limitError();
  }

  // A guest's own RangeError comes as an adopted value; the host's overflow does not.
  #torn(error) {
    return !this.#marshaller.handleOf(error);
  }
}

function positive(name, value, fallback) {
  if (value === undefined) return fallback;
  if (typeof value !== "number" || !(value > 0)) throw new SandboxError(`limits.${name}: a number above 0 is needed, not ${String(value)}`);
  return value;
}

function oneOf(name, value, ...allowed) {
  if (!allowed.includes(value))
    throw new SandboxError(`${name}: ${allowed.map((a) => JSON.stringify(a)).join(" or ")} is needed, not ${JSON.stringify(value)}`);
  return value;
}

let prepared = []; // engines for createSandboxSync

export const SandboxManager = {
  /**
   * Loads the engine, and prepares `count` instances for createSandboxSync, each of
   * which takes one.
   */
  async ready({ wasm, count = 1 } = {}) {
    await compile(wasm);
    const missing = Math.max(0, count - prepared.length);
    prepared.push(...(await Promise.all(Array.from({ length: missing }, () => Engine.start()))));
  },

  async createSandbox(name, code, options = {}) {
    return new Sandbox(await Engine.start(), name, code, options);
  },

  createSandboxSync(name, code, options = {}) {
    const [engine, ...rest] = prepared;
    if (!engine) throw new SandboxError("no engine is prepared: await SandboxManager.ready({ count }) first, with a count for every createSandboxSync to come");
    prepared = rest;
    return new Sandbox(engine, name, code, options);
  },
};
