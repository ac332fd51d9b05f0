import _ from "sandbox-real/lodash";
import qs from "qs"; // want SBX023 qs has a sandbox of its own

export function run(query) {
  return _.keys(qs.parse(query));
}
