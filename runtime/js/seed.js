// The state of the guest's Math.random, which an image would repeat.
//
// It is a xorshift64* generator, whose state is a word of the engine's context. The engine
// has no call to seed it. Where the word is follows from the build, so it is found by what
// it does: it is the one that foretells the numbers that are drawn.

/** How much of the context is searched, in bytes. */
const SPAN = 1024;
const MANTISSA = 12n;

let found; // its place, the same in every instance of one build

const one = new BigUint64Array(1);
const drawn = new Float64Array(one.buffer);

/** The state after a number was drawn, as the engine computes it. */
function following(state) {
  state ^= state >> 12n;
  state ^= BigInt.asUintN(64, state << 25n);
  return state ^ (state >> 27n);
}

/** The number that is drawn with it. */
function numberOf(state) {
  one[0] = (0x3ffn << 52n) | (BigInt.asUintN(64, state * 0x2545f4914f6cdd1dn) >> MANTISSA);
  return drawn[0] - 1;
}

const words = (engine) => new BigUint64Array(engine.u8.buffer, engine.cx, SPAN / 8);

/**
 * Where in the context the word is. What is asked first is an engine in which nothing of a
 * library's has run.
 */
export function seedAt(engine) {
  if (found !== undefined) return found;
  let candidates = Array.from({ length: SPAN / 8 }, (_, i) => i);
  for (let round = 0; round < 2; round++) {
    const before = words(engine).slice();
    const number = engine.evaluate("Math.random()", "seed");
    const after = words(engine);
    candidates = candidates.filter((i) => after[i] === following(before[i]) && numberOf(after[i]) === number);
  }
  if (candidates.length !== 1) throw new Error("the engine keeps the state of Math.random in a way which this runtime does not know");
  found = candidates[0];
  return found;
}

/** The state as it is. */
export function seedOf(engine, at) {
  return words(engine)[at];
}

/** Gives Math.random a state of its own. Zero is the one that it would never leave. */
export function reseed(engine, at) {
  const seed = crypto.getRandomValues(new BigUint64Array(1));
  words(engine)[at] = seed[0] || 1n;
}
