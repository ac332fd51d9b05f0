import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

/** What a worker answers. */
function answerOf(file) {
  const worker = new Worker(new URL(file, import.meta.url));
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error(`${file} ended without an answer`)));
  });
}

const { lines, cases: all, ...outcome } = await answerOf("./run.js");
const byRoute = new Map();
for (const one of all) byRoute.set(one.route, [...(byRoute.get(one.route) ?? []), one]);

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
  const { unseen, tried } = await answerOf("./control.js");
  assert.ok(tried >= 200, `${tried} programs`);
  assert.deepStrictEqual(unseen, []);
});
