// The membrane: which value on one side stands for which on the other, and for how long.
//
// Values are built, read and told apart from this side, through the engine; guest code
// runs in traps only (guest.js). Behaviour crosses as proxies: shadows.js makes the
// guest's, standins.js the host's. Values with a brand cross as mirrors (mirrors.js).
import { SandboxError, SandboxRevokedError } from "./errors.js";
import { guestSource, OPS } from "./guest.js";
import { compilers, compilesCode, hostIntrinsics, iterators } from "./intrinsics.js";
import { Depth } from "./depth.js";
import { FIXED, isObject, Link, MIRROR, SHADOW, STAND_IN } from "./links.js";
import { Marshalling } from "./marshalling.js";
import { Messages } from "./messages.js";
import { Mirrors } from "./mirrors.js";
import { Scopes } from "./scopes.js";
import { Shadows } from "./shadows.js";
import { makeStandIn } from "./standins.js";
import { Symbols } from "./symbols.js";

/** How many results may stay paired with the guest's originals. */
const MAX_PINS = 20_000;
const MAX_PINNED_BYTES = 8 << 20;
/** The gate of what is not taken back. */
const OPEN = Object.freeze({ revoked: false });

const takenBack = () => new SandboxRevokedError("this host object was taken back from the sandbox");

/** Stand-ins of one turn that are held, in a host that would let go of them at once. */
const MAX_GRACED = 4096;

export class Membrane {
  /** Traps, helpers and prototypes of the guest's half, as refs. */
  guest = {};
  /** Host prototypes whose methods insist on an iterator of their own realm. */
  iteratorProtos = new Set();
  /** How many mirrors are being made, one inside the other. */
  receiving = 0;
  /** Work on nested data. */
  depth = new Depth();
  stats = { crossings: 0, shipped: 0, unlinked: 0 };
  #engine;
  #sandbox;
  #links = new WeakMap(); // host object -> Link
  #at = new Map(); // ref -> Link that holds it
  #exposed = new Map(); // id -> Link of a host object
  #lastId = 0;
  #nursery = []; // what the running call made the guest know
  #kept = []; // mirrors of host values that the guest holds on to
  #sweepAt = 256;
  #weakCount = 0;
  #leaves = 0; // since the last sweep
  #pins = new Set(); // mirrors of guest values, oldest first
  #recent = []; // those of them that this turn made
  #crowdedAt;
  #pinnedBytes = 0;
  #messages;
  #symbols;
  #protos = new Map(); // ref of an intrinsic prototype -> the host's
  // A link whose value went may have got another one by the time that this is heard.
  #gone = new FinalizationRegistry((link) => link.value.deref() === undefined && this.#release(link));
  #mirrors;
  #shadows;
  #distortions = new Map(); // host object -> what the guest is shown in its place
  #gate; // of what is exposed now as part of a capability
  #allowed = new WeakMap(); // host value that comes from a capability -> the gate of that
  #granted = new Map(); // granted value -> what the guest has in its place
  #graced = []; // stand-ins of this turn, where the host needs that
  #scopes = new Scopes();
  #marshalling;
  #settlers = new Set(); // rejecters of promises that wait for the guest
  #intrinsics; // of the guest: [name, ref]
  #imaged; // while an image is taken up: id -> what it has of a host object
  #forgotten = []; // links of host objects that the image's guest has let go of

