// What the membrane costs: calls into a sandboxed library against the same calls in an
// Arena of quickjs-emscripten-sync and without any boundary, in one process and by turns.
//
//   node membrane.mjs [--only row]... [--n items]... [--ours] [--seconds s] [--runtime index.js]
//
// --only and --n choose rows and sizes, and --seconds how long the chosen ones sample in
// all. --ours leaves out everything else, for a profile:
//
//   node --cpu-prof membrane.mjs --only map --n 1000 --ours --seconds 5
//
// "net" is a ratio without the floor, which is what the work takes in the engine when no
// boundary is crossed. Timing never makes this fail; another result than native does.
import { createHook } from "node:async_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { median, usage } from "./args.mjs";
import { native, ours, peer } from "./membrane-library.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    n: { type: "string", multiple: true },
    ours: { type: "boolean", default: false },
    seconds: { type: "string", default: "45" },
    runtime: { type: "string", default: fileURLToPath(new URL("../../runtime/js/index.js", import.meta.url)) },
  },
});
const runtime = await import(pathToFileURL(options.runtime));
const chosen = (name) => !options.only || options.only.includes(name);

const SIZES = [100, 1_000, 10_000];
const WARM_MS = 80; // each; the rows before have warmed what they share
const SAMPLE_MS = 2; // what one sample takes at least, in as many calls as that needs
const MIN_ROUNDS = 3; // of a row that has time left
const MAX_ROUNDS = 101;
const GROWTH = 1.5;
const GROWTH_MS = 500;
const MIRRORS = 10_000;
const { numbers, users, record } = native.exports;
const turn = () => new Promise((done) => setImmediate(done)); // finalizers run in between

const adder = (instance) => (by) => instance.add(by);

// The rows. `input` makes what a call gets, anew for every call, outside of what is
// timed; `call` binds it to one contestant's exports.
const lists = [
  { name: "map", target: 10, floor: ["floorMap", "numbers"], input: (n) => [numbers(n)], call: ({ mapDoubled }) => mapDoubled },
  { name: "map-callback", target: 10, floor: ["floorMap", "numbers"], input: (n) => [numbers(n), (x) => x * 2], call: ({ map }) => map },
  {
    name: "groupBy-callback",
    target: 5,
    sameTarget: 2,
    floor: ["floorGroup", "users"],
    input: (n) => [users(n), (user) => user.address.city],
    call: ({ groupBy }) => groupBy,
  },
  { name: "groupBy", floor: ["floorGroup", "users"], input: (n) => [users(n)], call: ({ groupByCity }) => groupByCity },
  { name: "groupBy-path", floor: ["floorPath", "users"], input: (n) => [users(n), "address.city"], call: ({ groupBy }) => groupBy },
];
const rows = [
  { name: "primitive", target: 10, floor: ["floorAdd"], input: () => [1, 2], same: true, call: ({ add }) => add },
  { name: "method", floor: ["floorMethod"], input: () => [1], same: true, call: ({ counter }) => adder(counter()) },
  { name: "object-in", floor: ["floorIn"], input: () => [record(1)], call: ({ size }) => size },
  { name: "object-out", floor: ["floorOut"], input: () => [1], same: true, call: ({ record }) => record },
  ...lists.map((row) => ({ ...row, sizes: SIZES })),
  ...lists.map((row) => ({ ...row, name: `same-${row.name}`, target: row.sameTarget, sizes: SIZES, same: true })),
];
const MEAN_OF = ["primitive", "map", "map-callback", "groupBy-callback"];
const MEAN_TARGET = 15;

let failed = false;
function fault(what, error) {
  failed = true;
  console.log(`${what} FAILED: ${error?.stack ?? error}`);
}

