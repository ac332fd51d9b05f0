// What all mirrors are: how a value with a brand is made on either side, and kept alike.
import { guestProperties, hostProperties, pullProperties, pushProperties } from "./properties.js";

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
export const protoOf = getPrototypeOf;
const getter = (proto, key) => {
  const get = getOwnPropertyDescriptor(proto, key)?.get;
  return get && ((self) => apply(get, self, []));
};
const uncurried =
  (f) =>
  (self, ...args) =>
    apply(f, self, args);
export const typed = protoOf(Uint8Array.prototype);

/**
 * What a look at a host's object gives; undefined when it is a proxy that answers nobody,
 * such as one of a sandbox that is gone. Where the stack ends, nothing is known.
 */
export function ifAnswered(look) {
  try {
    return look();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

/** Built-ins of the host's, as they were before anybody changed them. */
export const host = {
  getTime: uncurried(Date.prototype.getTime),
  source: getter(RegExp.prototype, "source"),
  flags: (value) => new RegExp(value).flags, // read from its slots, whatever it inherits
  mapSize: getter(Map.prototype, "size"),
  setSize: getter(Set.prototype, "size"),
  byteLength: getter(ArrayBuffer.prototype, "byteLength"),
  resizable: getter(ArrayBuffer.prototype, "resizable") ?? (() => false),
  maxByteLength: getter(ArrayBuffer.prototype, "maxByteLength"),
  resize: uncurried(ArrayBuffer.prototype.resize),
  part: (view, key) => apply(getOwnPropertyDescriptor(host.viewTag(view) === undefined ? DataView.prototype : typed, key).get, view, []),
  viewTag: getter(typed, Symbol.toStringTag),
  whenSettled: uncurried(Promise.prototype.then),
  tag: uncurried(Object.prototype.toString),
};

const NO_KEYS = () => false;

/** A brand: how a value of it is made on either side, and what of it can change. */
export class Brand {
  isData = true;
  skip = NO_KEYS; // keys that are no properties to carry over

  constructor(membrane, engine, sandbox) {
    this.membrane = membrane;
    this.engine = engine;
    this.sandbox = sandbox;
    this.guest = membrane.guest;
  }

  // Of a subclass: `is(value)`, `toGuest(value)` gives a ref, `toHost(ref)`, and where
  // there is content that changes: `hostContent(value)`, `guestContent(ref)`,
  // `sameContent(a, b)`, `setGuest(ref, content, before)`, `setHost(value, content, before)`.
  hostContent() {}
  guestContent() {}
  sameContent() {
    return true;
  }

  ship(value, hold, link) {
    hold(this.toGuest(value, link));
    const { depth } = this.membrane;
    depth.run(
      () => this.fillGuest(link.ref, value, link),
      () => this.membrane.abandonHalf(link),
    );
  }

  fillGuest(ref, value, link) {
    const { engine, membrane } = this;
    membrane.syncProto(ref, value, true);
    const content = this.hostContent(value);
    if (content !== undefined) this.setGuest(ref, content, this.guestContent(ref));
    // What the engine gave the new object of its own is not the value's.
    const properties = pushProperties(engine, ref, value, guestProperties(engine, ref, this.skip), this.skip);
    link.base = { content, properties };
    membrane.stats.shipped++;
  }

  receive(ref, keep, link) {
    const value = this.toHost(ref);
    if (value === undefined) return false;
    keep(value);
    const { depth } = this.membrane;
    depth.run(
      () => this.fillHost(link.ref, value, link),
      () => this.membrane.abandonHalf(link),
    );
    return true;
  }

  fillHost(ref, value, link) {
    const { engine, membrane } = this;
    membrane.syncProto(ref, value, false);
    const content = this.guestContent(ref);
    if (content !== undefined) this.setHost(value, content, this.hostContent(value));
    const properties = pullProperties(engine, ref, value, hostProperties(value, this.skip), this.skip);
    link.base = { content, properties };
    membrane.stats.shipped++;
  }

  sync(link, value, fromHost) {
    const { ref, base } = link;
    this.membrane.syncProto(ref, value, fromHost);
    const content = fromHost ? this.hostContent(value) : this.guestContent(ref);
    if (!this.sameContent(content, base.content)) {
      if (fromHost) this.setGuest(ref, content, base.content);
      else this.setHost(value, content, base.content);
      base.content = content;
    }
    // What did not change is in the message all the same, with what hangs on it.
    if (fromHost && Array.isArray(content)) for (const item of content) this.membrane.reach(item);
    base.properties = fromHost
      ? pushProperties(this.engine, ref, value, base.properties, this.skip)
      : pullProperties(this.engine, ref, value, base.properties, this.skip);
    if (fromHost) for (const descriptor of base.properties.values()) this.membrane.reach(descriptor.value);
  }

  weight() {
    return 128;
  }

  /** How many things there are to compare. */
  size() {
    return 1;
  }
}
