// The value table: what every kind of value is on the other side of a sandbox. One
// suite for every host, so nothing here but the language itself.
//
// What is expected is never written down. A row makes its value and looks at it in one
// realm, and what it says there is what it has to say across the membrane.
import { kit, librarySource } from "./kit.js";
import { valueRows } from "./rows.js";
import { pairRows } from "./rows-pairs.js";
import { plays } from "./plays.js";

export { pairRows, plays, valueRows };

const K = kit();
const { compile, isRefusal, look } = K;

/** The groups of rows, in the order in which they run. */
export const groups = [...new Set([...valueRows, ...plays, ...pairRows].map((row) => row.group))];

/**
 * Runs the rows of a group, or all of them. `createSandbox(source, options)` resolves to
 * a sandbox; `say` is told of every failure as it happens.
 */
export async function runSuite({ createSandbox, say = () => {}, group }) {
  const tally = { passed: 0, failed: 0, failures: [], total: 0, rows: 0 };
  const chosen = (rows) => rows.filter((row) => group === undefined || row.group === group);
  for (const row of chosen(valueRows)) await runValue(row, createSandbox, checker(row, tally, say));
  for (const row of chosen(plays)) await runPlay(row, createSandbox, checker(row, tally, say));
  for (const row of chosen(pairRows)) await runPair(row, createSandbox, checker(row, tally, say));
  return tally;
}

/** How a row says what it expects in one direction and what it saw. */
function checker(row, tally, say) {
  tally.rows++;
  return async (direction, expected, body) => {
    let seen;
    try {
      seen = await body();
    } catch (error) {
      seen = `${isRefusal(error) ? "refused" : "threw"} ${describe(error)}`;
    }
    tally.total++;
    if (Object.is(seen, expected)) {
      tally.passed++;
      return;
    }
    tally.failed++;
    const failure = { row: row.name, direction, ...difference(expected, seen) };
    tally.failures.push(failure);
    say(`${row.name}, ${direction}\n  expected ${failure.expected}\n  seen     ${failure.seen}`);
  };
}

function describe(error) {
  if (typeof error !== "object" || error === null) return K.show(error);
  try {
    return `${error.name}: ${error.message}`;
  } catch {
    return "what cannot be read";
  }
}

// Long texts are told apart by their first lines that differ.
function difference(expected, seen) {
  if (typeof expected !== "string" || typeof seen !== "string") return { expected, seen };
  const [a, b] = [expected.split("\n"), seen.split("\n")];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return { expected: clip(a[at] ?? "no more"), seen: clip(b[at] ?? "no more") };
}

const clip = (text) => (text.length > 600 ? `${text.slice(0, 600)}...` : text);

/** A sandbox for one row; what goes wrong while making it is a failure of the row. */
async function within(createSandbox, options, check, direction, body) {
  let sandbox;
  await check(`${direction}a sandbox loads`, "loaded", async () => {
    sandbox = await createSandbox(librarySource, options);
    return "loaded";
  });
  if (!sandbox) return;
  try {
    await body(sandbox.exports, sandbox);
  } catch (error) {
    await check(`${direction}it runs`, "to its end", () => describe(error));
  } finally {
    sandbox.dispose();
  }
}

// A row's value, alone in the host's realm.
function alone({ make, probe, bare }, change) {
  const value = compile(make);
  if (change) compile(change)(value, K);
  return look(probe, value, bare);
}

