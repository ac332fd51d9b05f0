// Data may be nested deeper than any stack: what is far down waits until the rest is done.

/** How deep data is filled, or brought up to date, at once. */
const MAX_NESTED = 64;

/** Work on data of one sandbox. */
export class Depth {
  #now = 0;
  #waiting = []; // [work, drop]

  /**
   * Does a piece of work, or has it wait. `drop` is called in its place when what it is a
   * part of fails.
   */
  run(work, drop) {
    if (this.#now >= MAX_NESTED) {
      this.#waiting.push([work, drop]);
      return;
    }
    this.#now++;
    try {
      work();
      if (this.#now > 1) return;
      for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) next[0]();
    } catch (error) {
      if (this.#now === 1) for (const [, drop] of this.#waiting.splice(0)) drop();
      throw error;
    } finally {
      this.#now--;
    }
  }
}
