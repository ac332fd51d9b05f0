import { grant, grantOnUse, grantsOf } from "./capabilities.js";
import { Denials } from "./denials.js";
import { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError, SandboxRevokedError, wordsOf } from "./errors.js";
import { OtherGrants, situationOf } from "./image.js";
import { isConstructor } from "./intrinsics.js";
import { disposeOf } from "./marshalling.js";
import { Membrane, microtask } from "./membrane.js";
import { checkOptions } from "./options.js";

const DEFAULT_MEMORY_MB = 64;
const MAX_MEMORY_MB = 2048; // as the policy has it

/** One library in an engine of its own. */
class Sandbox {
  #name;
  #engine;
  #membrane;
  #granted;
  #timeoutMs;
  #library; // ref of what the library exports, or { primitive }
  #workloads = new Map(); // name -> the same
  #subpaths = new Map(); // request -> the same
  #depth = 0;
  #pointers = []; // the engine's stack pointer at each way in
  #running = []; // whether the clock ran, at each way in
  #spent = 0; // guest time of the outermost call so far, in ms
  #since = 0; // when the guest was last given control; 0 while it is not
  #death; // { limit, message } once dead
  #disposed = false;
  #revoked = false;
  #endings = new Map(); // what to stop when the sandbox is over: timer -> how
  #jobsQueued = false;
  #marshallers = []; // to dispose of
  #failures = []; // what they threw at that
  #snapshot; // whether the policy wants an image
  #restored; // whether it goes on from one
  #unkept; // why none is kept of it