async function runValue(row, createSandbox, check) {
  const { make, probe, change, brand, bare, from } = row;
  const expected = await alone(row);
  const changed = change && (await alone(row, change));
  await within(createSandbox, {}, check, "", async (guest, sandbox) => {
    await check("the engines agree", expected, () => guest.alone(make, undefined, probe, bare));
    if (from !== "guest") await fromHost(row, guest, expected, check);
    await fromGuest(row, guest, expected, check);
    if (change) {
      await check("the engines agree on the change", changed, () => guest.alone(make, change, probe, bare));
      await check("it does change", true, () => changed !== expected);
      await changes(row, guest, changed, check);
    }
    await severed(row, guest, expected, check, "dispose", () => sandbox.dispose());
  });
  await within(createSandbox, {}, check, "to be revoked, ", async (guest, sandbox) => {
    await severed(row, guest, expected, check, "revoke", () => sandbox.revoke());
  });
  await within(createSandbox, { results: "live" }, check, "live, ", async (guest) => {
    guest.hold(make);
    await check("live, guest to host", expected, () => look(probe, guest.held(), bare));
    await check("live, given twice to the host", true, () => Object.is(guest.held(), guest.held()));
    await check("live, round trip of the guest's", true, () => guest.isHeld(guest.held()));
    if (!change || brand) return;
    const given = guest.held();
    guest.hold(make);
    const shown = guest.held();
    guest.actOnHeld(change);
    await check("live, the guest changes what the host holds", changed, () => look(probe, shown, bare));
    await check("live, what was held before is another", isPrimitive(given), () => Object.is(given, shown));
  });
}

const isPrimitive = (v) => v === null || (typeof v !== "object" && typeof v !== "function");

async function fromHost({ make, probe, bare }, guest, expected, check) {
  await check("host to guest", expected, () => guest.look(probe, compile(make), bare));
  await check("host to guest, inside data", expected, () => guest.lookInData(probe, { list: [compile(make)] }, bare));
  await check("host to guest, result of a callback", expected, () => guest.lookAtGiven(probe, () => compile(make), bare));
  await check("host to guest, thrown", expected, () =>
    guest.lookAtThrown(
      probe,
      () => {
        throw compile(make);
      },
      bare,
    ),
  );
  const value = quiet(compile(make));
  await check("round trip of the host's", true, () => Object.is(guest.id(value), value));
  await check("round trip of the host's, inside data", true, () => Object.is(guest.id([value])[0], value));
  await check("round trip of the host's, given to a callback", true, () => {
    let given;
    guest.lookAtGiven(undefined, () => {
      given = guest.id(value);
    });
    return Object.is(given, value);
  });
  await check("given twice to the guest", true, () => guest.same(value, value));
  await check("given twice to the guest, inside data too", true, () => guest.sameInData({ list: [value], again: value }, value));
  await check("given to the guest again later", true, () => {
    guest.keep(value);
    return guest.isKept(value);
  });
  await check("the host's own is as it was", expected, () => look(probe, value, bare));
}

async function fromGuest({ make, probe, clones, bare }, guest, expected, check) {
  guest.hold(make);
  await check("guest to host", expected, () => look(probe, guest.held(), bare));
  guest.hold(make);
  await check("guest to host, inside data", expected, () => look(probe, guest.heldInData().list[0], bare));
  guest.hold(make);
  await check("guest to host, given to a callback", expected, () => {
    let found;
    guest.giveHeld((v) => {
      found = look(probe, v, bare);
    });
    return found;
  });
  guest.hold(make);
  await check("guest to host, thrown", expected, () => {
    try {
      guest.throwHeld();
    } catch (v) {
      return look(probe, v, bare);
    }
    return "nothing was thrown";
  });
  guest.hold(make);
  const value = quiet(guest.held());
  await check("given twice to the host", true, () => Object.is(value, guest.held()));
  await check("given twice to the host, inside data", true, () => {
    const { list, again } = guest.heldInData();
    return Object.is(list[0], again) && Object.is(again, value);
  });
  await check("round trip of the guest's", true, () => guest.isHeld(value));
  await check("the guest's own is as it was", expected, () => guest.lookAtHeld(probe, bare));
  if (clones) await check("what structured clones take is taken", "cloned", () => cloned(value));
}

// Hosts without structuredClone have nothing that refuses a proxy.
function cloned(value) {
  if (typeof structuredClone === "function") structuredClone(value);
  return "cloned";
}