// A participant is one contestant at one row: how to call it, and its samples in us a call.
function participant(name, invoke, input, same) {
  const inputs = same && input();
  return {
    name,
    samples: [],
    calls: 1,
    sample() {
      const { calls } = this;
      const list = inputs || Array.from({ length: calls }, input);
      const began = performance.now();
      if (inputs) for (let i = 0; i < calls; i++) invoke(inputs[0], inputs[1]);
      else for (let i = 0; i < calls; i++) invoke(list[i][0], list[i][1]);
      return ((performance.now() - began) * 1000) / calls;
    },
  };
}

function floorOf(contestant, [name, kind], n) {
  const { floorHold, [name]: floor } = contestant.exports;
  floorHold(kind, n);
  return {
    name: `${contestant.name} floor`,
    samples: [],
    calls: 1,
    sample() {
      const began = performance.now();
      floor(this.calls);
      return ((performance.now() - began) * 1000) / this.calls;
    },
  };
}

async function warm(participant, first = 0) {
  const until = performance.now() + WARM_MS - first;
  let took = first * 1000;
  while (performance.now() < until) {
    took = participant.sample();
    if (took * participant.calls < SAMPLE_MS * 1000) participant.calls *= 2;
    await turn();
  }
  participant.calls = Math.max(1, Math.round((SAMPLE_MS * 1000) / took));
}

/** Samples the participants by turns for that long, and returns their medians by name. */
async function race(participants, ms) {
  const began = performance.now();
  const most = options.ours ? Infinity : MAX_ROUNDS;
  const enough = (round, past) => round > 0 && (past > 2 * ms || (round >= MIN_ROUNDS && (past > ms || round >= most)));
  if (ms > 0) for (const each of participants) await warm(each, each.first);
  for (let round = 0; !enough(round, performance.now() - began); round++) {
    for (let i = 0; i < participants.length; i++) {
      const each = participants[(i + round) % participants.length];
      for (let turns = each.turns ?? 1; turns > 0; turns--) {
        each.samples.push(each.sample());
        await turn();
      }
    }
  }
  return Object.fromEntries(participants.map(({ name, samples }) => [name, median(samples)]));
}

async function measure(row, n, ms) {
  const input = () => row.input(n);
  const expected = JSON.stringify(row.call(native.exports)(...input()));
  const contestants = [await ours(runtime), ...(options.ours ? [] : [await peer(), native])];
  const participants = [];
  for (const contestant of contestants) {
    try {
      const invoke = row.call(contestant.exports);
      const args = input();
      const began = performance.now();
      const result = invoke(...args);
      const first = performance.now() - began;
      const got = JSON.stringify(result);
      if (got !== expected) throw new Error(`another result than native: ${got?.slice(0, 200)} instead of ${expected.slice(0, 200)}`);
      participants.push({ ...participant(contestant.name, invoke, input, row.same), first });
      if (!options.ours && contestant !== native) participants.push(floorOf(contestant, row.floor, n));
    } catch (error) {
      if (contestant.name === "ours") throw error;
      console.log(`${row.name} n=${n}: the ${contestant.name} failed: ${error.message}`);
    }
  }
  const result = await race(participants, ms);
  for (const contestant of contestants) contestant.dispose();
  return result;
}

// Tables.

const times = (x) => (x === undefined || Number.isNaN(x) ? "-" : `${x >= 100 ? x.toFixed(0) : x.toFixed(1)}x`);
const us = (x) => (x === undefined ? "-" : x >= 100 ? x.toFixed(0) : x >= 1 ? x.toFixed(1) : x.toFixed(3));
const verdict = (met, target) => `${target} ${met ? "met" : "MISSED"}`;
const atLeast = (ratio, target) => (target === undefined || Number.isNaN(ratio) ? "" : verdict(ratio >= target, `>= ${target}x`));
const atMost = (ratio, target) => verdict(ratio <= target, `<= ${target}x`);

const WIDTH = [24, 7];
const pad = (cell, i) => (i ? String(cell).padStart(WIDTH[i] ?? 11) : String(cell).padEnd(WIDTH[0]));
const line = (cells) => console.log(cells.map(pad).join(" ").trimEnd());

