// Which object on one side is which on the other.

/** How an object is known on the other side. */
export const FIXED = 0; // an intrinsic, or another pair that lasts as long as the sandbox
export const SHADOW = 1; // a host object for which the guest has a proxy
export const STAND_IN = 2; // a guest object for which the host has a proxy
export const MIRROR = 3; // a value with a real counterpart on either side

/**
 * One pair. While `ref` is not 0 the link holds a count on the guest's object; the
 * host's value is held weakly for a STAND_IN, else by `value`.
 */
export class Link {
  constructor(kind, value, ref, id) {
    this.kind = kind;
    this.value = value;
    this.ref = ref;
    this.id = id; // of a host object; 0 for what is at home in the guest
    this.loose = false; // `value` is a WeakRef, of a MIRROR whose turn is over
    this.alive = undefined; // the stand-in's link of a MIRROR that is wanted live as well
    this.revoked = false;
    this.handle = false; // of a STAND_IN that only marshallers have seen
    this.released = false; // its scope has ended
    this.gate = undefined; // of a host object that is part of a capability: until when it is
    this.weak = false; // known to the guest, whose decision it is how long
    this.pushed = 0; // the turn in which a mirror was brought up to date last, by the host
    this.pulled = 0; // and by the guest
    this.credit = undefined; // for comparing a large one at callbacks
    this.mirror = undefined; // how a MIRROR is brought up to date
    this.base = undefined; // what both sides of it held then
    this.explained = undefined; // of an error: its message there, and the one that says more here
    // Of a SHADOW: the guest's handler and target, borrowed from its proxy, and what of
    // the host's object has been read.
    this.proxy = 0; // where its proxy is, borrowed as well
    this.array = false;
    this.iterator = false; // its methods are the host's
    this.exact = false; // nothing of it is read ahead
    this.shadow = 0;
    this.handler = 0;
    this.lazy = 0;
    this.fast = 0;
    this.fresh = false; // the guest reads its shadow without asking
    this.keys = undefined; // what the shadow has
    this.proto = undefined;
    this.turn = 0; // of the last read
    this.run = 0; // reads in that turn
  }

  /** The host's value; undefined when nobody has it any more. */
  get held() {
    return this.loose ? this.value.deref() : this.value;
  }
}

/** Whether a value has an identity that crosses, symbols apart. */
export const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
