import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { SandboxManager } from "../../index.js";
import { runHostile } from "./suite.js";

const byRoute = new Map();
const lines = [];
const outcome = await runHostile({
  createSandbox: (code, options) => SandboxManager.createSandbox("hostile", code, options),
  say: (line) => lines.push(line),
  onCase(route, { name }, problems) {
    if (!byRoute.has(route)) byRoute.set(route, []);
    byRoute.get(route).push({ name, problems });
  },
});

for (const [route, cases] of byRoute) {
  test(`hostile: ${route}`, async (t) => {
    for (const { name, problems } of cases) await t.test(name, () => assert.deepStrictEqual(problems, []));
  });
}

test("hostile: the suite has at least 400 programs, and says how many reached nothing", (t) => {
  for (const line of lines) t.diagnostic(line);
  assert.ok(outcome.total >= 400, `${outcome.total} programs`);
  assert.equal(outcome.passed + outcome.failed, outcome.total);
  assert.match(lines.at(-1), /^\d+ of \d+ hostile programs reached nothing$/);
});

test("hostile: in a realm without walls each program that should show something does", async () => {
  const worker = new Worker(new URL("./control.js", import.meta.url));
  const { unseen, tried } = await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the worker ended without an answer")));
  });
  assert.ok(tried >= 200, `${tried} programs`);
  assert.deepStrictEqual(unseen, []);
});
