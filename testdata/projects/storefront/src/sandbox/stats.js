// Runs inside lodash's sandbox: one crossing per report instead of one per
// element.
import _ from "sandbox-real/lodash";

/**
 * Totals per category.
 *
 * @param {{ category: string, quantity: number, cents: number }[]} sales
 */
export function summarise(sales) {
  return _.mapValues(_.groupBy(sales, "category"), (rows) => ({
    orders: rows.length,
    units: _.sumBy(rows, "quantity"),
    cents: _.sumBy(rows, (row) => row.quantity * row.cents),
  }));
}

/**
 * The products that sold most, best first. Those that sold alike stand in the
 * order of their names.
 *
 * @param {{ product: string, quantity: number }[]} sales
 * @param {number} count
 */
export function topSellers(sales, count = 3) {
  const totals = _.map(_.groupBy(sales, "product"), (rows, product) => ({
    product,
    units: _.sumBy(rows, "quantity"),
  }));
  return _.take(_.orderBy(totals, ["units", "product"], ["desc", "asc"]), count);
}
