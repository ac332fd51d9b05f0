// What only a real page shows: its content security policy, its globals, its network.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { build } from "esbuild";
import { skip, withPage } from "./page.js";

/** Runs a function in a page that has the runtime; `routes` are answered by the server. */
const inPage = (run, { routes, argument } = {}) =>
  withPage({ entry: "browser-page.js", routes }, async (page, address) => {
    await page.waitForFunction(() => globalThis.runtime !== undefined);
    return page.evaluate(run, argument?.(address));
  });

test("browser: a sandbox works where scripts may compile WebAssembly and nothing else", { skip }, async () => {
  const seen = await inPage(async () => {
    const { SandboxManager } = globalThis.runtime;
    const code = `__SANDBOXED_LIB__ = {
      add: (a, b) => a + b,
      map: (list, f) => list.map(f),
      Counter: class { n = 0; up() { return ++this.n; } },
      fail() { throw new TypeError("no"); },
      compile: () => new Function("return 6 * 7")(),
      later: async (p) => (await p) + 1,
      spin() { for (;;); },
    }`;
    const sandbox = await SandboxManager.createSandbox("lib", code, { limits: { timeoutMs: 100 } });
    const { add, map, Counter, fail, compile, later, spin } = sandbox.exports;
    const thrown = (f) => {
      try {
        return f();
      } catch (error) {
        return `${error.name}: ${error.message}`;
      }
    };
    const counter = new Counter();
    const list = map([{ n: 1 }], ({ n }) => ({ n: n + 1 }));
    const answers = [add(1, 2), JSON.stringify(structuredClone(list)), counter.up() + counter.up(), thrown(fail), compile(), await later(Promise.resolve(1))];
    const host = thrown(() => Function("return 1")());
    const limit = thrown(spin);
    const sync = SandboxManager.createSandboxSync("other", "__SANDBOXED_LIB__ = { one: () => 1 }");
    answers.push(sync.exports.one());
    sync.dispose();
    return { answers, host, limit, gone: thrown(() => sync.exports) };
  });
  assert.deepEqual(seen.answers, [3, '[{"n":2}]', 3, "TypeError: no", 42, 2, 1]);
  assert.match(seen.host, /^EvalError/, "the page's own policy for scripts");
  assert.match(seen.limit, /^SandboxLimitError: .*timeoutMs/);
  assert.match(seen.gone, /^SandboxDisposedError/);
});

test("browser: what is not granted is not there, and no name leads to the page", { skip }, async () => {
  const seen = await inPage(async () => {
    const { SandboxManager } = globalThis.runtime;
    globalThis.secret = "the page's";
    const names = ["window", "self", "frames", "parent", "top", "document", "fetch", "localStorage", "navigator", "Worker", "XMLHttpRequest"];
    const code = `__SANDBOXED_LIB__ = {
      types: () => ${JSON.stringify(names)}.map((name) => typeof globalThis[name]).join(),
      secrets: () => {
        const found = [];
        const look = (what, f) => { try { if (f() !== undefined) found.push(what); } catch {} };
        for (const name of ["window", "self", "frames", "parent", "top"]) look(name, () => globalThis[name].secret);
        look("defaultView", () => document.defaultView.secret);
        look("ownerDocument", () => document.body.ownerDocument.defaultView.secret);
        look("constructor", () => document.constructor.constructor("return secret")());
        look("callback", () => setTimeout.constructor("return secret")());
        look("event", () => new Event("x").constructor.constructor("return secret")());
        return found.join();
      },
      title: () => document.title,
      language: () => typeof navigator.language,
    }`;
    const bare = await SandboxManager.createSandbox("bare", code);
    const given = await SandboxManager.createSandbox("given", code, {
      permissions: ["window", "self", "frames", "parent", "top", "document", "navigator", "setTimeout", "Event"],
    });
    return {
      types: [...new Set(bare.exports.types().split(","))],
      secrets: [bare.exports.secrets(), given.exports.secrets()],
      title: given.exports.title(),
      language: given.exports.language(),
    };
  });
  assert.deepEqual(seen, { types: ["undefined"], secrets: ["", ""], title: "sandbox", language: "string" });
});

