import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { rulesOf } from "../attenuation.js";
import { sandboxOf } from "./sandboxes.js";

// The same table that the policy's reader of rules is held to.
const table = JSON.parse(readFileSync(new URL("../../../policy/attenuation/testdata/match.json", import.meta.url)));

for (const [name, { global, pattern, yes, no }] of Object.entries(table)) {
  test(`attenuation: ${name}`, () => {
    let allowed;
    try {
      allowed = rulesOf(global, [pattern]);
    } catch (error) {
      assert.equal(error.name, "SandboxError");
      assert.equal((yes ?? []).length, 0, error.message);
      return;
    }
    const isAddress = global === "fetch" || global === "WebSocket";
    // The host's parser has written every address out before it is compared.
    const written = (text) => new URL(global === "WebSocket" ? text.replace(/^http/, "ws") : text).href;
    for (const text of yes ?? []) assert.ok(allowed(isAddress ? written(text) : text), text);
    for (const text of no ?? []) if (!isAddress || (URL.canParse(text) && written(text) === text)) assert.ok(!allowed(text), text);
  });
}

/** A server on loopback that notes what it is asked. */
async function serve(t) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [, status, to] = /^\/api\/(30\d)\/(.*)$/.exec(request.url) ?? [];
    if (status) return response.writeHead(Number(status), { location: `/${to}` }).end();
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => response.end(`${request.url} ${body}`));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { origin: `http://127.0.0.1:${server.address().port}`, asked };
}

const fetching = `{
  get: async (url, init) => (await fetch(url, init)).text(),
  run: (source) => (0, eval)(source),
}`;

test("attenuation: fetch reaches the addresses of its rules, redirects included, and no others", async (t) => {
  const { origin, asked } = await serve(t);
  const { exports } = await sandboxOf(t, fetching, { permissions: [{ name: "fetch", allow: [`${origin}/api/*`] }] });
  assert.equal(await exports.get(`${origin}/api/a?b`), "/api/a?b ");
  assert.equal(await exports.get(`${origin}/api/302/api/b`), "/api/b ");
  assert.equal(await exports.get(`${origin}/api/307/api/c`, { method: "POST", body: "sent" }), "/api/c sent");
  assert.equal(await exports.get(`${origin}/api/303/api/d`, { method: "POST", body: "sent" }), "/api/d ");
  asked.length = 0;
  for (const path of ["/other", "/api/../other", "/api/%2e%2e/other", "/api/..%2fother"]) {
    await assert.rejects(exports.get(`${origin}${path}`), { name: "TypeError", message: /is not allowed: the policy narrows fetch/ }, path);
  }
  await assert.rejects(exports.get(`${origin.replace("127.0.0.1", "localhost")}/api/a`), TypeError);
  assert.deepEqual(asked, [], "nothing was asked that is not allowed");
  await assert.rejects(exports.get(`${origin}/api/302/other`), /is not allowed/);
  assert.deepEqual(asked, ["GET /api/302/other"], "and no redirect was followed to it");
});

test("attenuation: a guest finds no way around a narrowed fetch", async (t) => {
  const { origin, asked } = await serve(t);
  const { exports } = await sandboxOf(t, fetching, { permissions: [{ name: "fetch", allow: [`${origin}/api/*`] }, "Request", "Response"] });
  const target = JSON.stringify(`${origin}/other`);
  for (const source of [
    `fetch(new Request(${target}))`,
    `fetch({ toString: (() => { let n = 0; return () => n++ ? ${target} : "${origin}/api/a"; })() })`,
    `fetch.bind(null)(${target})`,
    `Reflect.apply(fetch, undefined, [${target}])`,
    `delete globalThis.fetch, globalThis.fetch?.(${target})`,
    `new fetch.constructor("u", "return fetch(u)")(${target})`,
  ]) {
    await exports.run(`Promise.resolve((() => { try { return ${source}; } catch {} })()).catch(() => {}).then(() => 1)`);
  }
  assert.deepEqual(
    asked.filter((line) => line.includes("/other")),
    [],
  );
});

test("attenuation: the whole of a narrowed global is not reached through what else the guest is given", async (t) => {
  const whole = { fetch };
  const { exports } = await sandboxOf(t, "{ same: (f) => f === fetch, call: (f, url) => f(url) }", {
    permissions: [{ name: "fetch", allow: ["https://a.example/*"] }],
  });
  assert.equal(exports.same(whole.fetch), true);
  await assert.rejects(exports.call(whole.fetch, "https://b.example/"), /is not allowed/);
});

