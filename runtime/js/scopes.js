// What crossed while a function of the application ran, to let go of it afterwards.
import { isObject, STAND_IN } from "./links.js";

export class Scopes {
  #open = []; // of each, innermost last: the links that were made in it

  open() {
    this.#open.push(new Set());
  }

  /** Notes a link of a guest's object. */
  add(link) {
    this.#open.at(-1)?.add(link);
  }

  /** Takes a link out of its scope, since it is to outlive it. */
  keep(link) {
    this.#open.at(-1)?.delete(link);
  }

  /**
   * Ends the innermost scope: what of it hangs on `result` is the next one's, and the
   * rest is returned. `linkOf(value)` is the link of a host value.
   */
  close(result, linkOf) {
    const made = this.#open.pop();
    const seen = new Set();
    const waiting = [result];
    for (let n = 0; n < waiting.length; n++) {
      const value = waiting[n];
      if (!isObject(value) || seen.has(value)) continue;
      seen.add(value);
      const link = linkOf(value);
      if (link !== undefined && made.delete(link)) this.add(link);
      if (link?.kind === STAND_IN) continue; // what is in there is the guest's to keep
      try {
        for (const held of inside(value)) waiting.push(held);
      } catch {
        // A host's own proxy that throws keeps nothing.
      }
    }
    return made;
  }
}

/** What hangs on a host value: its prototype, its properties, and entries. */
function* inside(value) {
  yield Object.getPrototypeOf(value);
  for (const key of Reflect.ownKeys(value)) {
    const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
    yield* [held, get, set];
  }
  if (value instanceof Map) yield* [...Map.prototype.entries.call(value)].flat();
  if (value instanceof Set) yield* Set.prototype.values.call(value);
}
