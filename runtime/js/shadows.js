// The guest's proxies for host objects: their shadows, and what their traps ask.
//
// A shadow is the target of a guest's proxy and a copy of the host's object. While it is
// fresh the guest reads it natively; when the host has run it is stale, and its handler's
// prototype is the one with traps for reads. A shadow is read whole at first touch and
// after many reads in one turn; between that, one property a time, so that no path costs
// more than it touches.
import { ifAnswered } from "./brand.js";
import { OPS } from "./guest.js";
import { isClassPrototype, isConstructor, isNative } from "./intrinsics.js";
import { SHADOW } from "./links.js";

const { getPrototypeOf, isExtensible } = Reflect;

// A sloppy function tells what called it, and with what, while it runs: `caller` and
// `arguments` are no part of the object that was given.
const hidden = (value, key) => typeof value === "function" && (key === "arguments" || key === "caller");
const getOwnPropertyDescriptor = (value, key) => (hidden(value, key) ? undefined : Reflect.getOwnPropertyDescriptor(value, key));
const ownKeys = (value) => (typeof value === "function" ? Reflect.ownKeys(value).filter((key) => !hidden(value, key)) : Reflect.ownKeys(value));

export class Shadows {
  /** What a trap answers when its shadow has been brought up to date. */
  READ = Object.freeze({ __proto__: null });
  /** Counts how often control came back from the host; what was read before is stale. */
  turn = 1;
  #membrane;
  #engine;
  #sandbox;
  #shared = new WeakSet(); // host objects that are the realm's rather than somebody's
  #fresh = []; // links whose shadows are read without asking

  constructor(membrane, engine, sandbox) {
    this.#membrane = membrane;
    this.#engine = engine;
    this.#sandbox = sandbox;
  }

  /** Makes the guest's proxy of a host object; the count is the caller's. */
  make(link) {
    const engine = this.#engine;
    const { guest } = this.#membrane;
    this.#describe(link);
    if (typeof link.value === "function") {
      link.shadow = engine.newFunction(link.id, 0);
      if (link.lazy === guest.LAZY_CLASS) engine.makeConstructor(link.shadow);
    } else link.shadow = link.array ? engine.newArray([]) : engine.newPlainObject();
    link.handler = engine.newObject(link.lazy);
    engine.defineValue(link.handler, "id", link.id);
    link.proxy = engine.newProxy(link.shadow, link.handler);
    engine.free(link.shadow);
    engine.free(link.handler);
    return link.proxy;
  }

  /** Takes the proxy of an image, of which nothing has been read, for a host object's. */
  recognise(link, [proxy, handler, shadow]) {
    this.#describe(link);
    link.proxy = proxy;
    link.handler = handler;
    link.shadow = shadow;
  }

  /** Notes of which kind a host object's proxy is. */
  #describe(link) {
    const { guest } = this.#membrane;
    const { value } = link;
    const constructible = typeof value === "function" && isConstructor(value);
    if (typeof value === "function") {
      link.proto = undefined;
      link.keys = new Set(["length", "name"]);
    } else {
      link.array = Array.isArray(value);
      link.proto = link.array ? Array.prototype : Object.prototype;
    }
    link.iterator = ifAnswered(() => this.#iterates(value)) ?? false;
    // A host's proxy, such as reactive state, sees every read, where the host can tell it.
    link.exact = this.#sandbox.exact || this.#engine.isHostProxy(value);
    link.lazy = constructible ? guest.LAZY_CLASS : guest.LAZY;
    link.fast = constructible ? guest.FAST_CLASS : guest.FAST;
  }

  #iterates(value) {
    for (let proto = getPrototypeOf(value), i = 0; proto !== null && i < 3; proto = getPrototypeOf(proto), i++) {
      if (this.#membrane.iteratorProtos.has(proto)) return true;
    }
    return false;
  }

  /** Control comes back from the host. */
  stale() {
    this.turn++;
    const fresh = this.#fresh;
    if (fresh.length === 0) return;
    for (const link of fresh) {
      link.fresh = false;
      // One that the guest let go of has no handler any more.
      if (link.ref !== 0) this.#engine.setProto(link.handler, link.lazy);
    }
    fresh.length = 0;
  }

