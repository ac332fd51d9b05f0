import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { SandboxError, SandboxManager } from "../index.js";
import { sandboxOf, thrownBy } from "./sandboxes.js";

test("errors: class, message, cause and fields come across with the guest's own stack", async (t) => {
  const { exports } = await sandboxOf(t, `{ fails() { throw Object.assign(new RangeError("out", { cause: { why: 1 } }), { code: "E1", at: [1] }); } }`);
  const error = thrownBy(() => exports.fails());
  assert.equal(error.constructor, RangeError);
  assert.equal(error.message, "out");
  assert.deepStrictEqual(error.cause, { why: 1 });
  assert.deepStrictEqual(Object.entries(error), [
    ["code", "E1"],
    ["at", [1]],
  ]);
  assert.match(error.stack, /^RangeError: out\n\s+at fails \(lib\.bundle\.js:1:\d+\)$/);
});

for (const source of ["null", "undefined", "'text'", "5n", "{ a: 1 }"]) {
  test(`errors: throw ${source} arrives as that value`, async (t) => {
    const { exports } = await sandboxOf(t, `{ fails() { throw (${source}); } }`);
    assert.deepStrictEqual(
      thrownBy(() => exports.fails()),
      (0, eval)(`(${source})`),
    );
  });
}

test("errors: the library's own classes keep their methods and instanceof", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `(() => {
    class Invalid extends Error { constructor(issues) { super("invalid"); this.name = "Invalid"; Object.defineProperty(this, "issues", { value: issues }); } first() { return this.issues[0]; } }
    return { Invalid, fails() { throw new Invalid(["a", "b"]); } };
  })()`,
  );
  const error = thrownBy(() => exports.fails());
  assert.ok(error instanceof Error);
  assert.ok(error instanceof exports.Invalid);
  assert.equal(error.name, "Invalid");
  assert.deepStrictEqual(error.issues, ["a", "b"]);
  assert.equal(error.first(), "a");
  assert.match(error.stack, /^Invalid: invalid\n/);
});

test("errors: an error is itself again when it comes back", async (t) => {
  const { exports } = await sandboxOf(
    t,
    `{
    through: (f) => f(),
    catches: (f) => { try { f(); } catch (e) { return [e instanceof TypeError, e.name, e.message, e.code]; } },
    make: () => new TypeError("guest's"), same: (a, b) => a === b, stack: (f) => { try { f(); } catch (e) { return e.stack; } },
  }`,
  );
  const mine = Object.assign(new TypeError("mine"), { code: 7 });
  const fails = () => {
    throw mine;
  };
  assert.equal(
    thrownBy(() => exports.through(fails)),
    mine,
  );
  assert.deepStrictEqual(exports.catches(fails), [true, "TypeError", "mine", 7]);
  assert.ok(!exports.stack(fails).includes("errors.test.js"), "host paths stay here");
  const theirs = exports.make();
  assert.equal(exports.same(theirs, theirs), true);
  assert.equal(
    thrownBy(() =>
      exports.through(() => {
        throw theirs;
      }),
    ),
    theirs,
  );
});

test("errors: an aggregate keeps its list", async (t) => {
  const { exports } = await sandboxOf(t, `{ id: (x) => x, fails() { throw new AggregateError([new TypeError("a")], "all"); } }`);
  const error = thrownBy(() => exports.fails());
  assert.equal(error.constructor, AggregateError);
  assert.equal(error.errors[0].constructor, TypeError);
});

test("errors: a library that fails to load says what failed, where and why", async () => {
  const load = SandboxManager.createSandbox("maps", "var __SANDBOXED_LIB__ = (() => document.createElement('p'))();");
  const error = await load.then(assert.fail, (e) => e);
  assert.ok(error instanceof SandboxError);
  assert.equal(error.message, "maps failed while loading in its sandbox: ReferenceError: document is not defined (its policy does not grant document)");
  assert.match(error.cause.stack, /maps\.bundle\.js:1:\d+/);
});

test("errors: source that does not parse, and a bundle that assigns nothing", async () => {
  await assert.rejects(SandboxManager.createSandbox("x", "let = = 1"), { name: "SandboxError", message: /SyntaxError/ });
  await assert.rejects(SandboxManager.createSandbox("x", "1"), { name: "SandboxError", message: /did not assign .* __SANDBOXED_LIB__/ });
});

test("errors: options that are wrong are refused before anything runs", async () => {
  const wrong = [
    [{ limits: { memoryMB: "64" } }, /limits\.memoryMB/],
    [{ limits: { timeoutMs: 0 } }, /limits\.timeoutMs/],
    [{ limits: { stackKB: 256 } }, /limits\.stackKB: 256 is more than the 64/],
    [{ arguments: "none" }, /arguments: "membrane" or "data"/],
    [{ results: "copy" }, /results: "mirror" or "live"/],
    [{ permissions: [{ name: "document", allow: ["title"] }] }, /document is narrowed by `allow`, but there are no rules for it/],
    [{ permissions: [{ name: "fetch", allow: ["a.example"] }] }, /"a\.example" is no address/],
    [{ permissions: [5] }, /neither a name nor an object/],
  ];
  for (const [options, message] of wrong) {
    await assert.rejects(SandboxManager.createSandbox("x", "var __SANDBOXED_LIB__ = {}", options), { name: "SandboxError", message });
  }
});

test("errors: what is no class cannot be made an instance of, and is named", async (t) => {
  const sandbox = await sandboxOf(t, `{ arrow: () => 1, data: { n: 1 }, deep: { method() {} }, Fine: class {} }`);
  for (const path of ["arrow", "data", "nothing", "deep.method", ["deep", "method"]])
    assert.throws(() => sandbox.createInstance(path), { name: "SandboxError", message: `lib exports no class ${[path].flat().join(".")}` });
  for (const path of [undefined, null, 1, {}]) assert.throws(() => sandbox.createInstance(path), { name: "SandboxError", message: /^a path is text/ });
  assert.equal(typeof sandbox.createInstance("Fine"), "object");
});

test("errors: what is served in place of the engine is named, and a better address can follow", async (t) => {
  const wasm = readFileSync(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
  const answers = { "/engine.wasm": [200, "application/wasm", wasm], "/page": [200, "text/html", "<!doctype html>"], "/empty": [200, "text/plain", ""] };
  const server = createServer(({ url }, response) => {
    const [status, type, body] = answers[url] ?? [404, "text/html", "<!doctype html>"];
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}`;
  // Another copy of the module, which has not compiled the engine yet.
  const { compile } = await import("../wasm.js?another");
  for (const [path, what] of Object.entries({ "/page": "with something else (text/html)", "/empty": "with something else (text/plain)", "/none": "404" }))
    await assert.rejects(compile(base + path), {
      name: "SandboxError",
      message: `the QuickJS engine cannot be loaded: ${base}${path} answered ${what}. Serve quickjs.wasm there, or call SandboxManager.ready({ wasm: url }) before the first proxy is imported.`,
    });
  assert.ok((await compile(`${base}/engine.wasm`)) instanceof WebAssembly.Module);
});
