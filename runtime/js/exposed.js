/** Values that outlived their call, before the first look at which are gone. */
const SWEEP_AT = 64;

/**
 * The host values that a guest knows by a stand-in. The guest alone decides how long a
 * stand-in lives: it is held weakly here, and with it goes the hold on the value.
 */
export class Exposed {
  #guest;
  #ids = new WeakMap(); // value -> id
  #entries = new Map(); // id -> { value, weak, identity }
  #byIdentity = new Map(); // identity of the stand-in -> id
  #last = 0;
  #fresh = []; // ids of the running call
  #sweepAt = SWEEP_AT;

  /** @param guest `weaken(handle)` makes a weak reference, `deref(weak)` follows one */
  constructor(guest) {
    this.#guest = guest;
  }

  nextId() {
    return ++this.#last;
  }

  add(value, handle, id = this.nextId()) {
    const entry = { value, weak: this.#guest.weaken(handle), identity: handle.identity };
    this.#ids.set(value, id);
    this.#entries.set(id, entry);
    this.#byIdentity.set(entry.identity, id);
    this.#fresh.push(id);
    return handle;
  }

  value(id) {
    return this.#entries.get(id)?.value;
  }

  /** The stand-in of a value, unless it has none any more. */
  standInOf(value) {
    const entry = this.#entries.get(this.#ids.get(value));
    const handle = entry && this.#guest.deref(entry.weak);
    return handle?.isUndefined ? undefined : handle;
  }

  /** The value whose stand-in has this identity: an address, which may be reused. */
  valueAt(identity) {
    const entry = this.#entries.get(this.#byIdentity.get(identity));
    return entry && this.#guest.deref(entry.weak).identity === identity ? entry.value : undefined;
  }

  /**
   * Lets go of values whose stand-ins are gone: of this call's always, and of all when
   * those that outlived theirs have doubled since the last time.
   */
  sweep() {
    const all = this.#entries.size - this.#fresh.length > this.#sweepAt;
    for (const id of all ? [...this.#entries.keys()] : this.#fresh) {
      const entry = this.#entries.get(id);
      if (!entry || !this.#guest.deref(entry.weak).isUndefined) continue;
      entry.weak.dispose();
      this.#entries.delete(id);
      if (this.#byIdentity.get(entry.identity) === id) this.#byIdentity.delete(entry.identity);
    }
    this.#fresh = [];
    if (all) this.#sweepAt = 2 * this.#entries.size + SWEEP_AT;
  }
}
