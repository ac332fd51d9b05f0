import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { SandboxManager } from "../../index.js";
import { nodeRoutes } from "./routes-node.js";
import { runCase } from "./suite.js";

for (const [route, cases] of Object.entries(nodeRoutes)) {
  test(`hostile: ${route}`, async (t) => {
    for (const one of cases) {
      await t.test(one.name, async () => {
        const problems = await runCase((code, options) => SandboxManager.createSandbox("hostile", code, options), one);
        assert.deepStrictEqual(problems, []);
      });
    }
  });
}

// What a library left behind may fail when its sandbox is gone; that must not end the process.
const leftovers = {
  "a timer": "setTimeout(() => {}, 5)",
  "an interval": "setInterval(() => {}, 5)",
  "a microtask": "queueMicrotask(() => {})",
  "a promise that nobody waits for": "new Promise(() => {})",
  "a reaction to a host promise": "x.promise.then(() => {})",
};

for (const [what, program] of Object.entries(leftovers)) {
  test(`disposal: ${what} that is left behind does not end the process`, async () => {
    const script = `
      import { SandboxManager } from ${JSON.stringify(new URL("../../index.js", import.meta.url).href)};
      const sandbox = await SandboxManager.createSandbox("lib", ${JSON.stringify(`var __SANDBOXED_LIB__ = { run: (x) => ${program} };`)}, { permissions: ["setTimeout", "setInterval", "queueMicrotask"] });
      const controller = new AbortController();
      let settle;
      sandbox.exports.run({ signal: controller.signal, promise: new Promise((resolve) => { settle = resolve; }) });
      sandbox.dispose();
      settle();
      controller.abort();
      setTimeout(() => { console.log("alive"); process.exit(0); }, 50);
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
    assert.equal(stdout, "alive\n");
  });
}
