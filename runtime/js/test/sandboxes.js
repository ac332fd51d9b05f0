// What the tests share: making sandboxes out of a few words of source.
import { SandboxManager } from "../index.js";

/** A sandbox whose library is the value of an expression; disposed after the test. */
export async function sandboxOf(t, expression, options) {
  const sandbox = await SandboxManager.createSandbox("lib", `var __SANDBOXED_LIB__ = (() => { "use strict"; return (${expression}); })();`, options);
  t.after(() => sandbox.dispose());
  return sandbox;
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