// Below the floor is noise: then a net ratio says nothing.
function net(result) {
  const own = result.ours - result["ours floor"];
  return own > result.ours / 100 ? (result.peer - result["peer floor"]) / own : Number.NaN;
}

async function calls() {
  const results = new Map();
  const wanted = rows.filter(({ name }) => chosen(name)).sort((a, b) => (b.target ? 1 : 0) - (a.target ? 1 : 0));
  if (wanted.length === 0) return;
  const sizesOf = ({ sizes = [1] }) => sizes.filter((n) => n === 1 || !options.n || options.n.includes(String(n)));
  // What slow rows take beyond their share the later ones go without, so that the rows
  // with a target come first.
  const until = performance.now() + Number(options.seconds) * 1000;
  let left = wanted.reduce((sum, row) => sum + sizesOf(row).length, 0);
  line(["us a call, medians", "n", "ours", "peer", "native", "ratio", "net", "to native", "target"]);
  for (const row of wanted) {
    for (const n of sizesOf(row)) {
      try {
        const result = await measure(row, n, (until - performance.now()) / left--);
        const { ours, peer, native } = result;
        const ratio = peer / ours;
        results.set(`${row.name} ${n}`, { ...result, ratio, net: net(result) });
        line([row.name, n, us(ours), us(peer), us(native), times(ratio), times(net(result)), times(ours / native), atLeast(ratio, row.target)]);
      } catch (error) {
        fault(`${row.name} n=${n}`, error);
      }
    }
  }
  means(results);
  await growths(wanted);
}

function means(results) {
  const mean = (numbers) => Math.exp(numbers.reduce((sum, x) => sum + Math.log(x), 0) / numbers.length);
  for (const n of SIZES) {
    const found = MEAN_OF.map((name) => results.get(`${name} ${n}`) ?? results.get(`${name} 1`));
    if (found.some((result) => !result?.peer)) continue;
    if (n === SIZES[0]) console.log(`\ngeometric mean of ${MEAN_OF.join(", ")}`);
    const raw = mean(found.map(({ ratio }) => ratio));
    line(["", n, "", "", "", times(raw), times(mean(found.map((result) => result.net))), "", atLeast(raw, MEAN_TARGET)]);
  }
}

// How the time per item grows with their number. The sizes take turns here, and without
// the peer, whose garbage is the whole process's.
async function growths(wanted) {
  const sized = wanted.filter(({ sizes, same, target }) => sizes && (!same || target || options.only));
  if (sized.length === 0 || options.n) return;
  console.log();
  line(["ns an item, ours", "", ...SIZES, "growth", "", "", "target"]);
  for (const row of sized) {
    const contestants = [];
    const participants = [];
    for (const n of SIZES) {
      const contestant = await ours(runtime);
      contestants.push(contestant);
      const turns = Math.round(Math.sqrt(SIZES.at(-1) / n)); // the small ones take less time
      participants.push({ ...participant(n, row.call(contestant.exports), () => row.input(n), row.same), turns });
    }
    const result = await race(participants, GROWTH_MS);
    const perItem = SIZES.map((n) => (result[n] * 1000) / n);
    const growth = perItem.at(-1) / perItem[0];
    line([row.name, "", ...perItem.map((ns) => ns.toFixed(0)), times(growth), "", "", row.target ? atMost(growth, GROWTH) : ""]);
    for (const contestant of contestants) contestant.dispose();
  }
}