async function changes({ make, probe, change, bare }, guest, changed, check) {
  const mine = compile(change);
  const given = compile(make);
  await check("the guest changes what it was given", changed, () => {
    guest.act(change, given);
    return look(probe, given, bare);
  });
  await check("the host changes what it gave before", changed, () => {
    const value = compile(make);
    guest.look(undefined, value);
    mine(value, K);
    return guest.look(probe, value, bare);
  });
  await check("a callback changes what its caller gave", changed, () => {
    const value = compile(make);
    return guest.lookAtGiven(
      probe,
      () => {
        guest.act(change, value);
        return value;
      },
      bare,
    );
  });
  guest.hold(make);
  await check("the host changes what it was given", changed, () => {
    const value = guest.held();
    mine(value, K);
    return guest.look(probe, value, bare);
  });
  guest.hold(make);
  await check("what the host changed is passed on to the guest's own", changed, () => {
    const value = guest.held();
    mine(value, K);
    guest.id(value);
    return guest.lookAtHeld(probe, bare);
  });
  guest.hold(make);
  await check("the guest changes what it gave before", changed, () => {
    const value = guest.held();
    guest.actOnHeld(change);
    guest.held();
    return look(probe, value, bare);
  });
  guest.hold(make);
  await check("a host callback changes its argument", changed, () => {
    guest.giveHeld((value) => {
      mine(value, K);
    });
    return guest.lookAtHeld(probe, bare);
  });
}

/** What is left once a sandbox is gone: data stays, behaviour is refused. */
async function severed({ make, probe, bare, brand, life = "data" }, guest, expected, check, how, cut) {
  guest.hold(make);
  const held = quiet(guest.held());
  const mine = quiet(compile(make));
  guest.keep(mine);
  if (brand) await K.turns();
  cut();
  if (life === "data") await check(`after ${how}, what was given stays readable`, expected, () => look(probe, held, bare));
  if (life === "behaviour") await check(`after ${how}, the guest's is refused`, "refused", () => refusal(() => look(probe, held, bare)));
  if (life === "any")
    await check(`after ${how}, the guest's is refused or stays readable`, true, async () => {
      const seen = await refusal(() => look(probe, held, bare));
      return seen === "refused" || seen === `answered ${clip(expected)}` || seen;
    });
  await check(`after ${how}, the host's own is as it was`, expected, () => look(probe, mine, bare));
  await check(`after ${how}, calls are refused`, "refused", () => refusal(() => typeof guest.id(mine)));
}

// Nobody need wait for a promise that fails.
function quiet(value) {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}

async function refusal(body) {
  try {
    const answer = await body();
    return `answered ${clip(String(answer))}`;
  } catch (error) {
    return isRefusal(error) ? "refused" : `threw ${describe(error)}`;
  }
}

/** A play: code of one realm that works with what code of the other made. */
async function runPlay({ play }, createSandbox, check) {
  const expected = await compile(play)(compile, K);
  const theirs = (source) => compile(source);
  for (const results of ["mirror", "live"]) {
    await within(createSandbox, { results }, check, `${results}, `, async (guest) => {
      if (results === "mirror") await check("the engines agree", expected, () => guest.playAlone(play));
      await check(`${results}, the host plays with the guest's`, expected, () => compile(play)((source) => guest.make(source), K));
      await check(`${results}, the guest plays with the host's`, expected, () => guest.play(play, theirs));
    });
  }
}

/** What takes more than one sandbox, or a library of its own. */
async function runPair({ run }, createSandbox, check) {
  const opened = [];
  const open = async (source, options) => {
    const sandbox = await createSandbox(source ?? librarySource, options ?? {});
    opened.push(sandbox);
    return sandbox;
  };
  try {
    await run({ open, check, K });
  } catch (error) {
    await check("it runs", "to its end", () => describe(error));
  } finally {
    for (const sandbox of opened) sandbox.dispose();
  }
}
