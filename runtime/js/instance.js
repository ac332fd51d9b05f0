// One instance of the engine's module. It may serve several guests, one after the other:
// an image replaces all of its memory.
import { wasi } from "./wasi.js";

const PAGE_BYTES = 1 << 16;

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
  }

  /** The guest's monotonic clock. */
  get now() {
    return performance.now() + this.ahead;
  }

  /**
   * What the engine's state is: its memory above the stack, which is empty while no call is
   * under way, and lies below everything else.
   */
  save() {
    const { memory, __stack_pointer } = this.exports;
    const stack = __stack_pointer.value;
    return { memory: memory.buffer.slice(stack), stack, now: this.now };
  }

  /** Puts that state in the place of whatever there was. */
  load({ memory: saved, stack, now }) {
    const { memory, __stack_pointer } = this.exports;
    const missing = stack + saved.byteLength - memory.buffer.byteLength;
    if (missing > 0) memory.grow(missing / PAGE_BYTES);
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(new Uint8Array(saved), stack);
    bytes.fill(0, stack + saved.byteLength);
    // No guest's stack has been in a new one, and what is not touched costs nothing.
    if (this.#used) bytes.fill(0, 0, stack);
    this.#used = true;
    __stack_pointer.value = stack;
    // It goes on from where it was, in whatever process that has been.
    this.ahead = now - performance.now();
  }

  /** Lets another guest have the instance, whose engine has let go of it. */
  giveBack() {
    this.engine = undefined;
    this.#used = true;
    if (this.exports.memory.buffer.byteLength > MAX_SPARE_BYTES) return;
    spares.push(this);
    if (spares.length > MAX_SPARES) spares.shift();
  }
}

/** An instance to load an image into: the one that was used last, if one is to be had. */
export function spareInstance(module) {
  const at = spares.findLastIndex((spare) => spare.module === module);
  return at < 0 ? new Instance(module) : spares.splice(at, 1)[0];
}
