// The suite's own test: run in one realm with its host, a hostile program has to be seen.
// It is a worker, so that what the programs do to the realm goes with it.
import { parentPort } from "node:worker_threads";
import { routes, runCase } from "./suite.js";

const oneRealm = async (code) => ({ exports: Function(`${code}\nreturn __SANDBOXED_LIB__;`)(), dispose() {} });

const unseen = [];
let tried = 0;
for (const [route, cases] of Object.entries(routes)) {
  for (const one of cases) {
    if (one.quiet) continue;
    tried++;
    const problems = await runCase(oneRealm, one);
    const reached = problems.filter((problem) => !/did not run|could not/.test(problem));
    if (reached.length === 0) unseen.push(`${route}: ${one.name}: ${problems[0] ?? "nothing seen"}`);
  }
}
parentPort.postMessage({ unseen, tried });
