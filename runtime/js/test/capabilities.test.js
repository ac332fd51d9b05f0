import assert from "node:assert/strict";
import { test } from "node:test";
import { SandboxManager } from "../index.js";
import { sandboxOf } from "./sandboxes.js";

const probe = `{ types: (...names) => names.map((n) => typeof globalThis[n]), run: (source) => (0, eval)(source) }`;

test("capabilities: nothing of the host is there without a grant", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: [] });
  const names = ["fetch", "Intl", "crypto", "process", "require", "console", "setTimeout", "localStorage", "document", "WebAssembly", "cross"];
  assert.deepStrictEqual(
    exports.types(...names),
    names.map(() => "undefined"),
  );
  assert.deepStrictEqual(exports.run("Object.getOwnPropertyNames(globalThis).filter((n) => /host|sandbox|guest/i.test(n))"), ["__SANDBOXED_LIB__"]);
});

test("capabilities: Intl formats as the host does, with and without new", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["Intl"] });
  const expressions = [
    `new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234.5)`,
    `Intl.NumberFormat("en-US").format(1e6)`,
    `new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", dateStyle: "long" }).format(new Date(0))`,
    `new Intl.PluralRules("en", { type: "ordinal" }).select(2)`,
    `new Intl.NumberFormat("en").formatToParts(1.5)`,
    `new Intl.NumberFormat("en").resolvedOptions().locale`,
    `new Intl.Collator("sv").compare("z", "ö")`,
    `new Intl.NumberFormat("en") instanceof Intl.NumberFormat`,
    `["ö", "z"].sort(new Intl.Collator("de").compare)`,
    `Intl.getCanonicalLocales("EN-us")`,
    `(() => { try { new Intl.NumberFormat("not a locale"); } catch (e) { return e instanceof RangeError; } })()`,
  ];
  for (const expression of expressions) assert.deepStrictEqual(exports.run(expression), (0, eval)(expression), expression);
});

test("capabilities: with Intl, what the language says of locales is the host's answer", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["Intl"] });
  const without = await sandboxOf(t, probe, { permissions: [] });
  for (const expression of [
    `(12345.5).toLocaleString("de")`,
    `(0.256).toLocaleString("en", { style: "percent" })`,
    `(12345678901234567890n).toLocaleString("de")`,
    `new Date(0).toLocaleString("en-GB", { timeZone: "UTC" })`,
    `new Date(0).toLocaleDateString("de", { timeZone: "UTC", dateStyle: "long" })`,
    `new Date(0).toLocaleTimeString("en-US", { timeZone: "Asia/Tokyo" })`,
    `["z", "a", "\u00e4", "Z"].sort((a, b) => a.localeCompare(b, "de")).join("")`,
    `"a".localeCompare("A", "en", { sensitivity: "base" })`,
    `"I".toLocaleLowerCase("tr") + "i".toLocaleUpperCase("tr")`,
    `[Number.prototype.toLocaleString.length, String.prototype.localeCompare.length, Date.prototype.toLocaleString.name]`,
    `(() => { try { Number.prototype.toLocaleString.call("1"); } catch (e) { return e instanceof TypeError; } })()`,
    `(() => { try { String.prototype.localeCompare.call(null, "a"); } catch (e) { return e instanceof TypeError; } })()`,
    `(() => { try { (1).toLocaleString("not a locale"); } catch (e) { return e instanceof RangeError; } })()`,
  ]) {
    assert.deepStrictEqual(exports.run(expression), (0, eval)(expression), expression);
  }
  assert.notEqual(without.exports.run(`(12345.5).toLocaleString("de")`), (12345.5).toLocaleString("de"));
});

test("capabilities: crypto is random numbers and nothing else", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["crypto"] });
  assert.deepStrictEqual(exports.run("[Object.getPrototypeOf(crypto), Reflect.ownKeys(crypto), typeof crypto.subtle]"), [
    null,
    ["getRandomValues", "randomUUID"],
    "undefined",
  ]);
  assert.match(exports.run("crypto.randomUUID()"), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(exports.run("(() => { const a = new Uint32Array(64); return crypto.getRandomValues(a) === a && a.some((x) => x > 255); })()"), true);
  assert.equal(exports.run("(() => { const a = new Uint8Array(8); crypto.getRandomValues(a.subarray(4)); return a[0] + a[1] + a[2] + a[3]; })()"), 0);
  assert.equal(exports.run("crypto.getRandomValues(new Uint8Array(65536)).length"), 65536);
  const failure = (source) => exports.run(`(() => { try { ${source}; } catch (e) { return e.name; } })()`);
  assert.equal(failure("crypto.getRandomValues(new Uint8Array(65537))"), "QuotaExceededError");
  assert.equal(failure("crypto.getRandomValues(new Float64Array(1))"), "TypeMismatchError");
  assert.equal(failure("crypto.getRandomValues([1])"), "TypeMismatchError");
  assert.equal(failure("crypto.getRandomValues({ __proto__: Uint8Array.prototype })"), "TypeMismatchError");
});

test("capabilities: a host without randomUUID gives none", async (t) => {
  const crypto = { getRandomValues: (a) => a.fill(7) };
  const { exports } = await sandboxOf(t, probe, { permissions: ["crypto"], capabilities: { crypto } });
  assert.deepStrictEqual(exports.run("[Object.keys(crypto), [...crypto.getRandomValues(new Uint8Array(2))]]"), [["getRandomValues"], [7, 7]]);
});