  /** Reads a host object whole into its shadow. */
  #fill(link) {
    if (link.fresh) return;
    // A host proxy's traps may run, for as long as they like.
    this.#sandbox.pause(() => (link.gate ? this.#membrane.granting(link.gate, () => this.#read(link)) : this.#read(link)));
  }

  /** Makes the guest ask for everything anew. */
  forget(link) {
    if (!link.fresh) return;
    link.fresh = false;
    this.#engine.setProto(link.handler, link.lazy);
  }

  #read(link) {
    const engine = this.#engine;
    const { value, shadow } = link;
    const keys = ownKeys(value);
    const before = link.keys;
    const now = new Set();
    let fixed = !link.exact && !isExtensible(value);
    for (const key of keys) {
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (descriptor === undefined) continue;
      now.add(key);
      if (descriptor.configurable || descriptor.writable) fixed = false;
      this.#copy(shadow, key, descriptor);
    }
    this.#membrane.stats.shipped += now.size;
    if (before !== undefined) for (const key of before) if (!now.has(key)) engine.delete(shadow, key);
    link.keys = now;
    const proto = getPrototypeOf(value);
    if (proto !== link.proto) {
      engine.setProto(shadow, this.#membrane.protoRef(proto));
      link.proto = proto;
    }
    if (!isExtensible(value)) engine.preventExtensions(shadow);
    if (link.exact || link.iterator) return;
    engine.setProto(link.handler, link.fast);
    link.fresh = true;
    if (!fixed) this.#fresh.push(link);
  }

  #copy(shadow, key, descriptor) {
    if (descriptor.writable && descriptor.enumerable && descriptor.configurable) this.#engine.defineValue(shadow, key, descriptor.value);
    else this.#engine.define(shadow, key, descriptor);
  }

  /** Notes what a granted value shares with the whole realm. */
  share(value, depth = 0) {
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return;
    if (this.#shared.has(value) || depth > 2) return;
    this.#shared.add(value);
    this.share(getPrototypeOf(value), depth);
    for (const key of ownKeys(value)) this.share(getOwnPropertyDescriptor(value, key)?.value, depth + 1);
  }

  /** Notes an object that the guest comes to know by what inherits from it, and has not been given. */
  inherited(proto) {
    this.#shared.add(proto);
  }

  /** Whether the guest may write to a host object: it may not to what the realm shares. */
  #writable(link) {
    const { value } = link;
    if (this.#shared.has(value)) return false;
    if (typeof value === "function") return !isNative(value);
    return !isClassPrototype(value);
  }

  /** Answers a trap. */
  trap(op, link, args) {
    switch (op) {
      case OPS.GET:
        return this.#get(link, args[0]);
      case OPS.HAS:
        return this.#has(link, args[0]);
      case OPS.FETCH:
        this.#fill(link);
        return undefined;
      case OPS.EXTENSIBLE: {
        const extensible = isExtensible(link.value);
        if (!extensible) this.#fill(link);
        return extensible;
      }
      case OPS.CONSTRUCT: {
        const [target, ...rest] = args;
        return this.#membrane.answer(() => Reflect.construct(link.value, rest, target));
      }
    }
    // A write that passes through on its way to another object is that one's affair.
    const owner = op === OPS.SET && args[2] !== link.value ? this.#membrane.linkOf(args[2]) : link;
    if (owner !== undefined && owner.id !== 0 && !this.#writable(owner)) return false;
    const done = this.#write(op, link, args);
    if (done && owner !== undefined && owner !== link) {
      if (owner.kind === SHADOW) this.#follow(owner, args[0]);
      else this.#membrane.changedHere(owner);
    }
    return done;
  }

  /** Whether one property is enough: nobody has read many since the host ran. */
  #single(link) {
    if (link.exact) return true;
    if (link.keys === undefined || link.turn === 0) {
      link.turn = this.turn;
      link.run = 0;
      return false;
    }
    if (link.turn !== this.turn) {
      link.turn = this.turn;
      link.run = 0;
    }
    const size = link.array ? link.value.length : link.keys.size;
    return ++link.run <= Math.max(4, size >> 4);
  }

  #get(link, key) {
    if (link.iterator) {
      let owner = link.value;
      while (owner !== null && getOwnPropertyDescriptor(owner, key) === undefined) owner = getPrototypeOf(owner);
      if (this.#membrane.iteratorProtos.has(owner)) return this.#membrane.answer(() => Reflect.get(link.value, key));
    }
    if (link.exact) return this.#getExactly(link, key);
    if (this.#single(link)) {
      const descriptor = getOwnPropertyDescriptor(link.value, key);
      if (descriptor !== undefined && "value" in descriptor && (descriptor.configurable || descriptor.writable)) {
        this.#membrane.stats.shipped++;
        return descriptor.value;
      }
    }
    this.#fill(link);
    return this.READ;
  }

  // Host proxies, such as reactive state, see every read, and answer for absent keys too.
  #getExactly(link, key) {
    let owner = link.value;
    const descriptor = getOwnPropertyDescriptor(owner, key);
    if (descriptor !== undefined && !descriptor.configurable && !descriptor.writable) {
      this.#fill(link);
      return this.READ;
    }
    while (owner !== null && !this.#membrane.isIntrinsicProto(owner) && getOwnPropertyDescriptor(owner, key) === undefined) owner = getPrototypeOf(owner);
    const inherited = owner !== null && this.#membrane.isIntrinsicProto(owner) && getOwnPropertyDescriptor(owner, key) !== undefined;
    if (inherited) {
      this.#fill(link);
      return this.READ;
    }
    return this.#membrane.answer(() => Reflect.get(link.value, key));
  }

  #has(link, key) {
    if (link.exact && getOwnPropertyDescriptor(link.value, key)?.configurable !== false) return this.#membrane.answer(() => Reflect.has(link.value, key));
    if (this.#single(link) && getOwnPropertyDescriptor(link.value, key)?.configurable) return true;
    this.#fill(link);
    return this.READ;
  }

  #write(op, link, args) {
    const { value } = link;
    const [key] = args;
    // The traps of a host's proxy may change whatever they like.
    const run = (body) => (link.exact ? this.#membrane.answer(body) : body());
    let done;
    switch (op) {
      case OPS.SET:
        done = this.#set(value, key, args[1], args[2], run);
        break;
      case OPS.DELETE:
        done = run(() => Reflect.deleteProperty(value, key));
        break;
      case OPS.DEFINE:
        done = run(() => Reflect.defineProperty(value, key, descriptorOf(args)));
        break;
      case OPS.SET_PROTO:
        done = this.#membrane.answer(() => Reflect.setPrototypeOf(value, key));
        if (done) this.#refill(link);
        return done;
      default:
        done = this.#membrane.answer(() => Reflect.preventExtensions(value));
        if (done) this.#refill(link);
        return done;
    }
    if (done) this.#follow(link, key);
    return done;
  }

  #set(value, key, next, receiver, run) {
    let owner = value;
    while (owner !== null) {
      const descriptor = getOwnPropertyDescriptor(owner, key);
      if (descriptor !== undefined) {
        if ("value" in descriptor) break;
        return this.#membrane.answer(() => Reflect.set(value, key, next, receiver));
      }
      owner = getPrototypeOf(owner);
    }
    return run(() => Reflect.set(value, key, next, receiver));
  }

  /** Takes one property of the host's object over into the shadow, if that has it read. */
  #follow(link, key) {
    const engine = this.#engine;
    const descriptor = getOwnPropertyDescriptor(link.value, key);
    if (!link.fresh && (descriptor === undefined || descriptor.configurable)) {
      if (descriptor === undefined && link.keys?.has(key)) engine.delete(link.shadow, key);
      return;
    }
    if (descriptor === undefined) {
      engine.delete(link.shadow, key);
      link.keys?.delete(key);
      return;
    }
    if (link.array && (key === "length" || engine.get(link.shadow, "length") !== link.value.length)) return this.#refill(link);
    // The first key that the shadow has for good would stand before those not read yet.
    if (!link.fresh && !link.keys?.has(key)) return this.#refill(link);
    link.keys?.add(key);
    this.#copy(link.shadow, key, descriptor);
  }

  #refill(link) {
    link.fresh = false;
    this.#fill(link);
  }
}

function descriptorOf([, has, value, get, set]) {
  const descriptor = {};
  if (has & 1) descriptor.value = value;
  if (has & 2) descriptor.get = get;
  if (has & 4) descriptor.set = set;
  if (has & 8) descriptor.writable = (has & 64) !== 0;
  if (has & 16) descriptor.enumerable = (has & 128) !== 0;
  if (has & 32) descriptor.configurable = (has & 256) !== 0;
  return descriptor;
}
