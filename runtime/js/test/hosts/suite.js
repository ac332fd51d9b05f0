// What the membrane has to show in every host: one file, of nothing but the language.
import { runHostile } from "../hostile/suite.js";
import { openRows, openSeeds } from "../membrane/open.js";
import { runRandom } from "../membrane/random.js";
import { runSuite } from "../membrane/suite.js";

/**
 * Runs the value table, the hostile programs and some random sequences.
 *
 * @param {object} host
 * @param {(source: string, options?: object) => Promise<object>} host.createSandbox
 * @param {(text: string) => void} [host.say] hears of what fails
 * @param {number} [host.sequences]
 * @returns totals, which are the same in every host; how many of each failed, the rows and
 *   seeds that are known to fail in this host among them; and `wrong`: what fails and is
 *   not known, and what is known and does not fail
 */
export async function runAll({ createSandbox, say = () => {}, sequences = 100 }) {
  const wrong = [];
  const failing = { rows: new Set(), sequences: new Set(), programs: new Set() };

  const values = await runSuite({ createSandbox, say });
  for (const { row } of values.failures) failing.rows.add(row);
  compare(wrong, "row", failing.rows, new Set(Object.keys(openRows)));

  const random = await runRandom({ createSandbox, first: 1, count: sequences, most: 0, say });
  for (const seed of random.failed) failing.sequences.add(seed);
  compare(wrong, "seed", failing.sequences, new Set([...openSeeds].filter((seed) => seed <= sequences)));

  const hostile = await runHostile({
    createSandbox,
    onCase(route, one, problems) {
      if (problems.length === 0) return;
      failing.programs.add(one.name);
      wrong.push(`program "${one.name}" of ${route}: ${problems[0]}`);
    },
  });
  return {
    totals: { rows: values.rows, sequences: random.total, programs: hostile.total },
    checks: { total: values.total, passed: values.passed },
    failed: { rows: failing.rows.size, sequences: failing.sequences.size, programs: failing.programs.size },
    wrong,
  };
}

function compare(wrong, what, failing, open) {
  for (const one of failing) if (!open.has(one)) wrong.push(`${what} ${one} fails`);
  for (const one of open) if (!failing.has(one)) wrong.push(`${what} ${one} does not fail any more: take it off the list of open ones`);
}
