import qs from "qs";

/** The address of a catalogue page with these filters. */
export function catalogueLink({ categories = [], minCents = null, maxCents = null, sort = "name" }) {
  const price = {};
  if (minCents !== null) price.min = minCents / 100;
  if (maxCents !== null) price.max = maxCents / 100;
  return `/catalogue${qs.stringify({ category: categories, price, sort }, { addQueryPrefix: true, arrayFormat: "comma" })}`;
}
