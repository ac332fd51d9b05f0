// Sandboxes that go on from an image, for suites that ask for a sandbox.
import { SandboxManager } from "../index.js";

/** How many of those that were made did go on from one. */
export const made = { restored: 0, evaluated: 0 };

/** A sandbox in the situation of one that has been there before, and whose instance it has. */
export async function createRestored(source, options) {
  const given = { ...options, snapshot: true };
  const first = await SandboxManager.createSandbox("lib", source, given);
  first.dispose();
  const sandbox = await SandboxManager.createSandbox("lib", source, given);
  made[sandbox.stats().restored ? "restored" : "evaluated"]++;
  return sandbox;
}