  /**
   * @param sandbox what sandbox.js calls its face: `run(body)` is a way into the guest,
   *   `pause(body)` one back out, `refusal()` the error for a guest that is no more, or
   *   undefined; the rest are options and limits
   * @param image what `save` gave, when the engine goes on from there
   */
  constructor(engine, sandbox, image) {
    this.#engine = engine;
    this.#sandbox = sandbox;
    engine.hooks = {
      toRef: (value) => this.toRef(value),
      fromRef: (ref) => this.fromRef(ref),
      onCall: (id, self, args) => this.#onCall(id, self, args),
      onTrap: (op, id, args) => this.#onTrap(op, id, args),
      poll: () => sandbox.poll(),
      over: () => sandbox.refusal() !== undefined,
      starved: () => sandbox.starved(),
      uncatchable: () => sandbox.exhausted(),
    };
    this.#crowdedAt = sandbox.memoryBytes / 2;
    this.#marshalling = new Marshalling(sandbox);
    if (image === undefined) this.#boot();
    else this.#takeUp(image);
    this.#fix(globalThis, this.guest.globalThis);
    this.#pairIntrinsics();
    this.#symbols = new Symbols(engine, this.guest, image?.symbols);
    this.#mirrors = new Mirrors(this, engine, sandbox);
    this.#shadows = new Shadows(this, engine, sandbox);
    this.#messages = new Messages(this.#shadows, this.depth);
    this.#fix(this.#shadows.READ, this.guest.READ);
  }

  // Images.

