// Random operations on values that two realms share, compared with one realm.
import { actor, actorSource } from "./actor.js";
import { kit } from "./kit.js";

const one = actor(kit());

/** Small random numbers, the same for a seed everywhere. */
export function generator(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  };
}

// How often each kind of operation comes, and what it needs of the pool.
const weights = [
  ["make", "", 14],
  ["get", "o", 5],
  ["set", "o", 6],
  ["put", "o", 2],
  ["receive", "o", 1],
  ["fetch", "o", 1],
  ["delete", "o", 3],
  ["has", "o", 2],
  ["own", "o", 1],
  ["define", "o", 3],
  ["redefine", "o", 2],
  ["accessor", "o", 2],
  ["keys", "o", 2],
  ["names", "o", 1],
  ["describe", "o", 2],
  ["prototype", "o", 2],
  ["inherit", "o", 1],
  ["freeze", "o", 1],
  ["seal", "o", 1],
  ["fix", "o", 1],
  ["state", "o", 2],
  ["call", "f", 7],
  ["apply", "fo", 3],
  ["construct", "f", 3],
  ["method", "o", 2],
  ["list", "l", 8],
  ["each", "lf", 5],
  ["map", "m", 6],
  ["eachOf", "mf", 2],
  ["member", "s", 4],
  ["date", "d", 4],
  ["exec", "r", 2],
  ["byte", "t", 2],
  ["assign", "o", 2],
  ["spread", "o", 1],
  ["instance", "of", 2],
  ["tag", "o", 1],
  ["same", "o", 1],
  ["throw", "", 1],
];
const drawn = weights.flatMap(([kind, wants, weight]) => Array(weight).fill({ kind, wants }));

/** The operations of a seed, each for the host or the guest to carry out. */
export function sequence(seed) {
  const random = generator(seed);
  const length = 10 + random(30);
  const ops = [];
  let guest = random(2) === 1;
  for (let i = 0; i < length; i++) {
    if (random(4) === 0) guest = !guest;
    const { kind, wants } = i < 5 ? { kind: "make", wants: "" } : drawn[random(drawn.length)];
    const value = () => (random(3) === 0 ? -1 - random(12) : random(1000));
    ops.push({ guest, kind, wants, o: random(1000), x: value(), y: value(), key: random(1000), n: random(100), which: random(1000) });
  }
  return ops;
}

/** Operations in runs of the same realm, the host's first. */
function turns(ops) {
  const list = [{ guest: false, ops: [] }];
  for (const op of ops) {
    if (op.guest !== list.at(-1).guest) list.push({ guest: op.guest, ops: [] });
    list.at(-1).ops.push(op);
  }
  return list;
}

function alone(ops) {
  const pool = [];
  const texts = [];
  for (const turn of turns(ops)) texts.push(one.digest(pool), ...one.run(turn.ops, pool));
  return [...texts, one.digest(pool)].join("\n@ ");
}

function apart(ops, guest) {
  let pool = [];
  const texts = [];
  for (const turn of turns(ops)) {
    if (turn.guest) {
      const { before, seen, pool: after } = guest.turn(JSON.stringify(turn.ops), pool);
      texts.push(before, ...seen);
      pool = [...after];
    } else texts.push(one.digest(pool), ...one.run(turn.ops, pool));
  }
  return [...texts, one.digest(pool)].join("\n@ ");
}

/**
 * What goes wrong with operations in a sandbox; undefined when nothing does. Where the
 * two engines differ without a membrane (each has faults of its own with sealed arrays
 * and lengths) nothing can be told.
 */
export function fault(ops, guest) {
  const expected = alone(ops);
  const other = guest.alone(JSON.stringify(turns(ops).map((turn) => turn.ops)));
  if (other !== expected) return { engines: true, ...difference(expected, other) };
  let seen;
  try {
    seen = apart(ops, guest);
  } catch (error) {
    seen = `threw ${error?.name}: ${error?.message}`;
  }
  return seen === expected ? undefined : { engines: false, ...difference(expected, seen) };
}

function difference(expected, seen) {
  const [a, b] = [expected.split("\n"), seen.split("\n")];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return { at, expected: String(a[at]).slice(0, 400), seen: String(b[at]).slice(0, 400) };
}

/** Fewer operations with a fault; `faulty` tells of a list whether it has one. */
export async function shrink(ops, faulty) {
  let list = ops;
  for (let size = list.length >> 1; size >= 1; ) {
    let shorter = false;
    for (let from = 0; from < list.length; ) {
      const rest = [...list.slice(0, from), ...list.slice(from + size)];
      if (rest.length > 0 && (await faulty(rest))) {
        list = rest;
        shorter = true;
      } else from += size;
    }
    if (!shorter || size > list.length) size >>= 1;
  }
  return list;
}

const PER_SANDBOX = 50; // sequences that share one

/**
 * Runs the sequences of `count` seeds from `first` on, in sandboxes with copied and with
 * live results in turn. Resolves to what failed: at most `most` of them, shrunk.
 */
export async function runRandom({ createSandbox, first, count, most = 5, say = () => {} }) {
  const failures = [];
  const failed = [];
  let undecided = 0;
  let sandbox;
  for (let i = 0; i < count; i++) {
    const seed = first + i;
    const results = Math.floor(i / PER_SANDBOX) % 2 === 0 ? "mirror" : "live";
    if (!sandbox || i % PER_SANDBOX === 0) {
      sandbox?.dispose();
      sandbox = await createSandbox(actorSource, { results });
    }
    const ops = sequence(seed);
    const found = attempt(ops, sandbox);
    if (!found) continue;
    if (found.engines) {
      undecided++;
      continue;
    }
    sandbox.dispose();
    sandbox = undefined;
    failed.push(seed);
    if (failures.length >= most) continue;
    const again = async (list) => {
      const fresh = await createSandbox(actorSource, { results });
      try {
        return attempt(list, fresh);
      } finally {
        fresh.dispose();
      }
    };
    const same = async (list) => (await again(list))?.engines === false;
    const short = (await same(ops)) ? await shrink(ops, same) : undefined;
    const failure = { seed, results, ...(short ? await again(short) : found), ops: short ?? ops, needsOthers: !short };
    failures.push(failure);
    say(tell(failure));
  }
  sandbox?.dispose();
  return { total: count, failed, undecided, failures };
}

function attempt(ops, sandbox) {
  try {
    return fault(ops, sandbox.exports);
  } catch (error) {
    return { engines: false, expected: "an answer", seen: `${error?.name}: ${error?.message}` };
  }
}

// What was done, with what each operation gives in one realm.
function tell({ seed, results, needsOthers, expected, seen, ops }) {
  const pool = [];
  const lines = ops.map((op) => {
    const [gave] = one.run([op], pool);
    return `  ${op.guest ? "guest" : "host "} ${gave} <- key ${one.keyOf(op)}, o${op.o} x${op.x} y${op.y} n${op.n} which${op.which}`;
  });
  return [
    `seed ${seed}, results: "${results}"${needsOthers ? ", only after the seeds before it" : ""}`,
    ...lines,
    `  expected ${expected}`,
    `  seen     ${seen}`,
  ].join("\n");
}