test("browser: rules hold for fetch, wherever it is sent on to, and for a storage", { skip }, async () => {
  const routes = {
    "/data": (_, response) => response.end("data"),
    "/away": (request, response) => response.writeHead(302, { location: `http://localhost:${request.socket.localPort}/data` }).end(),
    "/on": (_, response) => response.writeHead(302, { location: "/data" }).end(),
  };
  const seen = await inPage(
    async (address) => {
      const { SandboxManager } = globalThis.runtime;
      const code = `__SANDBOXED_LIB__ = {
        get: async (url) => { try { return await (await fetch(url)).text(); } catch (error) { return error.message; } },
        store(key, value) { try { localStorage.setItem(key, value); return localStorage.getItem(key); } catch (error) { return error.name; } },
      }`;
      const sandbox = await SandboxManager.createSandbox("lib", code, {
        permissions: [
          { name: "fetch", allow: [address] },
          { name: "localStorage", allow: ["mine:*"] },
        ],
      });
      const { get, store } = sandbox.exports;
      const fetched = [];
      for (const url of [`${address}/data`, `${address}/on`, `${address}/away`, address.replace("127.0.0.1", "localhost")]) fetched.push(await get(url));
      localStorage.setItem("theirs", "secret");
      return { fetched, stored: [store("mine:a", "1"), store("theirs", "2"), localStorage.getItem("theirs")] };
    },
    { routes, argument: (address) => address },
  );
  assert.equal(seen.fetched[0], "data");
  // A page is not told where a redirect leads, so that none is followed.
  for (const redirected of seen.fetched.slice(1, 3)) assert.match(redirected, /is redirected, and this host does not say where to/);
  assert.match(seen.fetched[3], /policy/);
  assert.equal(seen.stored[0], "1");
  assert.notEqual(seen.stored[1], "2");
  assert.equal(seen.stored[2], "secret");
});

test("browser: timers, randomness and locales are the page's", { skip }, async () => {
  const seen = await inPage(async () => {
    const { SandboxManager } = globalThis.runtime;
    const code = `__SANDBOXED_LIB__ = {
      wait: () => new Promise((resolve) => setTimeout(() => resolve("waited"), 1)),
      bytes: () => crypto.getRandomValues(new Uint8Array(8)).length,
      uuid: () => crypto.randomUUID().length,
      subtle: () => typeof crypto.subtle,
      money: () => new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234.5),
      text: () => (1234.5).toLocaleString("de-DE"),
    }`;
    const { exports } = await SandboxManager.createSandbox("lib", code, { permissions: ["setTimeout", "crypto", "Intl"] });
    return [await exports.wait(), exports.bytes(), exports.uuid(), exports.subtle(), exports.money().replace(/\s/, " "), exports.text()];
  });
  assert.deepEqual(seen, ["waited", 8, 36, "undefined", "1.234,50 €", "1.234,5"]);
});

// Chromium has addresses for about 125 memories.
test("browser: errors that the application keeps keep no engine", { skip }, async () => {
  const seen = await inPage(async () => {
    const { SandboxManager } = globalThis.runtime;
    const code = `__SANDBOXED_LIB__ = { make: () => new TypeError("made"), fail() { throw new RangeError("thrown"); }, each: (f) => f(new Error("given")) }`;
    const kept = [];
    for (let i = 0; i < 200; i++) {
      const sandbox = await SandboxManager.createSandbox("lib", code);
      const { make, fail, each } = sandbox.exports;
      kept.push(make());
      each((error) => kept.push(error));
      try {
        fail();
      } catch (error) {
        kept.push(error);
      }
      sandbox.dispose();
    }
    return [...new Set(kept.map(String))].join();
  });
  assert.equal(seen, "TypeError: made,Error: given,RangeError: thrown");
});

