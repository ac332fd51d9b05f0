// Images in a real page: in its memory, and in its Cache Storage from one load to the next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashNow } from "../../hash.js";
import { skip, withPage } from "./page.js";

const code = "__SANDBOXED_LIB__ = { loaded: performance.now(), now: () => performance.now(), date: () => Date.now(), draw: () => Math.random() }";

/** What a page says that makes two sandboxes of one library. */
async function load(page, address) {
  const said = [];
  const hear = (message) => said.push(message.text());
  page.on("console", hear);
  await page.goto(address);
  await page.waitForFunction(() => globalThis.runtime !== undefined);
  const seen = await page.evaluate(async (code) => {
    const { SandboxManager } = globalThis.runtime;
    await SandboxManager.ready({ persist: true });
    const seen = [];
    for (let i = 0; i < 2; i++) {
      const sandbox = await SandboxManager.createSandbox("lib", code, { snapshot: true });
      const { loaded, now, date, draw } = sandbox.exports;
      const start = now();
      const late = Math.abs(date() - Date.now());
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.push({ restored: sandbox.stats().restored, draw: draw(), goesOn: start >= loaded && now() - start >= 15, late });
    }
    return seen;
  }, code);
  // What is kept is kept in the background.
  await page.waitForFunction(async () => (await (await caches.open("sandbox-lsp-images")).keys()).length === 1);
  page.off("console", hear);
  return { seen, said, restored: seen.map(({ restored }) => restored) };
}

/** Changes what the page keeps. */
const change = (page, how) =>
  page.evaluate(
    async ({ how }) => {
      const cache = await caches.open("sandbox-lsp-images");
      const [place] = await cache.keys();
      const bytes = new Uint8Array(await (await cache.match(place)).arrayBuffer());
      if (how === "byte") bytes[bytes.length - 1] ^= 1;
      else {
        // The same length, and a hash that is right.
        const text = new TextDecoder("latin1").decode(bytes.subarray(0, 400));
        const at = text.indexOf('"engine":"') + '"engine":"'.length;
        bytes[at] = bytes[at] === 48 ? 49 : 48;
        const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.subarray(64)));
        bytes.set(new TextEncoder().encode(Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("")));
      }
      await cache.put(place, new Response(bytes));
    },
    { how },
  );

test("browser: a page's images serve its next load, and what is wrong with one is said once", { skip }, async () => {
  await withPage({ entry: "browser-page.js" }, async (page, address) => {
    const first = await load(page, address);
    assert.deepEqual(first.restored, [false, true]);
    const second = await load(page, address);
    assert.deepEqual(second.restored, [true, true]);
    await change(page, "byte");
    const third = await load(page, address);
    assert.deepEqual(third.restored, [false, true]);
    assert.equal(third.said.length, 1, third.said.join());
    assert.match(third.said[0], /^sandbox-lsp: the image of lib that this page keeps is damaged: .*\(SBX045\)\. The library is evaluated instead\.$/);
    await change(page, "engine");
    const fourth = await load(page, address);
    assert.deepEqual(fourth.restored, [false, true]);
    assert.equal(fourth.said.length, 1, fourth.said.join());
    assert.match(fourth.said[0], /is of another QuickJS engine\. The library is evaluated instead\.$/);
    const fifth = await load(page, address);
    assert.deepEqual(fifth.restored, [true, true]);
    const all = [first, second, third, fourth, fifth];
    for (const { said } of [first, second, fifth]) assert.deepEqual(said, []);
    const seen = all.flatMap((one) => one.seen);
    assert.equal(new Set(seen.map(({ draw }) => draw)).size, seen.length, "Math.random goes its own way");
    for (const { goesOn, late } of seen) assert.ok(goesOn && late < 1000, JSON.stringify({ goesOn, late }));
  });
});

test("browser: a bundle or an engine with another byte is refused", { skip }, async () => {
  const sha256 = hashNow(new TextEncoder().encode(code));
  const bundle = (text) => (_, response) => response.writeHead(200, { "content-type": "text/javascript" }).end(text);
  await withPage({ entry: "browser-page.js", routes: { "/good.js": bundle(code), "/bad.js": bundle(`${code} `) } }, async (page, address) => {
    // Only the page of a secure origin has crypto.subtle.
    for (const subtle of [true, false]) {
      await page.goto(address);
      await page.waitForFunction(() => globalThis.runtime !== undefined);
      const seen = await page.evaluate(
        async ({ sha256, subtle }) => {
          if (!subtle) Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
          const { SandboxManager, loadBundle } = globalThis.runtime;
          const failure = (promise) =>
            promise.then(
              (value) => typeof value,
              (error) => `${error.name}: ${error.message}`,
            );
          return [
            await failure(loadBundle({ browser: "/good.js", sha256 })),
            await failure(loadBundle({ browser: "/bad.js", sha256 })),
            await failure(SandboxManager.createSandbox("lib", "__SANDBOXED_LIB__ = {}", { engine: sha256 })),
          ];
        },
        { sha256, subtle },
      );
      assert.equal(seen[0], "string");
      assert.match(seen[1], /^SandboxError: the bundle \/bad\.js is not what sandbox-lsp built, .*\(SBX045\)/);
      assert.match(seen[2], /^SandboxError: the QuickJS engine that is loaded is not the one that lib was built for, .*\(SBX045\)/);
    }
  });
});
