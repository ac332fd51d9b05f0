// One instance of the engine's module. It may serve several guests, one after the other:
// an image replaces all of its memory.
import { wasi } from "./wasi.js";

const PAGE_BYTES = 1 << 16;

/** What is looked at as a whole, to see whether it is zero. */
const BLOCK_BYTES = 1 << 12;

/** Instances that wait for another guest. One that has grown beyond this is let go. */
const MAX_SPARES = 4;
const MAX_SPARE_BYTES = 16 << 20;
const spares = [];

export class Instance {
  exports;
  module;
  /** What the guest's monotonic clock is ahead of the host's, in milliseconds. */
  ahead = 0;
  /** The engine that drives it: it answers what the guest asks. */
  engine;
  #used = false; // by a guest before
  #initial; // bytes of its memory when it was made

  constructor(module) {
    this.module = module;
    const imports = {
      env: {
        host_call: (name, length, self, argc, argv) => this.engine.hostCall(name, length, self, argc, argv),
        host_interrupt: () => (this.engine.hooks.poll() ? 1 : 0),
        host_promise_rejection: () => {},
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        host_get_timezone_offset: (high, low) => -new Date((high * 2 ** 32 + (low >>> 0)) * 1000).getTimezoneOffset() * 60,
      },
      wasi_snapshot_preview1: wasi(
        () => this.exports.memory.buffer,
        () => this.now,
      ),
    };
    this.exports = new WebAssembly.Instance(module, imports).exports;
    this.#initial = this.size;
  }

  /** Bytes of its memory. */
  get size() {
    return this.exports.memory.buffer.byteLength;
  }

  /** The guest's monotonic clock. */
  get now() {
    return performance.now() + this.ahead;
  }

  /**
   * What the engine's state is: its memory above the stack, which is empty while no call is
   * under way, and lies below everything else. What is zero there is left out.
   */
  save() {
    const { memory, __stack_pointer } = this.exports;
    const stack = __stack_pointer.value;
    const runs = runsOf(new Uint32Array(memory.buffer), stack);
    const bytes = new Uint8Array(runs.reduce((sum, [from, to]) => sum + to - from, 0));
    let at = 0;
    for (const [from, to] of runs) {
      bytes.set(new Uint8Array(memory.buffer, from, to - from), at);
      at += to - from;
    }
    return { memory: bytes.buffer, runs, end: this.size, stack, now: this.now };
  }

  /** Puts that state in the place of whatever there was. */
  load({ memory: saved, runs, end, stack, now }) {
    const { memory, __stack_pointer } = this.exports;
    // A new one has nothing yet that is not zero but what the module puts there, and what is
    // not touched costs nothing.
    const full = this.#used ? this.size : this.#initial;
    const missing = end - this.size;
    if (missing > 0) memory.grow(missing / PAGE_BYTES);
    const bytes = new Uint8Array(memory.buffer);
    const clear = (from, to) => bytes.fill(0, from, Math.min(to, full));
    if (this.#used) clear(0, stack);
    let [at, done] = [0, stack];
    for (const [from, to] of runs) {
      clear(done, from);
      bytes.set(new Uint8Array(saved, at, to - from), from);
      at += to - from;
      done = to;
    }
    clear(done, full);
    this.#used = true;
    __stack_pointer.value = stack;
    // It goes on from where it was, in whatever process that has been.
    this.ahead = now - performance.now();
  }

  /** Lets another guest have the instance, whose engine has let go of it. */
  giveBack() {
    this.engine = undefined;
    this.#used = true;
    if (this.size > MAX_SPARE_BYTES) return;
    spares.push(this);
    if (spares.length > MAX_SPARES) spares.shift();
  }
}

/**
 * An instance to load a saved state into: of those that have no more memory than it, the one
 * with the most. The engine would not use what there is beyond, and grow all the same.
 */
export function spareInstance(module, { end }) {
  let best;
  for (const spare of spares) if (spare.module === module && spare.size <= end && !(spare.size < best?.size)) best = spare;
  if (best === undefined) return new Instance(module);
  spares.splice(spares.indexOf(best), 1);
  return best;
}

/** Where a memory is not zero, from a place on: [from, to] in bytes. */
function runsOf(words, start) {
  const runs = [];
  const size = BLOCK_BYTES / 4;
  for (let block = start / 4; block < words.length; block += size) {
    let at = block;
    while (at < block + size && words[at] === 0) at++;
    if (at === block + size) continue;
    const last = runs.at(-1);
    if (last?.[1] === 4 * block) last[1] += BLOCK_BYTES;
    else runs.push([4 * block, 4 * (block + size)]);
  }
  return runs;
}
