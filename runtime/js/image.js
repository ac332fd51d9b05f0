// Images of loaded sandboxes: the guest's memory, and where in it the host finds what it
// needs. A sandbox that is made anew goes on from one rather than evaluate the library.

/** How much memory the images of one process may take; the least recently used go first. */
const MAX_BYTES = 64 << 20;

/** An image whose grants stand for other values than those that there are now. */
export class OtherGrants extends Error {}

/** What decides on a guest's state after its library has loaded, the code apart. */
export function situationOf(name, { permissions = [], limits = {}, arguments: args, results, reads }) {
  const { memoryMB, timeoutMs, stackKB } = limits;
  const granted = permissions.map((permission) => (typeof permission === "string" ? permission : [permission?.name, permission?.allow]));
  return JSON.stringify([name, granted, memoryMB, timeoutMs, stackKB, args, results, reads]);
}

/** The images that are kept in this process. */
export class Images {
  #kept = new Map(); // code -> Map(situation -> image)
  #order = new Set(); // the same, least recently used first
  #bytes = 0;
  /** The image of a sandbox before it is granted anything, where every library begins. */
  realm;

  keepRealm(image) {
    this.realm = image;
  }

  find(code, situation) {
    const image = this.#kept.get(code)?.get(situation);
    if (image !== undefined) {
      this.#order.delete(image);
      this.#order.add(image);
    }
    return image;
  }

  keep(code, situation, image) {
    const before = this.find(code, situation);
    if (before !== undefined) this.#drop(before);
    if (bytesOf(image) > MAX_BYTES) return;
    if (!this.#kept.has(code)) this.#kept.set(code, new Map());
    this.#kept.get(code).set(situation, image);
    image.place = { code, situation };
    this.#order.add(image);
    this.#bytes += bytesOf(image);
    for (const oldest of this.#order) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(image) {
    const { code, situation } = image.place;
    const ofCode = this.#kept.get(code);
    ofCode.delete(situation);
    if (ofCode.size === 0) this.#kept.delete(code);
    this.#order.delete(image);
    this.#bytes -= bytesOf(image);
  }
}

const bytesOf = (image) => image.engine.instance.memory.byteLength;
