import assert from "node:assert/strict";
import { test } from "node:test";
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