  /**
   * @param start where the policy wants an image and the host can make one: `image`, which
   *   the engine goes on from already, or `keep(image)`, which is given one after the load. With
   *   that, `realm` is an image without a library, or `keepRealm` is given one; `bytecode` is
   *   the library's, if there is any
   */
  constructor(engine, name, code, options, { image, keep, realm, keepRealm, bytecode } = {}) {
    const {
      permissions = [],
      limits = {},
      capabilities = {},
      arguments: args = "membrane",
      results = "mirror",
      reads = "window",
      onViolation,
      reportOnly = false,
      marshallers = [],
      snapshot = false,
    } = options;
    if (typeof snapshot !== "boolean") throw new SandboxError(`snapshot: true or false is needed, not ${String(snapshot)}`);
    this.#name = name;
    this.#engine = engine;
    this.#granted = grantsOf(permissions);
    this.#timeoutMs = positive("timeoutMs", limits.timeoutMs, Infinity);
    const stackKB = positive("stackKB", limits.stackKB, engine.maxStackKB);
    if (stackKB > engine.maxStackKB)
      throw new SandboxError(`limits.stackKB: ${stackKB} is more than the ${engine.maxStackKB} that this host can hold a guest to`);
    const memoryBytes = bytesOf(limits);
    if (onViolation !== undefined && typeof onViolation !== "function")
      throw new SandboxError("onViolation is a function, which is told of what the policy does not grant");
    if (reportOnly && onViolation === undefined) throw new SandboxError("reportOnly lets everything pass, so that it needs an onViolation that is told of it");
    checkMarshallers(marshallers);
    const face = {
      run: (body) => this.#run(body),
      runAlone: (body) => this.#runAlone(body),
      enter: () => this.#enter(),
      done: (value) => this.#done(value),
      exit: () => this.#exit(),
      judge: (error) => this.#judge(error),
      pause: (body) => this.#pause(body),
      poll: () => this.#poll(),
      exhausted: () => this.#exhausted(),
      starved: () => engine.memoryBytes > 0.9 * memoryBytes,
      refusal: () => (this.#disposed || this.#death ? this.#refusal() : undefined),
      checkData: (values) => checkData(this.#membrane, values),
      atEnd: (key, end) => this.#endings.set(key, end),
      ended: (key) => this.#endings.delete(key),
      memoryBytes,
      denials: new Denials(name, new Set(this.#granted.map((granted) => granted.name)), capabilities, onViolation),
      marshallers,
      marshalling: this.#marshalling(),
      dataOnly: oneOf("arguments", args, "membrane", "data") === "data",
      live: oneOf("results", results, "mirror", "live") === "live",
      exact: oneOf("reads", reads, "window", "exact") === "exact",
    };
    this.#marshallers = [...marshallers];
    this.#snapshot = image !== undefined || keep !== undefined;
    this.#restored = image !== undefined;
    let granted;
    let seed;
    try {
      this.#library = this.#run(() => {
        this.#membrane = new Membrane(engine, face, (image ?? realm)?.membrane);
        if (realm !== undefined) this.#membrane.endImage();
        keepRealm?.({ engine: engine.save(), membrane: this.#membrane.save() });
        // The engine does not survive a parser without memory, so the membrane's own source
        // is read before there is a limit.
        engine.setLimits(memoryBytes, stackKB * 2 ** 10);
        granted = grant(this.#membrane, engine, this.#granted, capabilities, face, { had: image?.granted });
        if (reportOnly) grantOnUse(this.#membrane, engine, capabilities, face);
        if (image !== undefined) {
          if (image.granted.some((what, i) => what !== granted[i])) throw new OtherGrants();
          this.#membrane.endImage();
          return image.library;
        }
        if (keep) seed = engine.seed;
        return this.#evaluate(code, `${name}.bundle.js`, "__SANDBOXED_LIB__", bytecode);
      });
      if (keep) this.#unkept = this.#keepImage(keep, granted, seed);
      else if (snapshot && !this.#restored) this.#unkept = "this host keeps no images, or none with marshallers and reportOnly";
    } catch (cause) {
      if (cause instanceof OtherGrants) {
        this.#finish();
        throw cause;
      }
      // While it can still be asked.
      const said = this.#describe(cause);
      const left = said instanceof SandboxError ? undefined : this.#remains(cause, said);
      this.#finish();
      throw this.#because(said instanceof SandboxError ? said : new SandboxError(`${name} failed while loading in its sandbox: ${said}`, { cause: left }));
    }
  }

  /** What the library exports, as a live proxy. */
  get exports() {
    return this.#run(() => this.#whole(this.#library));
  }

  #whole(exported) {
    return typeof exported === "object" ? exported.primitive : this.#membrane.alive(exported);
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
    return this.#run(() => this.#read(this.#library, name));
  }

  #read(exported, name) {
    return typeof exported === "object" ? Object(exported.primitive)[name] : this.#engine.get(exported, name);
  }

  /** Constructs the class at a path of names, such as "Duration" or "core.Node". */
  createInstance(path, args = []) {
    const found = this.#at(path);
    if (!isConstructor(found)) throw new SandboxError(`${this.#name} exports no class ${typeof path === "string" ? path : path.join(".")}`);
    return Reflect.construct(found, args);
  }

  // What marshallers are given: they are asked while the library loads as well, when there
  // is nothing yet that it exports.
  #marshalling() {
    return Object.freeze({
      isInstance: (handle, path) => {
        const found = this.#library === undefined ? undefined : this.#at(path);
        return typeof found === "function" && handle instanceof found;
      },
      createInstance: (path, args) => {
        if (this.#library === undefined) throw new SandboxError(`${this.#name} has not loaded yet, so that a marshaller cannot make a ${path} of it`);
        return this.createInstance(path, args);
      },
    });
  }

  #at(path) {
    const names = typeof path === "string" ? path.split(".") : path;
    if (!Array.isArray(names)) throw new SandboxError('a path is text, such as "core.Node", or a list of names');
    return names.reduce((value, name) => value?.[name], this.exports);
  }

  /** Evaluates a workload beside the library, once per name. */
  loadWorkload(name, code) {
    return this.#run(() => {
      if (!this.#workloads.has(name)) this.#workloads.set(name, this.#evaluate(code, `${this.#name}.${name}.workload.bundle.js`, "__SANDBOXED_WORKLOAD__"));
      return this.#whole(this.#workloads.get(name));
    });
  }

  /** What a request below the library's exports, from the same modules; it is evaluated once. */
  subpath(request) {
    const exported = this.#run(() => {
      if (!this.#subpaths.has(request)) {
        const code = `var __SANDBOXED_WORKLOAD__ = __SANDBOXED_SUBPATHS__[${JSON.stringify(request)}]();`;
        this.#subpaths.set(request, this.#evaluate(code, `${this.#name}: ${request}`, "__SANDBOXED_WORKLOAD__"));
      }
      return this.#subpaths.get(request);
    });
    const whole = () => this.#run(() => this.#whole(exported));
    return new Subpath(request, whole, (name) => this.#run(() => this.#read(exported, name)));
  }

  /**
   * Runs a function, and lets go of what crossed from the guest while it ran: its proxies
   * cannot be used afterwards, data stays. What it returns is kept.
   */
  scope(body) {
    this.#run(() => this.#membrane.openScope());
    let result;
    try {
      result = body();
    } catch (error) {
      result = error;
      throw error;
    } finally {
      if (!this.#disposed && !this.#death) this.#run(() => this.#membrane.closeScope(result));
    }
    if (result instanceof Promise) throw new SandboxError("scope() ends when its function returns; one that returns a promise loses what it waits for");
    return result;
  }

  /** Kept for generated proxies: nothing here polls, so nothing holds a process open. */
  unrefPump() {}

  /** Counts of what is alive on both sides, crossings so far, and bytes of guest memory. */
  stats() {
    if (this.#disposed || this.#death) throw this.#refusal();
    return { ...this.#membrane.counts(), memoryBytes: this.#engine.memoryBytes, restored: this.#restored, unkept: this.#unkept };
  }

  /**
   * Takes back everything that crossed as a proxy, or one value: a function, an instance,
   * a granted global. Mirrors are data already given, and stay readable.
   */
  revoke(...values) {
    if (values.length > 0) {
      return this.#run(() => {
        for (const value of values) this.#membrane.revoke(value);
      });
    }
    if (this.#disposed) return;
    this.#revoked = true;
    this.dispose();
  }

  /** Frees the engine. Every later use of anything that came from it throws. */
  dispose() {
    this.#finish();
    const failed = this.#because();
    if (failed) throw failed;
  }

  #finish() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#end();
    if (this.#depth === 0) this.#stop();
  }

  // An instance in which a guest died may be torn.
  #stop() {
    this.#engine.stop(this.#snapshot && this.#death === undefined);
  }

  /** Gives an image to whoever keeps it, or says why there is none. */
  #keepImage(keep, granted, seed) {
    const library = this.#library;
    if (typeof library === "object") return "the library exports no object";
    // What it drew is part of what it is now, and would be the same in every sandbox.
    if (this.#engine.seed !== seed) return "the library drew from Math.random while loading";
    const membrane = this.#membrane.save();
    if (membrane === undefined) return "the library used what it is granted while loading";
    keep({ engine: this.#engine.save(), membrane, granted, library });
    return undefined;
  }

  #evaluate(code, file, global, bytecode) {
    const engine = this.#engine;
    const { globalThis: realm, set } = this.#membrane.guest;
    // What another workload exports is not this one's.
    if (!engine.help(set, [[realm], global, undefined])) throw new SandboxError(`${file} cannot assign what it exports: ${this.#name} has fixed ${global}`);
    engine.run(code, file, bytecode);
    const ref = engine.getRef(realm, global);
    if (ref > 0) return ref;
    const primitive = engine.get(realm, global);
    if (primitive === undefined) throw new SandboxError(`${file} did not assign what it exports to ${global}`);
    return { primitive };
  }

  /** What failed a load, in words; one of our own errors is said by itself. */
  #describe(cause) {
    try {
      if (cause instanceof SandboxError) return cause;
      const isPrimitive = Object(cause) !== cause;
      if (isPrimitive || (typeof cause.name === "string" && typeof cause.message === "string"))
        return `${cause?.name ?? "thrown"}: ${cause?.message ?? String(cause)}${this.#hint(cause)}`;
      return typeof cause === "function" ? "thrown: a function" : "thrown: an object that is not an Error";
    } catch (error) {
      return error instanceof SandboxLimitError ? error : "thrown: what cannot be looked at";
    }
  }

  /**
   * What a load threw, for when its sandbox is gone: an error of the guest's as one of the
   * host's, since its class, and whatever else hangs on it, ends with the sandbox; of any
   * other object the words.
   */
  #remains(cause, said, depth = 0) {
    if (Object(cause) !== cause || !this.#membrane?.isGuests(cause)) return cause;
    try {
      if (!(cause instanceof Error) || depth === MAX_CAUSES) return said.replace(/^thrown: /, "");
      const Class = errorClasses.find((one) => cause instanceof one);
      const { name, message, stack } = cause;
      const within = (error) => this.#remains(error, "an object", depth + 1);
      const left = Class === AggregateError ? new Class(cause.errors.slice(0, MAX_KEPT).map(within), message) : new Class(message);
      const fields = { name, stack };
      if (Object.hasOwn(cause, "cause")) fields.cause = within(cause.cause);
      for (const [key, value] of Object.entries(fields)) {
        if (left[key] !== value) Object.defineProperty(left, key, { value, writable: true, enumerable: false, configurable: true });
      }
      for (const [key, { value, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(cause)).slice(0, MAX_KEPT))
        if (enumerable && value !== undefined && Object(value) !== value) left[key] = value;
      return left;
    } catch {
      return said.replace(/^thrown: /, ""); // it cannot be looked at
    }
  }

  // A missing global is what a policy is most often wrong about; those that the host has
  // are explained already.
  #hint(cause) {
    const name = cause?.name === "ReferenceError" && /^'?([\w$]+)'? is not defined$/.exec(cause.message)?.[1];
    return name && !this.#granted.some((granted) => granted.name === name) ? ` (its policy does not grant ${name})` : "";
  }

  #refusal() {
    if (this.#revoked) return new SandboxRevokedError(`the sandbox of ${this.#name} was revoked; create another one to go on`);
    if (this.#disposed) return new SandboxDisposedError(`the sandbox of ${this.#name} was disposed of; create another one to go on`);
    const { limit, message } = this.#death;
    return new SandboxDeadError(`the sandbox of ${this.#name} is dead since ${message}; create another one to go on`, limit);
  }

  // Ways into the guest. Each is enter, work, done; its errors go through judge, and exit
  // comes last whatever happened.

  #run(body) {
    this.#enter();
    try {
      return this.#done(body());
    } catch (error) {
      throw this.#judge(error);
    } finally {
      this.#exit();
    }
  }

  #enter() {
    if (this.#disposed || this.#death) throw this.#refusal();
    if (this.#depth >= this.#engine.maxDepth) throw new RangeError(`more than ${this.#engine.maxDepth} calls between ${this.#name} and its host are nested`);
    this.#pointers[this.#depth++] = this.#engine.stackPointer;
    const outermost = this.#depth === 1;
    if (outermost) {
      this.#spent = 0;
      this.#since = 0;
    }
    try {
      if (outermost)
        this.#membrane?.enter(); // the first of all makes it
      else this.#membrane.enterAgain();
    } catch (error) {
      this.#depth--; // nothing was entered
      throw error;
    }
    this.#running[this.#depth] = this.#since !== 0;
    this.#startClock();
  }

  #done(result) {
    this.#leave();
    if (this.#death) throw this.#because(this.#limitError());
    return result;
  }

  // What the guest changed is the host's to see, however the call ended.
  #leave() {
    if (this.#depth === 1) this.#membrane.leave();
    else this.#membrane.leaveAgain();
  }

  #exit() {
    this.#stopClock();
    // A trap may come here while the guest's clock runs, and the guest goes on.
    if (this.#running[this.#depth]) this.#startClock();
    this.#depth--;
    if (this.#engine.stackPointer !== this.#pointers[this.#depth]) this.#die("fault", "an error tore through the engine's frames");
    if (this.#depth > 0) return;
    if (this.#disposed || this.#death) this.#stop();
    else if (!this.#jobsQueued && this.#engine.hasJobs) this.#queueJob();
  }

  // One job per microtask, so that they run between the host's own, as in one realm.
  #queueJob() {
    this.#jobsQueued = true;
    microtask(() => {
      this.#jobsQueued = false;
      if (this.#disposed || this.#death) return;
      this.#runAlone(() => this.#engine.runJob());
    });
  }

  // There is no caller to tell: of a limit, abandon() has told whoever waits. A marshaller
  // that failed at the end is the application's to hear of all the same.
  #runAlone(body) {
    try {
      this.#run(body);
    } catch (error) {
      if (this.#death && error.cause instanceof SandboxLimitError) throw error;
    }
  }

  #startClock() {
    if (this.#timeoutMs !== Infinity) this.#since = performance.now();
  }

  #stopClock() {
    if (this.#since !== 0) this.#spent += performance.now() - this.#since;
    this.#since = 0;
  }

  /** Runs host code with the guest's clock stopped. The guest waits on the stack. */
  #pause(body) {
    this.#stopClock();
    let result;
    try {
      result = body();
    } catch (error) {
      if (!this.#death && !this.#disposed) throw error;
    } finally {
      this.#startClock();
    }
    if (this.#death || this.#disposed) throw this.#refusal();
    return result;
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
    this.#end();
  }

  #end() {
    // What a promise waits for is part of the call that made it.
    this.#membrane?.abandon(this.#disposed ? this.#refusal() : this.#limitError());
    for (const end of this.#endings.values()) end();
    this.#endings.clear();
    this.#failures.push(...disposeOf(this.#marshallers.splice(0)));
  }

  /** What ended the sandbox, or, where marshallers failed at that, an error because of it. */
  #because(ending) {
    const [first] = this.#failures;
    if (this.#failures.length === 0) return ending;
    const cause = ending ?? (this.#failures.length === 1 ? first : new AggregateError(this.#failures));
    this.#failures = [];
    const after = ending === undefined ? "" : `, after ${ending.message}`;
    return new SandboxError(`the dispose() of a marshaller of ${this.#name} failed: ${wordsOf(first)}${after}`, { cause });
  }

  #limitError() {
    const { limit, message } = this.#death;
    return new SandboxLimitError(`the sandbox of ${this.#name} was stopped: ${message}`, limit);
  }

  /** Tells what ended a call: a limit, a fault of the engine, or an ordinary error. */
  #judge(error) {
    if (this.#engine.isFault(error) && !this.#membrane?.linkOf(error)) {
      this.#die("fault", `the engine failed (${error.message})`);
    } else if (!this.#disposed && !this.#death && this.#membrane) {
      try {
        this.#leave();
      } catch (second) {
        if (!this.#disposed && !this.#death) return second;
      }
    }
    if (this.#disposed) return this.#refusal();
    // Whoever came in was alive then, so that it died in this call.
    const ended = !(error instanceof SandboxError) || error instanceof SandboxDeadError || error instanceof SandboxLimitError;
    if (this.#death && ended) return this.#because(this.#limitError());
    return error;
  }

  #exhausted() {
    if (this.#disposed) return this.#refusal();
    if (this.#death) return this.#limitError();
    this.#die("memory", "it needed more than limits.memoryMB");
    return this.#limitError();
  }
}

/** What a request below a library's exports, as a sandbox has what the library does. */
class Subpath {
  #request;
  #whole;
  #read;

  constructor(request, whole, read) {
    this.#request = request;
    this.#whole = whole;
    this.#read = read;
  }

  get exports() {
    return this.#whole();
  }

  value(name) {
    return this.#read(name);
  }

  fn(name) {
    const value = this.#read(name);
    if (typeof value !== "function") throw new SandboxError(`${this.#request} exports no function ${String(name)}`);
    return value;
  }

  cls(name) {
    return this.fn(name);
  }

  callable() {
    const whole = this.#whole();
    return typeof whole === "function" ? whole : this.fn("default");
  }
}

/** Refuses what a policy that allows data only does not let in. */
function checkData(membrane, values) {
  const seen = new Set();
  const waiting = [...values];
  for (let n = 0; n < waiting.length; n++) {
    const value = waiting[n];
    if (((typeof value !== "object" || value === null) && typeof value !== "function") || seen.has(value)) continue;
    seen.add(value);
    if (membrane.isGuests(value) || membrane.isMarshalled(value)) continue;
    if (!membrane.isData(value)) throw new TypeError('the policy allows data only as arguments (arguments: "data"), not host objects or functions');
    if (value instanceof Map) Map.prototype.forEach.call(value, (item, key) => waiting.push(key, item));
    if (value instanceof Set) Set.prototype.forEach.call(value, (item) => waiting.push(item));
    if (ArrayBuffer.isView(value)) continue;
    for (const key of Reflect.ownKeys(value)) {
      const { value: inner, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
      waiting.push(inner, get, set);
    }
  }
}

function positive(name, value, fallback) {
  if (value === undefined) return fallback;
  if (typeof value !== "number" || !(value > 0)) throw new SandboxError(`limits.${name}: a number above 0 is needed, not ${String(value)}`);
  return value;
}

/** How far down the causes of an error outlive its sandbox. */
const MAX_CAUSES = 8;

/** How many of its fields, and errors of an AggregateError. */
const MAX_KEPT = 64;

const errorClasses = [AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, Error];

const marshallerParts = ["isWrappable", "isHandleWrappable", "marshal", "unmarshal", "dispose"];

function checkMarshallers(marshallers) {
  if (!Array.isArray(marshallers)) throw new SandboxError("marshallers is a list, of which the first that wants a value has it");
  for (const marshaller of marshallers) {
    const missing = marshallerParts.find((part) => typeof marshaller?.[part] !== "function");
    if (missing) throw new SandboxError(`a marshaller has five functions (${marshallerParts.join(", ")}); one has no ${missing}`);
  }
}

function bytesOf({ memoryMB = DEFAULT_MEMORY_MB } = {}) {
  if (!Number.isInteger(memoryMB) || memoryMB < 1 || memoryMB > MAX_MEMORY_MB)
    throw new SandboxError(`limits.memoryMB: a whole number from 1 to ${MAX_MEMORY_MB} is needed, not ${String(memoryMB)}`);
  return memoryMB * 2 ** 20;
}

function oneOf(name, value, ...allowed) {
  if (!allowed.includes(value))
    throw new SandboxError(`${name}: ${allowed.map((a) => JSON.stringify(a)).join(" or ")} is needed, not ${JSON.stringify(value)}`);
  return value;
}

/**
 * What makes sandboxes in one host.
 *
 * @param load prepares the host's engine, from `source` where that is given
 * @param open makes an engine at once, for a guest that may use so many bytes; with an image,
 *   one that goes on from there
 * @param check refuses an engine that is not the one that a sandbox was built for
 * @param images keeps them, where the host's engine can be saved
 * @param bytecodeOf gives a library's bytecode, if there is any
 * @param store keeps them for longer: `persist()` asks for that, `read` and `write` do it.
 *   `fetchBytecode()` asks for bytecode where it has to be fetched
 */
export function managerOf({ load, open, check = () => {}, images, store, bytecodeOf }) {
  // Marshallers decide anew each time, and report-only mode knows the host's every name.
  const isImaged = ({ snapshot, reportOnly, marshallers = [] }) => snapshot && images !== undefined && !reportOnly && marshallers.length === 0;
  const make = (name, code, options) => {
    checkOptions(options);
    const memoryBytes = bytesOf(options.limits);
    check(name, options.engine);
    if (!isImaged(options)) return new Sandbox(open(memoryBytes), name, code, options);
    const situation = situationOf(name, options);
    const image = images.find(code, situation);
    if (image !== undefined) {
      try {
        return new Sandbox(open(memoryBytes, image.engine), name, code, options, { image });
      } catch (error) {
        if (!(error instanceof OtherGrants)) throw error;
      }
    }
    const { realm } = images;
    return new Sandbox(open(memoryBytes, realm?.engine), name, code, options, {
      keep: (made) => images.keep(code, situation, made),
      bytecode: bytecodeOf?.(name, code),
      realm,
      keepRealm: realm === undefined ? (made) => images.keepRealm(made) : undefined,
    });
  };
  return {
    /** Loads the engine, which createSandboxSync needs to be there in a browser. */
    async ready({ wasm, persist = false, bytecode = false } = {}) {
      if (persist) store?.persist();
      if (bytecode) store?.fetchBytecode();
      await load(wasm);
    },

    async createSandbox(name, code, options = {}) {
      await load();
      checkOptions(options);
      if (store === undefined || !isImaged(options)) return make(name, code, options);
      const situation = situationOf(name, options);
      let known = images.find(code, situation);
      if (known === undefined) {
        known = await store.read(name, code, situation);
        if (known !== undefined) images.keep(code, situation, known);
      }
      const sandbox = make(name, code, options);
      const now = images.find(code, situation);
      if (now !== undefined && now !== known) store.write(code, situation, now);
      return sandbox;
    },

    createSandboxSync(name, code, options = {}) {
      return make(name, code, options);
    },
  };
}
