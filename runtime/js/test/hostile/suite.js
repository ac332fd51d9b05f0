// What a hostile library tries, and what a host has to see of it: nothing.
//
// A case is a program that runs in the guest and takes hold of whatever it can. The host
// then looks for itself: whether anything told on itself by being reached, whether what
// came back is the host's own, and whether the host's realm is what it was before.
import { hostileBundle } from "./guest-kit.js";
import { MARK, makeLoot } from "./loot.js";
import { bareList, compilers, namesHostPath, remember } from "./realm.js";
import { asynchronous } from "./routes-async.js";
import { calls } from "./routes-calls.js";
import { engine } from "./routes-engine.js";
import { errors } from "./routes-errors.js";
import { life } from "./routes-life.js";
import { poison } from "./routes-poison.js";
import { pollution } from "./routes-pollution.js";
import { traps } from "./routes-traps.js";
import { walks } from "./routes-walks.js";

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} [program] the body of a function of `(x, kit, take, attempt, attempts)`
 * @property {boolean} [async] whether it is the body of an async function
 * @property {(host: object) => unknown} [drive] what the host does once the program has
 *   run, or instead of it; a returned text is what went wrong
 * @property {boolean} [mayEnd] whether a limit may end the sandbox
 * @property {boolean} [quiet] whether even a realm without walls would show nothing
 * @property {object} [options] for the sandbox; its capabilities may be a function of the
 *   loot that makes them
 */

/** Every case, by route. */
export const routes = { ...walks, ...errors, ...asynchronous, ...traps, ...pollution, ...poison, ...calls, ...life, ...engine };

const microtasks = 60;
const { then } = Promise.prototype;
const { apply, deleteProperty } = Reflect;

async function settleJobs() {
  for (let i = 0; i < microtasks; i++) await undefined;
}

/**
 * Runs every case in a sandbox of its own.
 *
 * @param {object} host
 * @param {(code: string, options: object) => Promise<object>} host.createSandbox
 * @param {(line: string) => void} [host.say]
 * @param {Record<string, Case[]>} [host.more] cases that only this host can run
 * @param {(route: string, one: Case, failures: string[]) => void} [host.onCase]
 */
export async function runHostile({ createSandbox, say = () => {}, more = {}, onCase = () => {} }) {
  const failures = [];
  let passed = 0;
  let total = 0;
  for (const [route, cases] of Object.entries({ ...routes, ...more })) {
    let failed = 0;
    for (const one of cases) {
      total++;
      const problems = await runCase(createSandbox, one);
      onCase(route, one, problems);
      if (problems.length === 0) passed++;
      else {
        failed++;
        failures.push({ route, name: one.name, problems });
      }
    }
    say(`${route}: ${cases.length - failed} of ${cases.length}`);
  }
  say(`${passed} of ${total} hostile programs reached nothing`);
  return { passed, failed: total - passed, failures, total };
}

/** Runs one case and returns what it reached or broke. */
export async function runCase(createSandbox, one) {
  const problems = bareList();
  const say = (text) => {
    if (problems.length < 20) problems[problems.length] = text;
  };
  const loot = makeLoot((what) => say(`the guest reached ${what}`));
  const whole = remember(loot.watched);
  // Both the host's global object and its process, where there is one, tell on themselves.
  const tellers = [loot.secretly(globalThis, "the host's global object")];
  if (typeof globalThis.process === "object" && Object.isExtensible(globalThis.process)) tellers.push(loot.secretly(globalThis.process, "the host's process"));
  const sandboxes = [];
  const open = async (code = hostileBundle, options = one.options ?? {}) => {
    const { capabilities = {} } = options;
    const sandbox = await createSandbox(code, { ...options, capabilities: typeof capabilities === "function" ? capabilities(loot) : capabilities });
    sandboxes.push(sandbox);
    return sandbox;
  };
  const check = bareList();
  try {
    const sandbox = await open();
    const exports = sandbox.exports;
    if (one.program !== undefined) await runProgram(exports, one, loot, say);
    if (one.drive !== undefined) {
      const wrong = await one.drive({ sandbox, exports, open, say, ...loot });
      if (typeof wrong === "string") say(wrong);
    }
    await settleJobs();
    gather(exports, check, say);
  } catch (error) {
    if (!endsWell(one, error)) say(`it did not run: ${describe(error)}`);
  }
  // From here on only what a poisoned realm cannot change, until it is restored.
  for (let i = 0; i < tellers.length; i++) deleteProperty(tellers[i], MARK);
  const changes = whole.restore();
  for (let i = 0; i < changes.length; i++) say(`the host's ${changes[i]}`);
  for (let i = 0; i < check.length; i++) judge(check[i], loot, say);
  for (const sandbox of sandboxes) {
    try {
      sandbox.dispose();
    } catch (error) {
      say(`it could not be disposed of: ${describe(error)}`);
    }
  }
  return Array.from({ length: problems.length }, (_, i) => problems[i]);
}

async function runProgram(exports, one, loot, say) {
  try {
    if (one.async) await exports.runAsync(one.program, loot.x);
    else exports.run(one.program, loot.x);
  } catch (error) {
    if (!endsWell(one, error)) say(`the program did not run: ${describe(error)}`);
  }
}

/** Has the guest try what it took, and takes all of that over. */
function gather(exports, check, say) {
  const all = exports.collect();
  const n = all.length;
  for (let i = 0; i < n; i++) {
    try {
      const value = all[i];
      check[check.length] = value;
      if (isPromise(value)) apply(then, value, [undefined, () => {}]); // disposal rejects it
    } catch (error) {
      say(`a value could not come back: ${describe(error)}`);
    }
  }
  const inside = exports.inside();
  if (inside !== "") say(inside);
}

/** A guest's proxy may throw what it likes when it is asked for its prototype. */
function isPromise(value) {
  try {
    return value instanceof Promise;
  } catch {
    return false;
  }
}

const own = [
  [globalThis, "the host's global object"],
  [globalThis.process, "the host's process"],
  ...compilers.map((compiler) => [compiler, `the host's ${compiler.name}`]),
];

/** Looks at one value that came back from the guest. */
function judge(value, { secret }, say) {
  if (typeof value === "string") {
    if (namesHostPath(value)) say(`the guest read a path of the host's: ${value.slice(0, 300)}`);
    return;
  }
  if (Object(value) !== value) return;
  if (value === secret) say("the guest gave the secret back");
  for (const [object, what] of own) if (value === object) say(`the guest gave ${what} back`);
}

/** A sandbox that a limit ended has nothing to show any more. */
function endsWell(one, error) {
  return one.mayEnd === true && ((error?.name === "SandboxLimitError" && error.limit !== "fault") || error?.name === "SandboxDeadError");
}

function describe(error) {
  try {
    return `${error?.name}: ${error?.message}`;
  } catch {
    return "an error that cannot be looked at";
  }
}