test("capabilities: host classes and functions keep their receivers", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["TextEncoder", "URL", "structuredClone", "performance", "AbortController"] });
  assert.deepStrictEqual(exports.run(`new TextEncoder().encode("é")`), new Uint8Array([0xc3, 0xa9]));
  assert.equal(exports.run(`new URL("/b?x=1", "https://a.example").searchParams.get("x")`), "1");
  assert.deepStrictEqual(exports.run("structuredClone({ a: [1] })"), { a: [1] });
  assert.equal(exports.run("(() => { const c = new AbortController(); c.abort(); return c.signal.aborted; })()"), true);
  assert.equal(exports.run("performance.now() >= 0"), true);
});

test("capabilities: a given value replaces the host's, and names the host lacks stay undefined", async (t) => {
  const seen = [];
  const { exports } = await sandboxOf(t, probe, { permissions: ["fetch", "noSuchGlobal"], capabilities: { fetch: (url) => seen.push(url) } });
  exports.run("fetch('https://a.example/')");
  assert.deepStrictEqual(seen, ["https://a.example/"]);
  assert.deepStrictEqual(exports.types("noSuchGlobal"), ["undefined"]);
});

test("capabilities: granting a name that the guest has of its own does not hand over the host's", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["Function", "Object", "eval"] });
  assert.equal(exports.run("Function('return typeof process')()"), "undefined");
  assert.notEqual(exports.run("Function"), Function);
});

test("capabilities: the way from a granted function to the host's Function constructor is closed to the guest's own code", async (t) => {
  const { exports } = await sandboxOf(t, probe, { permissions: ["structuredClone"] });
  assert.equal(exports.run("structuredClone.constructor('return typeof process')()"), "undefined");
});

test("capabilities: what stands for a granted object is taken back with all that was taken off it", async (t) => {
  const logged = [];
  const capabilities = {
    console: { log: (text) => logged.push(text) },
    crypto: { getRandomValues: (array) => array.fill(1), randomUUID: () => "id" },
    navigator: { language: "de", speak: () => "ja" },
    localStorage: { getItem: () => "v", setItem() {}, removeItem() {}, key: () => null, length: 0 },
  };
  const sandbox = await sandboxOf(
    t,
    `(() => {
      const saved = [console.log, () => crypto.randomUUID(), crypto.randomUUID, navigator.speak, localStorage.getItem];
      return { use: (i) => saved[i]("k") };
    })()`,
    { capabilities, permissions: ["console", "crypto", { name: "navigator", allow: ["speak"] }, { name: "localStorage", allow: ["k"] }] },
  );
  const { use } = sandbox.exports;
  assert.deepEqual([1, 2, 3, 4].map(use), ["id", "id", "ja", "v"]);
  use(0);
  for (const granted of Object.values(capabilities)) sandbox.revoke(granted);
  for (let i = 0; i < 5; i++) assert.throws(() => use(i), { name: "SandboxRevokedError" }, `use ${i}`);
  assert.deepEqual(logged, ["k"]);
});

test("capabilities: what a granted object led to is taken back with it, and what it shares with others is not", async (t) => {
  class Node {
    name = "body";
    rename() {
      return this.name;
    }
    get next() {
      return new Node();
    }
  }
  const body = new Node();
  const later = { wait: async () => new Node() };
  const capabilities = { document: { body, find: () => new Node(), nested: { deep: () => 1 } }, later };
  const sandbox = await sandboxOf(
    t,
    `(() => {
      const { body, find, nested: { deep } } = document;
      const found = find();
      const { next } = found;
      let waited;
      const nf = new Intl.NumberFormat("de");
      return {
        async wait() { waited = await later.wait(); },
        uses: [() => document.body, () => body.name, () => body.rename(), () => find(), () => deep(), () => found.name, () => next.next,
          () => waited.name, () => nf.format(1), () => Intl.NumberFormat, () => (1).toLocaleString("de"), () => nf.resolvedOptions()],
        other: (node) => node.rename() + node.name,
      };
    })()`,
    { capabilities, permissions: ["document", "later", "Intl"] },
  );
  const { uses, wait, other } = sandbox.exports;
  await wait();
  for (const use of uses) use();
  for (const granted of [capabilities.document, later, Intl]) sandbox.revoke(granted);
  for (const use of uses) assert.throws(() => use(), { name: "SandboxRevokedError" }, String(use));
  assert.equal(other(new Node()), "bodybody"); // an argument, of the class that the document led to
});

test("capabilities: options of the wrong kind are refused in words", () => {
  const { createSandboxSync } = SandboxManager;
  for (const [options, message] of [
    [null, /options of a sandbox are an object/],
    [{ permissions: null }, /permissions: a list of names/],
    [{ permissions: "fetch" }, /permissions: a list of names/],
    [{ limits: null }, /limits: an object is needed/],
    [{ capabilities: null }, /capabilities: an object is needed/],
    [{ permision: ["fetch"] }, /no option permision; there are permissions, limits/],
    [{ limits: { memoryMb: 8 } }, /no limit memoryMb; there are memoryMB/],
  ])
    assert.throws(() => createSandboxSync("lib", "__SANDBOXED_LIB__ = {}", options), { name: "SandboxError", message });
});
