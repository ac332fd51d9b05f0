import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { SandboxDeadError, SandboxDisposedError, SandboxError, SandboxLimitError } from "../index.js";
import { createSandboxInWorker } from "../worker.js";
import { unstoppable } from "./hostile/unstoppable.js";

const setTimeoutNow = setTimeout; // the clock's own

async function open(t, expression, options = { limits: { timeoutMs: 1000 } }) {
  const sandbox = await createSandboxInWorker("lib", `__SANDBOXED_LIB__ = ${expression}`, options);
  t.after(() => sandbox.dispose());
  return sandbox;
}

test("worker: calls, data, promises and paths", async (t) => {
  const sandbox = await open(
    t,
    `{ add: (a, b) => a + b, deep: { twice(list) { return list.map((x) => x * 2).concat(this === undefined ? [] : [typeof this.twice]); } }, later: async (x) => (await x) + 1, map: () => new Map([[1, new Date(5)]]) }`,
  );
  assert.equal(await sandbox.call("add", [1, 2]), 3);
  assert.deepEqual(await sandbox.call("deep.twice", [[1, 2]]), [2, 4, "function"]);
  assert.equal(await sandbox.call(["later"], [1]), 2);
  assert.deepEqual(await sandbox.call("map"), new Map([[1, new Date(5)]]));
  assert.deepEqual(
    await Promise.all(Array.from({ length: 20 }, (_, i) => sandbox.call("add", [i, i]))),
    Array.from({ length: 20 }, (_, i) => 2 * i),
  );
});

test("worker: errors are the library's, or say what is wrong", async (t) => {
  const sandbox = await open(t, `{ fails() { throw new RangeError("out"); }, instance: () => new (class A { m() {} })(), f: (x) => x }`);
  await assert.rejects(sandbox.call("fails"), { name: "RangeError", message: "out" });
  await assert.rejects(sandbox.call("nothing"), (error) => error instanceof SandboxError && /exports no function nothing/.test(error.message));
  await assert.rejects(sandbox.call("f", [() => 1]), /an argument cannot be cloned/);
  await assert.rejects(sandbox.call("instance"), /the result cannot be cloned/);
  assert.equal(await sandbox.call("f", [1]), 1);
  await assert.rejects(open(t, "(() => { throw new Error('at load'); })()"), /failed while loading in its sandbox: Error: at load/);
});

for (const expression of [
  ...unstoppable,
  "for (;;);",
  "(function next() { Promise.resolve().then(next); })()",
  "Promise.resolve().then(() => Array.prototype.reverse.call({ length: 2 ** 53 - 1 }))",
]) {
  test(`worker: ${expression} is ended in time`, async (t) => {
    const sandbox = await open(t, `{ run() { ${expression}; return new Promise(() => {}); }, ok: () => 1 }`, { limits: { timeoutMs: 100 } });
    const waiting = [sandbox.call("run"), sandbox.call("ok")];
    const [first] = await Promise.allSettled(waiting);
    // What starves the thread's messages alone is seen as well.
    assert.ok(first.reason instanceof SandboxLimitError, String(first.reason));
    await assert.rejects(sandbox.call("ok"), SandboxDeadError);
  });
}

test("worker: a thread that ends by itself is said, and one whose load failed is gone", async (t) => {
  const sandbox = await open(t, "{ quit: () => process.exit(3), ok: () => 1 }", { limits: { timeoutMs: 60_000 }, permissions: ["process"] });
  await assert.rejects(sandbox.call("quit"), /the thread of the sandbox of lib failed: it ended by itself, with code 3/);
  await assert.rejects(sandbox.call("ok"), SandboxError);
  await assert.rejects(createSandboxInWorker("lib", "throw 1", { limits: { timeoutMs: 1000 } }), /failed while loading/);
  await assert.rejects(createSandboxInWorker("lib", "", { limits: { timeoutMs: Infinity } }), /up to \d+/);
});

test("worker: what a library posts from the thread's globals is not heard as the thread's answers", async (t) => {
  const sandbox = await open(
    t,
    `{ lie() { const { parentPort } = process.getBuiltinModule("node:worker_threads"); for (const said of [null, 1, { id: 3, value: "lie" }, { alive: true, returned: 3 }, { id: 3, kind: "none" }]) parentPort.postMessage(said); return "true"; } }`,
    { limits: { timeoutMs: 60_000 }, permissions: ["process"] },
  );
  assert.equal(await sandbox.call("lie"), "true");
  assert.equal(await sandbox.call("lie"), "true");
});

