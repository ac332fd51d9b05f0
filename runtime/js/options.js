// What may be said of a sandbox when it is made.
import { SandboxError } from "./errors.js";

const known = ["permissions", "limits", "capabilities", "arguments", "results", "reads", "onViolation", "reportOnly", "marshallers", "snapshot", "engine"];
const knownLimits = ["memoryMB", "timeoutMs", "stackKB", "bundleKB"];

/** Refuses options that are no object, or that nothing reads: a misspelt limit is none. */
export function checkOptions(options, ...more) {
  if (Object(options) !== options) throw new SandboxError(`the options of a sandbox are an object, not ${String(options)}`);
  const { limits = {}, capabilities = {} } = options;
  for (const [option, value] of Object.entries({ limits, capabilities }))
    if (Object(value) !== value) throw new SandboxError(`${option}: an object is needed, not ${String(value)}`);
  refuseUnknown("option", options, [...known, ...more]);
  refuseUnknown("limit", limits, knownLimits);
}

function refuseUnknown(kind, given, names) {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new SandboxError(`a sandbox has no ${kind} ${unknown}; there are ${names.join(", ")}`);
}
