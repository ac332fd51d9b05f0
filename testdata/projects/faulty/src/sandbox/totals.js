import _ from "sandbox-real/lodash";

export function total(rows) {
  return _.sumBy(rows, "cents");
}

export function median(rows) {
  return _.sortBy(rows, "cents")[rows.length >> 1]?.cents;
}