test("worker: what waits when it is disposed of is refused", async (t) => {
  const sandbox = await open(t, "{ never: () => new Promise(() => {}), ok: () => 1 }");
  const waiting = sandbox.call("never");
  sandbox.dispose();
  sandbox.dispose();
  await assert.rejects(waiting, SandboxDisposedError);
  await assert.rejects(sandbox.call("ok"), SandboxDisposedError);
});

test("worker: what it cannot do is refused before anything runs", async (t) => {
  await assert.rejects(createSandboxInWorker("lib", "", {}), /needs limits\.timeoutMs/);
  await assert.rejects(createSandboxInWorker("lib", "", { limits: { timeoutMs: 1 }, capabilities: {} }), /capabilities cannot go to the thread/);
  await assert.rejects(createSandboxInWorker("lib", "", { limits: { timeoutMs: 1 }, permisions: [] }), {
    name: "SandboxError",
    message: /no option permisions/,
  });
  await assert.rejects(createSandboxInWorker("lib", "", { limits: { timeoutMs: 1, memory: 8 } }), { name: "SandboxError", message: /no limit memory;/ });
  await assert.rejects(createSandboxInWorker("lib", "", null), { name: "SandboxError", message: /an object, not null/ });
  const sandbox = await open(t, "{ ok: () => 1 }");
  for (const path of [undefined, null, 5, {}]) await assert.rejects(sandbox.call(path), { name: "SandboxError", message: /a path of names/ });
});

/** A thread that is played by the test: `play(request, reply)` has each request. */
function played(play) {
  const thread = Object.assign(new EventEmitter(), {
    postMessage({ port }) {
      port.on("message", (request) => play(request, (message) => port.postMessage(message)));
    },
    ref() {},
    unref() {},
    terminate() {},
  });
  return () => thread;
}

test("worker: an answer to a question does not stop the clock of the call behind it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let asked;
  const thread = played((request, reply) => {
    if (request.alive)
      asked = reply; // which is answered once another call waits
    else if (request.path?.[0] === "spin") asked({ alive: true });
    else {
      reply({ alive: true, returned: request.id });
      if (request.path === undefined) reply({ id: request.id });
    }
  });
  const sandbox = await createSandboxInWorker("lib", "", { limits: { timeoutMs: 1000 }, thread });
  const rounds = () => new Promise((resolve) => setTimeoutNow(resolve, 50));
  const ended = [];
  const call = (name) => sandbox.call(name).catch((error) => ended.push(error.name));
  call("never");
  await rounds();
  t.mock.timers.tick(1000);
  await rounds();
  assert.equal(typeof asked, "function");
  call("spin");
  await rounds();
  t.mock.timers.tick(1499);
  await rounds();
  assert.deepEqual(ended, []);
  t.mock.timers.tick(1);
  await rounds();
  assert.deepEqual(ended, ["SandboxLimitError", "SandboxLimitError"]);
});

test("worker: the thread is where it is said to be, and one that cannot be loaded is named", async (t) => {
  const url = new URL("../worker-thread.js", import.meta.url);
  for (const thread of [url, url.href, () => new Worker(url)]) {
    const sandbox = await open(t, "{ ok: () => 1 }", { limits: { timeoutMs: 1000 }, thread });
    assert.equal(await sandbox.call("ok"), 1);
  }
  const limits = { timeoutMs: 1000 };
  const nowhere = new URL("./no-such-file.js", import.meta.url);
  await assert.rejects(createSandboxInWorker("lib", "", { limits, thread: nowhere }), (error) => {
    assert.ok(error instanceof SandboxError);
    assert.ok(error.message.includes(`cannot be loaded from ${nowhere.href}: `), error.message);
    assert.match(error.message, /emit @sandbox-lsp\/runtime\/worker-thread .* option thread/);
    return true;
  });
  await assert.rejects(createSandboxInWorker("lib", "", { limits, thread: () => undefined }), /cannot be loaded from what the option thread makes/);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const silent = createSandboxInWorker("lib", "", { limits, thread: played(() => t.mock.timers.tick(6000)) });
  await assert.rejects(silent, /cannot be loaded from what the option thread makes: it does not answer/);
});

test("worker: a bundle keeps the words by which bundlers find the thread's file", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../worker.js", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  assert.ok(outputFiles[0].text.includes('new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" })'));
});
