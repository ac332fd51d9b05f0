// What differs from host to host: the rows and seeds that fail in one of them only, or in
// all but one, with the reason.
import { openRows as rows, openSeeds as seeds } from "../membrane/open.js";

const { getOwnPropertyDescriptor } = Object;
const describes = "an accessor that a Proxy's trap describes is shown as undefined data (QuickJS's own fault, of a host as of a guest)";

const differences = {
  node: { fails: {}, passes: [], seeds: [], agrees: [] },
  chromium: { fails: {}, passes: [], seeds: [], agrees: [] },
  // QuickJS for a host.
  embedded: { fails: {}, passes: [], seeds: [], agrees: [] },
};

/** The rows of the value table that fail in a host. */
export function openRows(host) {
  const { fails, passes } = differences[host];
  return new Set([...Object.keys(rows), ...Object.keys(fails)].filter((row) => !passes.includes(row)));
}

/** The seeds of random sequences that differ in a host. */
export function openSeeds(host) {
  const { seeds: more, agrees } = differences[host];
  return new Set([...seeds, ...more].filter((seed) => !agrees.includes(seed)));
}
