// Symbols of both sides: well-known and registered ones are the same, unique ones are
// paired for the sandbox's life.

export class Symbols {
  #engine;
  #guest;
  #refs = new Map(); // symbol -> ref
  #symbols = new Map(); // ref -> symbol
  #known; // of the well-known ones: [name, ref]

  /** @param known the well-known ones of an image, as `save` gave them */
  constructor(engine, guest, known) {
    this.#engine = engine;
    this.#guest = guest;
    this.#known = known ?? wellKnown(engine, guest.symbols);
    for (const [key, ref] of this.#known) this.#pair(Symbol[key], ref);
  }

  /** The refs of the well-known ones, or undefined when others have crossed. */
  save() {
    return this.#refs.size === this.#known.length ? this.#known : undefined;
  }

  /** The guest's symbol for a host's; its count stays here. */
  toRef(symbol) {
    const known = this.#refs.get(symbol);
    if (known !== undefined) return known;
    const registered = Symbol.keyFor(symbol);
    const { description } = symbol;
    const ref =
      registered !== undefined
        ? this.#engine.help(this.#guest.symbolFor, [registered], true)
        : this.#engine.help(this.#guest.symbol, description === undefined ? [] : [description], true);
    this.#pair(symbol, ref);
    return ref;
  }

  /** The host's symbol for a guest's. */
  fromRef(ref) {
    const known = this.#symbols.get(ref);
    if (known !== undefined) return known;
    const registered = this.#engine.help(this.#guest.keyFor, [[ref]]);
    const symbol = registered !== undefined ? Symbol.for(registered) : Symbol(this.#engine.help(this.#guest.description, [[ref]]));
    this.#pair(symbol, this.#engine.dup(ref));
    return symbol;
  }

  #pair(symbol, ref) {
    this.#refs.set(symbol, ref);
    this.#symbols.set(ref, symbol);
  }
}

/** The well-known symbols that both realms have: names and the guest's refs. */
function wellKnown(engine, symbols) {
  return engine
    .keys(symbols)
    .filter((key) => typeof key === "string" && typeof Symbol[key] === "symbol")
    .map((key) => [key, engine.getRef(symbols, key)]);
}