test("attenuation: WebSocket is compared before it connects, and its instances lead to no other", async (t) => {
  const made = [];
  class WebSocket {
    static OPEN = 1;
    constructor(url) {
      made.push(url);
    }
    send() {}
  }
  const { exports } = await sandboxOf(t, "{ run: (source) => (0, eval)(source) }", {
    permissions: [{ name: "WebSocket", allow: ["wss://live.example/*"] }],
    capabilities: { WebSocket },
  });
  assert.equal(exports.run("new WebSocket('https://live.example/room') instanceof WebSocket && WebSocket.OPEN"), 1);
  for (const source of ["new WebSocket('wss://other.example/')", "new (new WebSocket('wss://live.example/').constructor)('wss://other.example/')"]) {
    assert.throws(() => exports.run(source), { name: "TypeError", message: /WebSocket of wss:\/\/other\.example\/ is not allowed/ });
  }
  assert.deepEqual(made, ["wss://live.example/room", "wss://live.example/"]);
});

test("attenuation: a storage shows the keys of its rules and hides the others", async (t) => {
  const entries = new Map([
    ["mylib:a", "1"],
    ["secret", "2"],
  ]);
  const localStorage = {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => entries.set(key, value),
    removeItem: (key) => entries.delete(key),
    clear: () => entries.clear(),
    key: (i) => [...entries.keys()][i] ?? null,
    get length() {
      return entries.size;
    },
  };
  const { exports } = await sandboxOf(t, "{ run: (source) => (0, eval)(source) }", {
    permissions: [{ name: "localStorage", allow: ["mylib:*"] }],
    capabilities: { localStorage },
  });
  assert.equal(exports.run("localStorage.getItem('mylib:a') + localStorage['mylib:a']"), "11");
  assert.equal(exports.run("localStorage.getItem('secret')"), null);
  assert.equal(exports.run("localStorage.secret"), undefined);
  assert.equal(exports.run("localStorage.length + localStorage.key(0)"), "1mylib:a");
  assert.deepEqual(exports.run("[Reflect.ownKeys(localStorage), Object.entries(localStorage), JSON.stringify(localStorage)]"), [
    ["mylib:a"],
    [["mylib:a", "1"]],
    '{"mylib:a":"1"}',
  ]);
  // What it says that it has, it has.
  const told = `(keys) => keys.filter((key) => key in localStorage).filter((key) => localStorage[key] === undefined)`;
  const keys = ["getItem", "length", "toString", "hasOwnProperty", "constructor", "secret", "mylib:a", "event"];
  assert.deepEqual(exports.run(`(${told})(${JSON.stringify(keys)})`), []);
  assert.deepEqual(exports.run("['mylib:a', 'secret', 'getItem'].map((key) => localStorage.hasOwnProperty(key))"), [true, false, false]);
  assert.throws(() => exports.run("localStorage.setItem('secret', 'x')"), /the key "secret" of localStorage is not allowed/);
  exports.run("localStorage['mylib:b'] = 3; localStorage.setItem('mylib:c', 4); localStorage.removeItem('mylib:a')");
  assert.deepEqual(
    [...entries],
    [
      ["secret", "2"],
      ["mylib:b", "3"],
      ["mylib:c", "4"],
    ],
  );
  exports.run("localStorage.clear()");
  assert.deepEqual([...entries], [["secret", "2"]]);
});

test("attenuation: of an object that is narrowed to members, the guest has those and no way to the rest", async (t) => {
  class Device {
    #language = "de";
    get language() {
      return this.#language;
    }
    speak(word) {
      return `${word} (${this.#language})`;
    }
    get secret() {
      return "secret";
    }
    change() {
      this.#language = "fr";
    }
  }
  const navigator = new Device();
  const { exports } = await sandboxOf(
    t,
    `{
      read: () => [navigator.language, navigator.speak("ja"), typeof navigator.secret, Reflect.ownKeys(navigator).join()],
      same: () => navigator.speak === navigator.speak,
      write() { "use strict"; try { navigator.language = "x"; } catch {} try { navigator.more = 1; } catch {} return [navigator.language, navigator.more]; },
      walk() {
        const found = [];
        const look = (what, f) => { try { const v = f(); if (v !== undefined && v !== null) found.push(what); } catch {} };
        look("prototype", () => Object.getPrototypeOf(navigator));
        look("constructor", () => navigator.constructor);
        look("call", () => navigator.speak.call({ secret: 1 }).secret);
        look("getter", () => Object.getOwnPropertyDescriptor(navigator, "language").get.call(1).secret);
        look("bind", () => navigator.speak.constructor.prototype.secret);
        return found;
      },
    }`,
    { permissions: [{ name: "navigator", allow: ["language", "speak"] }], capabilities: { navigator } },
  );
  assert.deepEqual(exports.read(), ["de", "ja (de)", "undefined", "language,speak"]);
  assert.equal(exports.same(), true);
  assert.deepEqual(exports.write(), ["de", undefined]);
  assert.deepEqual(exports.walk(), []);
  navigator.change();
  assert.equal(exports.read()[0], "fr");
});
