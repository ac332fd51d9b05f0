// Runs inside qs's sandbox: query strings come from links that anyone can write.
import qs from "sandbox-real/qs";

const SORTS = ["name", "price", "newest"];

/**
 * Reads the filters of a catalogue address. Whatever it does not know it drops.
 *
 * @param {string} query with or without the leading question mark
 */
export function parseFilters(query) {
  const raw = qs.parse(query, { ignoreQueryPrefix: true, comma: true, depth: 2 });
  const price = raw.price ?? {};
  return {
    categories: [raw.category ?? []].flat().map(String),
    minCents: cents(price.min),
    maxCents: cents(price.max),
    sort: SORTS.includes(raw.sort) ? raw.sort : "name",
  };
}

function cents(text) {
  const amount = Number.parseFloat(text);
  return Number.isFinite(amount) ? Math.round(amount * 100) : null;
}
