// Timers for a realm that has none. Time passes as it does outside, and when there is
// nothing left to do but wait, the clock is put forward to the next timer: no test sleeps.

const { now } = Date;
let skip = () => {};
let next = 1;
let skipped = 0; // ms, since something last happened
const timers = new Map(); // id -> { due, id, f, args, every }
const immediates = [];

/** A timer as Node gives it out. */
class Timer {
  constructor(id) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  refresh() {
    const timer = timers.get(this.id);
    if (timer) timer.due = now() + timer.every;
    return this;
  }
  close() {
    timers.delete(this.id);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

const start = (f, ms, args, repeats) => {
  if (typeof f !== "function") throw new TypeError(`The "callback" argument must be of type function. Received ${f === null ? "null" : typeof f}`);
  const wait = Math.min(Math.max(Math.floor(Number(ms)) || 1, 1), 2 ** 31 - 1);
  const id = next++;
  timers.set(id, { due: now() + wait, id, f, args, every: wait, repeats });
  return new Timer(id);
};
const stop = (timer) => void timers.delete(timer instanceof Timer ? timer.id : Number(timer));

export const timing = {
  setTimeout: (f, ms, ...args) => start(f, ms, args, false),
  setInterval: (f, ms, ...args) => start(f, ms, args, true),
  setImmediate(f, ...args) {
    const immediate = { f, args };
    immediates.push(immediate);
    return immediate;
  },
  clearTimeout: stop,
  clearInterval: stop,
  clearImmediate(immediate) {
    const at = immediates.indexOf(immediate);
    if (at >= 0) immediates.splice(at, 1);
  },
};

/** How long a campaign may do nothing but wait, in ms of its own time. */
const PATIENCE = 120_000;

/** Says that something happened: what is waited for from now on is waited for anew. */
export function progress() {
  skipped = 0;
}

export function setClock(forward) {
  skip = forward;
}

/** Runs what is next: false when nothing is, or nothing but timers happens any more. */
export function turn() {
  const immediate = immediates.shift();
  if (immediate) {
    immediate.f(...immediate.args);
    return true;
  }
  let first;
  for (const timer of timers.values()) if (first === undefined || timer.due < first.due) first = timer;
  if (first === undefined) return false;
  const wait = first.due - now();
  if (wait > 0) {
    skipped += wait;
    if (skipped > PATIENCE) return false;
    skip(wait);
  }
  if (first.repeats) first.due = Math.max(first.due + first.every, now());
  else timers.delete(first.id);
  first.f(...first.args);
  return true;
}
