import { makeProbe } from "./probe.js";

const probe = makeProbe();

export function supportsDialog() {
  return "showModal" in probe;
}
