import _ from "lodash";

/** Groups products by category, cheapest first. */
export function shelves(products) {
  return _(products)
    .sortBy(["cents", "name"])
    .groupBy("category")
    .map((items, category) => ({ title: _.startCase(category), items }))
    .value();
}

/** Narrows products to what the filters of the address ask for. */
export function applyFilters(products, { categories, minCents, maxCents }) {
  return _.filter(
    products,
    (p) =>
      (_.isEmpty(categories) || _.includes(categories, p.category)) &&
      p.cents >= (minCents ?? 0) &&
      p.cents <= (maxCents ?? Infinity),
  );
}