test("browser: a sandbox on a Worker's thread is ended where no clock ends it", { skip }, async () => {
  const folder = new URL("../../", import.meta.url);
  const modules = readdirSync(folder).filter((file) => file.endsWith(".js"));
  const routes = Object.fromEntries(
    modules.map((file) => [
      `/runtime/${file}`,
      (_, response) => response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync(new URL(file, folder))),
    ]),
  );
  const seen = await inPage(
    async () => {
      const { createSandboxInWorker } = await import("/runtime/worker.js");
      const code =
        "__SANDBOXED_LIB__ = { add: (a, b) => a + b, type: () => typeof document, hang: () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 }) }";
      const sandbox = await createSandboxInWorker("lib", code, { limits: { timeoutMs: 100 } });
      const failure = (promise) => promise.then(String, (error) => error.name);
      return [await sandbox.call("add", [1, 2]), await sandbox.call("type"), await failure(sandbox.call("hang")), await failure(sandbox.call("add", [1, 2]))];
    },
    { routes },
  );
  assert.deepEqual(seen, [3, "undefined", "SandboxLimitError", "SandboxDeadError"]);
});

test("browser: what is not served is said in one sentence", { skip }, async () => {
  const routes = { "/dist/quickjs.wasm": (_, response) => response.writeHead(404).end() };
  const seen = await inPage(
    async () => {
      const { SandboxManager, loadBundle } = globalThis.runtime;
      const failure = (promise) => promise.then(String, (error) => `${error.name}: ${error.message}`);
      return [
        await failure(SandboxManager.createSandbox("lib", "__SANDBOXED_LIB__ = {}")),
        await failure(loadBundle({ browser: "/dist/lib.bundle.js" })),
        await failure(loadBundle({ browser: "/" })),
      ];
    },
    { routes },
  );
  assert.match(seen[0], /^SandboxError: .*\/dist\/quickjs\.wasm answered 404\. Serve quickjs\.wasm there/);
  assert.match(seen[1], /^SandboxError: the bundle \/dist\/lib\.bundle\.js is not there \(status 404/);
  assert.match(seen[2], /^SandboxError: the bundle \/ is not there \(status 200, text\/html/);
});

test("browser: a page that is served in place of the engine is named", { skip }, async () => {
  const page = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
  const seen = await inPage(() => globalThis.runtime.SandboxManager.ready().then(String, (error) => `${error.name}: ${error.message}`), {
    routes: { "/dist/quickjs.wasm": page },
  });
  assert.match(seen, /^SandboxError: .*\/dist\/quickjs\.wasm answered with something else \(text\/html\)\. Serve quickjs\.wasm there/);
});

test("browser: a sandbox's thread is found beside the bundle or where it is said to be, and one that is not there is named", { skip }, async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL("../../worker-thread.js", import.meta.url).pathname],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  const file = (_, response) =>
    response
      .writeHead(200, { "content-type": "text/javascript", "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'" })
      .end(outputFiles[0].contents);
  const seen = await inPage(
    async () => {
      const { createSandboxInWorker } = globalThis.runtime;
      const answers = [];
      for (const thread of [undefined, "/elsewhere.js", () => new Worker("/elsewhere.js", { type: "module" }), "/nowhere.js", "/page.html"]) {
        try {
          const code = "__SANDBOXED_LIB__ = { one: () => 1 }";
          const sandbox = await createSandboxInWorker("lib", code, { limits: { timeoutMs: 1000 }, ...(thread && { thread }) });
          answers.push(await sandbox.call("one"));
          sandbox.dispose();
        } catch (error) {
          answers.push(`${error.name}: ${error.message}`);
        }
      }
      return answers;
    },
    {
      routes: {
        "/worker-thread.js": file,
        "/elsewhere.js": file,
        "/page.html": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      },
    },
  );
  assert.deepEqual(seen.slice(0, 3), [1, 1, 1]);
  assert.match(seen[3], /^SandboxError: the thread of the sandbox of lib cannot be loaded from \/nowhere\.js: .* option thread$/);
  assert.match(seen[4], /cannot be loaded from \/page\.html: /);
});