  #boot() {
    const engine = this.#engine;
    const cross = engine.newFunction(0, 0);
    const boot = engine.evaluateRef(guestSource, "sandbox-guest.js");
    const half = engine.help(boot, [[cross]], true);
    for (const name of engine.keys(half)) this.guest[name] = engine.getRef(half, name);
    for (const ref of [cross, boot, half]) engine.free(ref);
    const { intrinsics } = this.guest;
    this.#intrinsics = engine.keys(intrinsics).map((name) => [name, engine.getRef(intrinsics, name)]);
  }

  #takeUp({ guest, intrinsics, exposed }) {
    this.guest = guest;
    this.#intrinsics = intrinsics;
    this.#imaged = new Map(exposed);
  }

  /**
   * What another membrane needs to go on from here: nothing but numbers and names. Undefined
   * when more is shared by now than what the guest was granted, or when it has used that.
   */
  save() {
    const symbols = this.#symbols.save();
    const exposed = [...this.#exposed.values()];
    const others = [...this.#at.values()].some((link) => link.kind !== FIXED) || this.#settlers.size > 0;
    if (symbols === undefined || others || this.stats.crossings > 0 || !exposed.every((link) => link.kind === SHADOW && link.weak)) return undefined;
    return {
      guest: this.guest,
      intrinsics: this.#intrinsics,
      symbols,
      exposed: exposed.map(({ id, proxy, handler, shadow }) => [id, [proxy, handler, shadow]]),
    };
  }

  /** What was granted is there: from now on what the guest is to know is made for it. */
  endImage() {
    this.#imaged = undefined;
    for (const link of this.#forgotten.splice(0)) this.#links.delete(link.value);
  }

  /** Pairs a host object with the proxy that the image has of it. */
  #recognise(link) {
    const parts = this.#imaged.get(link.id);
    this.#links.set(link.value, link);
    this.#shadows.recognise(link, parts ?? [0, 0, 0]);
    if (parts === undefined) {
      this.#forgotten.push(link);
      return 0;
    }
    this.#exposed.set(link.id, link);
    link.weak = true;
    this.#weakCount++;
    return 0;
  }

  /** What a granted value is to the guest, in words that are the same where an image fits. */
  mark(value) {
    if (!isObject(value)) return `${typeof value} ${String(value)}`;
    const link = this.#links.get(this.#distortions.get(value) ?? value);
    if (link === undefined) return "marshalled";
    if (link.kind !== SHADOW) return `${link.kind} ${link.ref}`;
    const kind = link.array ? "array" : link.lazy === this.guest.LAZY_CLASS ? "class" : typeof value;
    return `${kind} ${link.id}`;
  }

  // The realm's own.

  #fix(value, ref) {
    this.#links.set(value, new Link(FIXED, value, ref, 0));
  }

  // A host's intrinsic is the guest's of that name inside, and a constructor also the
  // other way round. What compiles text stays: called with a guest's text it would run it
  // here. A prototype goes out as what it is only where it is asked for as a prototype;
  // as a value it is the guest's, or a host function that writes to its argument would
  // write to this realm.
  #pairIntrinsics() {
    const host = hostIntrinsics();
    for (const [name, ref] of this.#intrinsics) {
      const own = host.get(name);
      if (own === undefined) continue;
      const link = new Link(FIXED, own, ref, 0);
      if (!this.#links.has(own)) this.#links.set(own, link);
      if (iterators.has(name)) this.iteratorProtos.add(own);
      if (typeof own === "object" || name === "Function.prototype") this.#protos.set(ref, own);
      else if (!compilers.has(name) && typeof own === "function" && !this.#at.has(ref)) this.#at.set(ref, link);
    }
  }

  // Host to guest.

  /** The guest's object for a host value that is no primitive; its count stays here. */
  toRef(value) {
    if (typeof value === "symbol") return this.#symbols.toRef(value);
    const link = this.#links.get(value);
    if (link === undefined) return this.#distortions.has(value) ? this.toRef(this.#distortions.get(value)) : this.#expose(value);
    if (link.ref !== 0) {
      if (link.kind === MIRROR) this.#messages.touch(link, true);
      return link.ref;
    }
    if (link.weak) {
      const ref = this.#revive(link);
      if (ref !== 0) return ref;
    } else if (link.kind === MIRROR && link.id === 0) this.stats.unlinked++;
    return this.#expose(value);
  }

  #revive(link) {
    const ref = this.#engine.help(this.guest.revive, [link.id], true);
    if (ref === 0) return 0;
    this.#hold(link, ref);
    return ref;
  }

  /** Takes a count over for the running call. */
  #hold(link, ref) {
    link.ref = ref;
    link.proxy = ref;
    this.#at.set(ref, link);
    this.#nursery.push(link);
  }

  #expose(value) {
    if (this.#marshalling.asks) {
      const given = this.#marshalling.marshal(value);
      if (given !== undefined) return this.toRef(given);
    }
    if (typeof value === "function" && compilesCode(value)) {
      this.#links.set(value, this.#links.get(Function));
      return this.#links.get(Function).ref;
    }
    const id = ++this.#lastId;
    const mirrored = this.#mirrors.forGuest(value);
    const gate = this.#gate ?? this.#allowed.get(value);
    if (this.#sandbox.dataOnly && gate === undefined && !this.isData(value))
      throw new TypeError('the policy allows data only as arguments (arguments: "data"), not host objects or functions');
    const kind = mirrored === undefined ? SHADOW : MIRROR;
    const link = new Link(kind, value, 0, id);
    link.gate = gate;
    if (this.#imaged !== undefined) return this.#recognise(link);
    this.#links.set(value, link);
    this.#exposed.set(id, link);
    try {
      if (mirrored === undefined) {
        this.#hold(link, this.#shadows.make(link));
      } else {
        link.mirror = mirrored;
        mirrored.ship(value, (ref) => this.#hold(link, ref), link);
        this.#messages.mark(link, true);
        this.#messages.add(link);
      }
    } finally {
      if (link.ref === 0) {
        this.#links.delete(value);
        this.#exposed.delete(id);
      }
    }
    return link.ref;
  }

  /** Whether a marshaller carries a host value over. */
  isMarshalled(value) {
    return this.#marshalling.carries(value);
  }

  /** The guest's object for a prototype; 0 for null. */
  protoRef(proto) {
    if (proto === null) return 0;
    if (!this.#links.has(proto)) this.#shadows.inherited(proto);
    // Classes are shared, so that they outlast what led to them.
    return this.#gate === undefined ? this.toRef(proto) : this.granting(OPEN, () => this.toRef(proto));
  }

  // Guest to host.

  /** The host's value for a guest object or symbol. */
  fromRef(ref) {
    const link = this.#at.get(ref);
    if (link !== undefined) {
      if (link.kind === STAND_IN) {
        const standIn = this.#grace(link.value.deref()) ?? this.#standIn(link);
        return link.handle && !this.#marshalling.busy ? this.#unmarshalled(link, standIn) : standIn;
      }
      if (link.kind === MIRROR) {
        const value = link.held;
        if (value === undefined) {
          this.#release(link);
          return this.#adopt(ref);
        }
        this.#messages.touch(link, false);
        return value;
      }
      return link.value;
    }
    if (ref < 0) return this.#symbols.fromRef(ref);
    if (this.#engine.isProxy(ref)) {
      const known = this.#exposedAt(ref);
      if (known) return known.value;
    }
    return this.#adopt(ref);
  }

  /** The link of one of our own proxies, by the handler that guest code never sees. */
  #exposedAt(ref) {
    const engine = this.#engine;
    const handler = engine.handlerOf(ref);
    if (handler === 0) return undefined;
    try {
      // One that is a proxy itself is not ours, and looking at it would run its traps.
      if (engine.isProxy(handler)) return undefined;
      const kind = engine.proto(handler);
      if (kind === 0) return undefined;
      engine.free(kind);
      const { FAST, LAZY, FAST_CLASS, LAZY_CLASS } = this.guest;
      if (kind !== FAST && kind !== LAZY && kind !== FAST_CLASS && kind !== LAZY_CLASS) return undefined;
      const link = this.#exposed.get(engine.get(handler, "id"));
      if (link?.weak) this.#hold(link, engine.dup(ref));
      return link;
    } finally {
      engine.free(handler);
    }
  }

  /** The host's value for a guest object that it does not know yet. */
  #adopt(ref) {
    if (!this.#marshalling.asks) return this.#cross(ref);
    const handle = this.#newStandIn(ref);
    return this.#unmarshalled(this.#links.get(handle), handle);
  }

  /** What the first marshaller that wants a guest's object makes of it, or what it is else. */
  #unmarshalled(link, handle) {
    const marshaller = this.#marshalling.forHandle(handle);
    link.handle = marshaller !== undefined; // it is asked again the next time
    return marshaller ? this.#marshalling.unmarshal(marshaller, handle) : this.#cross(link.ref, link, handle);
  }

  #cross(ref, known, handle) {
    const engine = this.#engine;
    if (!engine.isFunction(ref) && !engine.isProxy(ref)) {
      const mirrored = this.#mirrors.forHost(engine.classOf(ref));
      if (mirrored !== undefined) {
        const link = new Link(MIRROR, undefined, 0, 0);
        link.mirror = mirrored;
        link.alive = known;
        this.receiving++;
        let made = false;
        try {
          made = mirrored.receive(
            ref,
            (value) => {
              link.value = value;
              link.ref = engine.dup(ref);
              this.#messages.mark(link, false);
              this.#links.set(value, link);
              this.#at.set(ref, link);
            },
            link,
          );
        } catch (error) {
          // Half a mirror is none.
          if (link.ref !== 0) this.abandonHalf(link);
          throw error;
        } finally {
          this.receiving--;
        }
        if (made) {
          this.#scopes.add(link);
          this.#pin(link);
          return link.value;
        }
      }
    }
    return known ? handle : this.#newStandIn(ref);
  }

  #newStandIn(ref) {
    const link = new Link(STAND_IN, undefined, this.#engine.dup(ref), 0);
    link.handle = this.#marshalling.busy;
    const standIn = this.#standIn(link); // which fails where the host's stack ends
    this.#at.set(ref, link);
    return standIn;
  }

  #standIn(link) {
    const engine = this.#engine;
    const { ref } = link;
    const proxy = makeStandIn(this, engine, this.#sandbox, link, {
      callable: engine.isFunction(ref),
      constructible: engine.isFunction(ref) && engine.isConstructor(ref),
      array: engine.isProxy(ref) ? engine.help(this.guest.isArray, [[ref]]) : engine.isArray(ref),
    });
    link.value = new WeakRef(proxy);
    this.#scopes.add(link);
    this.#links.set(proxy, link);
    this.#gone.register(proxy, link);
    return this.#grace(proxy);
  }

  // A host that lets go of a stand-in in the middle of a turn would lose what it has put
  // there, such as private members, before the guest hands it back. V8 waits by itself.
  #grace(standIn) {
    if (!this.#engine.letsGoAtOnce || standIn === undefined) return standIn;
    const count = this.#graced.push(standIn);
    if (count === 1) microtask(() => this.#graced.splice(0));
    else if (count > MAX_GRACED) this.#graced.splice(0, MAX_GRACED / 2);
    return standIn;
  }

  /** A stand-in for what would cross as a mirror, such as a library's exports. */
  alive(ref) {
    const link = this.#at.get(ref);
    if (link?.kind === STAND_IN) return this.fromRef(ref);
    if (link?.alive?.ref) return link.alive.value.deref() ?? this.#standIn(link.alive);
    const own = new Link(STAND_IN, undefined, this.#engine.dup(ref), 0);
    const standIn = this.#standIn(own);
    if (link) link.alive = own;
    else this.#at.set(ref, own);
    this.#scopes.keep(own); // exports are the sandbox's for good
    return standIn;
  }

  /** The host's prototype for a guest's; null for 0. Takes the count over. */
  fromProto(ref) {
    if (ref === 0) return null;
    const own = this.#protos.get(ref);
    const value = own ?? this.fromRef(ref);
    this.#engine.free(ref);
    return value;
  }

  /** The host's intrinsic prototype for the guest's of that name, or undefined. */
  ownProto(ref) {
    return this.#protos.get(ref);
  }

  /** Whether a host's object is a prototype that both realms have. */
  isIntrinsicProto(value) {
    const link = this.#links.get(value);
    return link?.kind === FIXED && this.#protos.has(link.ref);
  }

  /** Makes the other side's prototype of a mirror what this side's is. */
  syncProto(ref, value, fromHost) {
    const engine = this.#engine;
    const proto = engine.proto(ref);
    if (fromHost) {
      const wanted = this.protoRef(Object.getPrototypeOf(value));
      if (wanted !== proto) engine.setProto(ref, wanted);
      if (proto !== 0) engine.free(proto);
    } else {
      const own = this.fromProto(proto);
      if (own !== Object.getPrototypeOf(value)) Reflect.setPrototypeOf(value, own);
    }
  }

  /** What is reachable through data in a message is in the message as well. */
  reach(value) {
    if (typeof value === "object" && value !== null) this.toRef(value);
  }

  /** Takes over what the guest just did to the host's own value of a mirror. */
  changedHere(link) {
    if (link.kind !== MIRROR || link.ref === 0) return;
    link.pushed = 0;
    this.#messages.touch(link, true);
  }

  /** Brings a value up to date that a mirror is made of. */
  touchValue(value, fromHost) {
    const link = this.#links.get(value);
    if (link?.kind === MIRROR && link.ref !== 0) this.#messages.touch(link, fromHost);
  }

  // Scopes.

  openScope() {
    this.#scopes.open();
  }

  /** Lets go of what the innermost scope made, but for what is in `result`. */
  closeScope(result) {
    for (const link of this.#scopes.close(result, (value) => this.#links.get(value))) {
      if (link.kind === STAND_IN) link.released = true;
      this.#release(link);
    }
    this.#sweep();
  }

  // Mirrors.

  // In the turn that made it, a result is held, since what is held weakly is not let go
  // before the turn ends; after it, only whoever uses it holds it.
  #pin(link) {
    this.#pins.add(link);
    // A result of the whole call is what it is; one that a callback was given may change.
    if (this.#engine.answering > 0) this.#messages.add(link);
    this.#pinnedBytes += link.mirror.weight(link);
    const recent = this.#recent.push(link);
    if (recent === 1) microtask(() => this.#loosen());
    // A turn that goes on and on has let most of them go again.
    else if (recent > 2 * MAX_PINS) this.#recent = this.#recent.filter((one) => one.ref !== 0);
    const budget = Math.min(this.#sandbox.memoryBytes / 4, MAX_PINNED_BYTES);
    while (this.#pins.size > MAX_PINS || (this.#pinnedBytes > budget && this.#pins.size > 1)) {
      const [oldest] = this.#pins;
      if (oldest === link) break;
      this.#release(oldest);
    }
  }

  #loosen() {
    for (const link of this.#recent) {
      if (link.ref === 0) continue;
      this.#gone.register(link.value, link);
      link.value = new WeakRef(link.value);
      link.loose = true;
    }
    this.#recent.length = 0;
  }

  /** Lets results go when the guest's memory gets short. */
  #relieve() {
    if (this.#engine.memoryBytes < this.#crowdedAt) return;
    for (const link of [...this.#pins]) this.#release(link);
    this.#sweep();
    this.#engine.collect();
    this.#sweep();
    this.#crowdedAt = Math.max(this.#sandbox.memoryBytes / 2, this.#engine.memoryBytes * 1.25);
  }

  #release(link) {
    if (link.ref === 0) return;
    if (this.#pins.delete(link)) this.#pinnedBytes -= link.mirror.weight(link);
    if (this.#at.get(link.ref) === link) this.#at.delete(link.ref);
    const { ref } = link;
    link.ref = 0;
    if (!this.#sandbox.refusal()) this.#engine.free(ref);
  }

  // Turns: control passes from one side to the other.

  /** The outermost call begins. */
  enter() {
    // What hangs on a live result is in no message, and the host may have changed it.
    if (this.#sandbox.live) this.#messages.follow(this.#recent);
  }

  /** Called when a way into the guest begins inside another. */
  enterAgain() {
    this.#shadows.stale();
    this.#messages.sync(true);
  }

  /** A way into the guest ends inside another: the host goes on with what it was given. */
  leaveAgain() {
    if (this.#messages.any) this.#messages.sync(false);
  }

  /** The outermost call returns. */
  leave() {
    this.#messages.end();
    this.#shadows.stale();
    let survivors = this.#nursery;
    if (survivors.length > 0) {
      this.#nursery = [];
      // A parent that goes lets its children go, which were made before or after it.
      for (let pass = 0; pass < 3 && survivors.length > 0; pass++) survivors = this.#dropUnheld(survivors.reverse());
      for (const link of survivors) this.#weaken(link);
    }
    const some = this.#weakCount + this.#kept.length;
    if (some > this.#sweepAt || (some > 0 && ++this.#leaves > Math.max(some, 1024))) this.#sweep();
    this.#relieve();
  }

  #dropUnheld(links) {
    const engine = this.#engine;
    const rest = [];
    for (const link of links) {
      if (link.ref === 0) continue;
      if (engine.count(link.ref) > 1) rest.push(link);
      else this.#forget(link);
    }
    return rest;
  }

  #forget(link) {
    if (link.weak) this.#weakCount--;
    this.#exposed.delete(link.id);
    this.#links.delete(link.value);
    this.#at.delete(link.ref);
    const { ref } = link;
    link.ref = 0;
    this.#engine.free(ref);
  }

  #weaken(link) {
    if (link.kind === MIRROR) {
      this.#kept.push(link);
      return;
    }
    const { ref } = link;
    if (!link.weak) {
      link.weak = true;
      this.#weakCount++;
      this.#engine.help(this.guest.weaken, [link.id, [ref]]);
    }
    link.ref = 0;
    this.#at.delete(ref);
    this.#engine.free(ref);
  }

  #sweep() {
    this.#leaves = 0;
    this.#kept = this.#dropUnheld(this.#kept);
    this.#engine.help(this.guest.sweep, []);
    this.#sweepAt = 2 * Math.max(this.#weakCount, this.#kept.length) + 256;
  }

  #dead(id) {
    const link = this.#exposed.get(id);
    if (!link) return;
    this.#weakCount--;
    this.#exposed.delete(id);
    if (this.#links.get(link.value) === link) this.#links.delete(link.value);
  }

  // The guest calls.

  #onCall(id, self, args) {
    const link = this.#exposedTo(id);
    let { gate } = link;
    if (isObject(self)) {
      // What a method of a class gives is the receiver's.
      const own = this.#links.get(self)?.gate;
      if (own?.revoked) throw takenBack();
      if (gate === undefined || gate === OPEN) gate = own ?? gate;
    }
    const result = this.answer(() => Reflect.apply(link.value, self, args));
    return gate ? this.allow(result, gate) : result;
  }

  #exposedTo(id) {
    const refusal = this.#sandbox.refusal();
    if (refusal) throw refusal;
    const link = this.#exposed.get(id);
    if (!link) throw new SandboxError("a host object is known to the guest no more");
    if (link.revoked || link.gate?.revoked) throw takenBack();
    return link;
  }

  /** Takes a value back: the guest's proxy of a host's, or the host's of a guest's. */
  revoke(value) {
    const { shown = value, gate } = this.#granted.get(value) ?? {};
    const link = this.#links.get(shown);
    if (gate) gate.revoked = true;
    if (gate && link === undefined) return;
    if (link === undefined || link.kind === FIXED)
      throw new SandboxError("only what crossed as a proxy can be taken back: a function, an instance or an object with behaviour");
    link.revoked = true;
    // What does not change is read without asking; from now on it is asked for.
    if (link.kind === SHADOW && (link.ref !== 0 || this.#revive(link) !== 0)) this.#shadows.forget(link);
  }

  /** Shows the guest another object in place of a host's, wherever it may come upon it. */
  distort(value, shown) {
    this.#distortions.set(value, shown);
  }

  /** Notes for revoke() by which value a granted one is known to the guest, if by one, and its gate. */
  granted(value, shown, gate) {
    this.#granted.set(value, { shown, gate });
  }

  /** Runs host code for the guest, which waits on the stack. */
  answer(body) {
    this.stats.crossings++;
    if (this.#messages.any) this.#messages.sync(false);
    try {
      return this.#sandbox.pause(body);
    } finally {
      this.#shadows.stale();
      if (this.#messages.any) this.#messages.sync(true);
    }
  }

  #onTrap(op, id, args) {
    if (op === OPS.DEAD) return this.#dead(id);
    const link = this.#exposedTo(id);
    // Whatever asks is alive, and has to stay so until the call ends.
    if (link.ref === 0) this.#hold(link, this.#engine.dup(link.proxy));
    this.stats.crossings++;
    const result = this.#shadows.trap(op, link, args);
    return link.gate ? this.allow(result, link.gate) : result;
  }

  // What sandbox.js needs besides.

  /** Makes a granted value, and what of the realm hangs on it, read-only for the guest. */
  share(value) {
    this.#shadows.share(value);
  }

  /** The link of a value that is at home in the guest. */
  linkOf(value) {
    return this.#links.get(value);
  }

  /** Whether a value is at home in the guest, or both realms have it. */
  isGuests(value) {
    const link = this.#links.get(value);
    return link !== undefined && (link.kind === FIXED || link.id === 0);
  }

  /** Whether a host value is data rather than something that behaves. */
  isData(value) {
    if (typeof value === "function") return false;
    const proto = Object.getPrototypeOf(value);
    if (proto === null || proto === Object.prototype || proto === Array.prototype) return true;
    return this.#mirrors.forGuest(value)?.isData ?? false;
  }

  /** Lets the guest have a value that is no argument: part of a capability, or our own. */
  allow(value, gate = OPEN) {
    if (isObject(value)) this.#allowed.set(value, gate);
    return value;
  }

  /**
   * Runs what makes the guest know a capability. Whatever it comes to know by that, then
   * and later, is taken back once the gate says `revoked`.
   */
  granting(gate, body) {
    const before = this.#gate;
    this.#gate = gate;
    try {
      return body();
    } finally {
      this.#gate = before;
    }
  }

  /** Undoes what was begun for a value and failed. */
  abandonHalf(link) {
    this.#links.delete(link.value);
    if (link.id !== 0) this.#exposed.delete(link.id);
    this.#release(link);
  }

  waitFor(reject) {
    this.#settlers.add(reject);
  }

  settled(reject) {
    this.#settlers.delete(reject);
  }

  /** Ends the promises whose guest will never settle them. */
  abandon(error) {
    for (const reject of this.#settlers) reject(error);
    this.#settlers.clear();
  }

  counts() {
    return { ...this.stats, exposed: this.#exposed.size, held: this.#at.size, pins: this.#pins.size, weak: this.#weakCount };
  }
}

export const microtask = typeof queueMicrotask === "function" ? queueMicrotask : (job) => Promise.resolve().then(job);
