// What the tests of limits and leaks share.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SandboxManager } from "../../index.js";

/** A sandbox whose library is the value of an expression; disposed after the test. */
export async function sandboxOf(t, expression, options) {
  const sandbox = await SandboxManager.createSandbox("lib", libraryOf(expression), options);
  t.after(() => sandbox.dispose());
  return sandbox;
}

/** The bundle whose exports are the value of an expression. */
export function libraryOf(expression) {
  return `var __SANDBOXED_LIB__ = (() => { "use strict"; return (${expression}); })();`;
}

/** The error that a call throws; fails when it does not throw. */
export function thrownBy(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

setFlagsFromString("--expose-gc");
/** Collects garbage there and then. */
export const gc = runInNewContext("gc");

/** Collects garbage, and lets the finalizers that it calls for run. */
export async function collectGarbage(turns = 3) {
  for (let i = 0; i < turns; i++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * The same until a condition holds, or for so long that it never will: finalizers of
 * other registries may come first.
 */
export async function collectUntil(holds) {
  for (let i = 0; i < 40 && !holds(); i++) await collectGarbage(2);
}

/** A whole number from the environment, for runs that take longer than every day's. */
export function countFrom(name, everyday) {
  const value = Number(process.env[name] ?? everyday);
  if (!Number.isInteger(value) || value <= 0) throw new Error(`${name} is ${process.env[name]}, which is no whole number above 0`);
  return value;
}
