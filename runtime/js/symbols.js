// Symbols of both sides: well-known and registered ones are the same, unique ones are
// paired for the sandbox's life.

export class Symbols {
  #engine;
  #guest;
  #refs = new Map(); // symbol -> ref
  #symbols = new Map(); // ref -> symbol

  constructor(engine, guest) {
    this.#engine = engine;
    this.#guest = guest;
    for (const key of engine.keys(guest.symbols)) {
      const own = Symbol[key];
      if (typeof own === "symbol" && typeof key === "string") this.#pair(own, engine.getRef(guest.symbols, key));
    }
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
