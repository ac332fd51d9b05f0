import _ from "sandbox-real/lodash";

export function summarise(rows) {
  return _.countBy(rows, "kind");
}
