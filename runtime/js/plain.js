// Mirrors of plain results: arrays and objects that hold data and nothing that behaves.
import { pullProperties, pushProperties } from "./properties.js";

const { getOwnPropertyDescriptor, isExtensible, ownKeys } = Reflect;
const DATA = 7; // writable, enumerable and configurable

/** How results that are plain cross: as the host's own objects. */
export class Plain {
  #membrane;
  #engine;

  constructor(membrane, engine) {
    this.#membrane = membrane;
    this.#engine = engine;
  }

  /**
   * Makes the host's object of a guest's; false when it is more than data. `keep` is told
   * of it before it is filled, since it may be part of itself.
   */
  receive(ref, keep, link) {
    const engine = this.#engine;
    const array = engine.isArray(ref);
    if (array) {
      const values = [];
      if (engine.isDense(ref)) {
        keep(values);
        this.#fillInTurn(link, values, true);
        return true;
      }
    }
    const proto = engine.proto(ref);
    const own = proto === 0 ? null : this.#membrane.ownProto(proto);
    if (proto !== 0) engine.free(proto);
    if (array ? own !== Array.prototype : own !== Object.prototype && own !== null) return false;
    if (!engine.isData(ref, array)) return false;
    const value = array ? [] : own === null ? Object.create(null) : {};
    keep(value);
    this.#fillInTurn(link, value, false);
    return true;
  }

  #fillInTurn(link, value, dense) {
    this.#membrane.depth.run(
      () => this.#fill(link.ref, link, value, dense),
      () => this.#membrane.abandonHalf(link),
    );
  }

  #fill(ref, link, value, dense) {
    if (dense) {
      this.#engine.readElements(ref, value);
      link.base = value.slice();
      this.#membrane.stats.shipped += value.length;
      return;
    }
    const base = new Map();
    this.#engine.readOwn(ref, (key, item, flags) => {
      // An assignment would ask what is inherited, which may refuse it.
      if (flags === DATA && !(key in value)) value[key] = item;
      else Reflect.defineProperty(value, key, descriptorOf(item, flags));
      base.set(key, descriptorOf(item, flags));
    });
    if (!this.#engine.extensible(ref)) Reflect.preventExtensions(value);
    link.base = base;
    this.#membrane.stats.shipped += base.size;
  }

  sync(link, value, fromHost) {
    const { ref, base } = link;
    this.#membrane.syncProto(ref, value, fromHost);
    if (Array.isArray(base)) {
      if (fromHost ? this.#pushDense(link, value) : this.#pullDense(link, value)) return;
      link.base = denseProperties(base);
    }
    link.base = fromHost ? pushProperties(this.#engine, ref, value, link.base) : pullProperties(this.#engine, ref, value, link.base);
    if (fromHost) for (const descriptor of link.base.values()) this.#membrane.reach(descriptor.value);
  }

  #pushDense(link, value) {
    const { base, ref } = link;
    const { length } = base;
    if (value.length !== length || ownKeys(value).length !== length + 1 || Object.keys(value).length !== length || !isExtensible(value)) return false;
    for (let i = 0; i < length; i++) {
      const item = value[i];
      if (!Object.is(item, base[i])) {
        if (!isPlainData(value, i)) return false;
        this.#engine.defineValue(ref, i, item);
        base[i] = item;
      } else this.#membrane.reach(item);
    }
    return true;
  }

  #pullDense(link, value) {
    const now = [];
    if (!this.#engine.isDense(link.ref)) return false;
    this.#engine.readElements(link.ref, now);
    const { base } = link;
    if (now.length < base.length) value.length = now.length;
    for (let i = 0; i < now.length; i++) if (i >= base.length || !Object.is(now[i], base[i])) Reflect.defineProperty(value, i, descriptorOf(now[i], DATA));
    link.base = now;
    return true;
  }

  /** How many properties there are to compare. */
  size({ base }) {
    return base === undefined ? 0 : Array.isArray(base) ? base.length : base.size;
  }

  /** Roughly the bytes of the guest's object. */
  weight(link) {
    return 64 + 16 * this.size(link);
  }
}

function isPlainData(value, key) {
  const own = getOwnPropertyDescriptor(value, key);
  return own.writable === true && own.configurable; // and enumerable, as all of them are
}

function descriptorOf(value, flags) {
  return { value, writable: (flags & 2) !== 0, enumerable: (flags & 4) !== 0, configurable: (flags & 1) !== 0 };
}

function denseProperties(values) {
  const found = new Map(values.map((value, i) => [String(i), descriptorOf(value, DATA)]));
  found.set("length", { value: values.length, writable: true, enumerable: false, configurable: false });
  return found;
}
