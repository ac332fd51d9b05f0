import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import nativeQs from "qs";
import { defineConfig, loadBundle, SandboxManager } from "../index.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const storefront = fileURLToPath(new URL("../../../testdata/projects/storefront", import.meta.url));

/** Bundles a package the way the build does: one script that assigns the global. */
async function bundle(request, resolveDir = here) {
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(request)})`, resolveDir },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "__SANDBOXED_LIB__",
    platform: "browser",
    logLevel: "silent",
  });
  return outputFiles[0].text;
}

const queries = [
  "",
  "a=1&b=2",
  "a[]=1&a[]=2",
  "a[b][c]=d&a[b][e]=f",
  "a=%E2%9C%93&b",
  "a[0]=x&a[5]=y",
  "a.b=c",
  "a=1&a=2",
  "__proto__[x]=1",
  "%F0%9F%98%80=%00",
];
const objects = [{}, { a: 1 }, { a: [1, 2], b: { c: [{ d: "e" }] } }, { n: null, u: undefined, e: "" }, { d: new Date(0) }, { s: "ü 😀&=" }, { big: 10n }];

test("qs answers as the native one does, options with callbacks included", async (t) => {
  const sandbox = await SandboxManager.createSandbox("qs", await bundle("qs"), { permissions: [] });
  t.after(() => sandbox.dispose());
  const qs = sandbox.exports;
  for (const query of queries) {
    for (const options of [
      undefined,
      { allowDots: true },
      { comma: true, depth: 1 },
      { plainObjects: true },
      { decoder: (s, fallback) => fallback(s).toUpperCase() },
    ]) {
      assert.deepStrictEqual(qs.parse(query, options), nativeQs.parse(query, options), `${query} ${JSON.stringify(options)}`);
    }
  }
  for (const object of objects) {
    for (const options of [
      undefined,
      { arrayFormat: "comma" },
      { allowDots: true, addQueryPrefix: true },
      { sort: (a, b) => b.localeCompare(a) },
      { filter: (prefix, v) => (prefix === "a" ? undefined : v) },
      { strictNullHandling: true },
    ]) {
      assert.equal(qs.stringify(object, options), nativeQs.stringify(object, options));
    }
  }
  assert.equal(qs.formats.default, nativeQs.formats.default);
});

test("a workload runs beside its library and shares it", async (t) => {
  const sandbox = await SandboxManager.createSandbox("qs", await bundle("qs"), { permissions: [] });
  t.after(() => sandbox.dispose());
  const code = `var __SANDBOXED_WORKLOAD__ = (() => { const qs = globalThis.__SANDBOXED_LIB__; return { keys: (q) => Object.keys(qs.parse(q)), same: (parse) => parse === qs.parse }; })();`;
  const workload = sandbox.loadWorkload("filters", code);
  assert.deepStrictEqual(workload.keys("a=1&b=2"), ["a", "b"]);
  assert.equal(workload.same(sandbox.fn("parse")), true);
  assert.equal(sandbox.loadWorkload("filters", "throw new Error('evaluated twice')"), workload);
  assert.throws(() => sandbox.loadWorkload("empty", "var __SANDBOXED_WORKLOAD__ = undefined"), { name: "SandboxError" });
  assert.throws(() => sandbox.loadWorkload("none", "1"), { name: "SandboxError", message: /did not assign what it exports/ });
  assert.equal(sandbox.loadWorkload("filters", ""), workload);
  sandbox.loadWorkload("fixed", "__SANDBOXED_WORKLOAD__ = {}; Object.freeze(globalThis)");
  assert.throws(() => sandbox.loadWorkload("late", "1"), { name: "SandboxError", message: /cannot assign what it exports/ });
});

test("the libraries of the storefront load and work", async (t) => {
  assert.ok(existsSync(join(storefront, "node_modules")), "run `make deps` first");
  const open = async (request, permissions = []) => {
    const sandbox = await SandboxManager.createSandbox(request, await bundle(request, storefront), { permissions });
    t.after(() => sandbox.dispose());
    return sandbox;
  };
  const _ = (await open("lodash")).callable();
  assert.deepStrictEqual(
    _.groupBy(
      [
        { k: "a", n: 1 },
        { k: "b", n: 2 },
      ],
      (x) => x.k,
    ),
    { a: [{ k: "a", n: 1 }], b: [{ k: "b", n: 2 }] },
  );
  assert.deepStrictEqual(
    _([3, 1, 2])
      .sortBy()
      .map((x) => x * 2)
      .value(),
    [2, 4, 6],
  );
  const dayjs = (await open("dayjs")).callable();
  assert.equal(dayjs("2024-02-28").add(2, "day").format("YYYY-MM-DD"), "2024-03-01");
  const dateFns = (await open("date-fns")).exports;
  assert.deepStrictEqual(dateFns.addDays(new Date(0), 1), new Date(86400000));
  const { z } = (await open("zod")).exports;
  const schema = z.object({ n: z.number().min(1) });
  assert.deepStrictEqual(schema.parse({ n: 2 }), { n: 2 });
  const failed = schema.safeParse({ n: "2" });
  assert.equal(failed.success, false);
  assert.equal(failed.error.issues[0].path[0], "n");
  const uuid = (await open("uuid", ["crypto"])).exports;
  assert.match(uuid.v4(), /^[0-9a-f-]{36}$/);
  assert.equal(uuid.validate(uuid.v7()), true);
});

test("loadBundle reads from disk in Node and says what to do when it cannot", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "bundle-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "a.js"), "var a = 'ü';");
  assert.equal(await loadBundle({ node: pathToFileURL(join(dir, "a.js")), browser: "/a.js" }), "var a = 'ü';");
  await assert.rejects(loadBundle({ node: pathToFileURL(join(dir, "b.js")), browser: "/b.js" }), {
    name: "SandboxError",
    message: /b\.js cannot be read \(ENOENT\)\. Run `sandbox-lsp build`/,
  });
});

test("loadBundle fetches in a browser and is not fooled by an index page", async (t) => {
  const server = createServer((request, response) => {
    const found = request.url === "/a.js";
    response.writeHead(request.url === "/gone.js" ? 404 : 200, { "content-type": found ? "text/javascript" : "text/html" });
    response.end(found ? "var a;" : "<!doctype html>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}`;
  const { process } = globalThis;
  delete globalThis.process; // what tells a browser from Node
  t.after(() => {
    globalThis.process = process;
  });
  assert.equal(await loadBundle({ node: null, browser: `${base}/a.js` }), "var a;");
  for (const path of ["/gone.js", "/spa.js"]) {
    await assert.rejects(loadBundle({ node: null, browser: base + path }), { name: "SandboxError", message: /is not there .*Serve the project's dist folder/ });
  }
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(loadBundle({ node: null, browser: `${base}/a.js` }), { name: "SandboxError", message: /cannot be fetched/ });
});

test("defineConfig returns the very policy", () => {
  const policy = { qs: { permissions: [] } };
  assert.equal(defineConfig(policy), policy);
});
