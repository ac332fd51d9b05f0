import _ from "sandbox-real/lodash";

export function total(rows) {
  return _.sumBy(rows, "cents");
}

export function median(rows) { // want SBX022 the policy does not name it
  return _.sortBy(rows, "cents")[rows.length >> 1]?.cents;
}