// A primitive call while the host keeps many values that a call must not look at.
async function mirrors() {
  const contestants = [await ours(runtime), await ours(runtime)];
  const kept = contestants[1].exports.mirrors(MIRRORS);
  if (kept.length !== MIRRORS || kept[1].get(1) !== 1) throw new Error("the mirrors are not what the library made");
  const [without, beside] = contestants.map(({ exports }, i) => participant(String(i), exports.add, () => [1, 2], true));
  const result = await race([without, beside], 500);
  const ratio = result[1] / result[0];
  console.log(`\nprimitive call beside ${kept.length} live mirrors: ${us(result[1])} us, without ${us(result[0])} us: ${times(ratio)}, ${atMost(ratio, 1.5)}`);
  for (const contestant of contestants) contestant.dispose();
}

// Bytes that stay after calls whose arguments and results nobody keeps.
async function retained() {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const settle = async (exports) => {
    for (let i = 0; i < 4; i++) {
      gc();
      await turn();
      exports.add(1, 2);
    }
    gc();
  };
  console.log();
  line(["bytes kept a call", "calls", "guest", "host", "peer guest", "peer host"]);
  const cases = [
    ["primitive", 20_000],
    ["method", 20_000],
    ["object-in", 2_000],
    ["object-out", 2_000],
    ["map-callback", 2_000],
    ["groupBy-callback", 200],
  ];
  for (const [name, count] of cases) {
    const row = rows.find((row) => row.name === name);
    const cells = [];
    for (const contestant of [await ours(runtime), ...(options.ours ? [] : [await peer()])]) {
      const invoke = row.call(contestant.exports);
      const used = async (calls) => {
        for (let i = 0; i < calls; i++) {
          invoke(...row.input(100));
          if (i % 100 === 99) await turn();
        }
        await settle(contestant.exports);
        return [contestant.bytes?.(), process.memoryUsage().heapUsed];
      };
      const calls = contestant.name === "ours" ? count : count / 10; // the peer is that much slower
      try {
        const before = await used(calls);
        const after = await used(calls);
        cells.push(...after.map((bytes, i) => ((bytes - before[i]) / calls).toFixed(1)));
      } catch (error) {
        if (contestant.name === "ours") throw error;
        cells.push("-", "-");
      }
      contestant.dispose();
    }
    line([`${name}${row.sizes ? " of 100" : ""}`, count, ...cells]);
  }
}

// Timers that an open sandbox has, and how often they wake an idle process.
async function idle() {
  const IDLE_MS = 250;
  let timers = new Set();
  let counting = true;
  let wakes = 0;
  const hook = createHook({
    init: (id, type) => counting && /Timeout|Immediate/.test(type) && timers.add(id),
    before: (id) => timers.has(id) && wakes++,
  }).enable();
  const wakeups = async (start) => {
    timers = new Set();
    const contestant = await start();
    contestant.exports.groupBy(users(10), (user) => user.address.city);
    wakes = 0;
    counting = false;
    await new Promise((done) => setTimeout(done, IDLE_MS));
    counting = true;
    return { timers: timers.size, wakes, contestant };
  };
  const own = await wakeups(() => ours(runtime));
  let theirs;
  if (!options.ours) {
    let interval;
    theirs = await wakeups(async () => {
      const contestant = await peer();
      interval = setInterval(contestant.pump, 1);
      return contestant;
    });
    clearInterval(interval);
  }
  hook.disable();
  own.contestant.dispose();
  const beside = theirs ? ` (the peer with a pump of 1 ms: ${theirs.timers} and ${theirs.wakes})` : "";
  console.log(`\nidle sandbox: ${own.timers} timers, ${own.wakes} wake-ups in ${IDLE_MS} ms, ${verdict(own.timers + own.wakes === 0, "0")}${beside}`);
}

const parts = [mirrors, retained, idle];
const names = [...rows, ...parts].map(({ name }) => name);
if (options.only?.some((name) => !names.includes(name))) usage(`membrane.mjs [--only ${names.join("|")}]...`);
await calls();
for (const part of parts) {
  if (!chosen(part.name)) continue;
  await part().catch((error) => fault(part.name, error));
}
process.exitCode = failed ? 1 : 0;
