// Sandboxes that go on from an image: they are what evaluated ones are, and share nothing.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { hashNow } from "../hash.js";
import { loadBundle, SandboxError, SandboxManager } from "../index.js";
import { Instance } from "../instance.js";
import { sha256 } from "../sha256.js";
import { compiledNow } from "../wasm.js";
import { thrownBy } from "./sandboxes.js";

let count = 0;

/** Makes sandboxes of one library, which has a name of its own unless it is given one. */
function maker(t, expression, options = {}) {
  const code = `var __SANDBOXED_LIB__ = (() => { "use strict"; return (${expression}); })();`;
  const name = `library${count++}`;
  return (more = {}) => {
    const sandbox = SandboxManager.createSandboxSync(name, code, { snapshot: true, ...options, ...more });
    t.after(() => sandbox.dispose());
    return sandbox;
  };
}

const isRestored = (sandbox) => sandbox.stats().restored;

test("snapshot: the first sandbox is evaluated, and later ones go on from it", (t) => {
  const make = maker(t, `{ n: 0, up() { return ++this.n; }, Thing: class { id = 7; }, list: [1, { two: 2 }] }`);
  const first = make();
  assert.equal(first.exports.up(), 1);
  const second = make();
  assert.deepEqual([isRestored(first), isRestored(second)], [false, true]);
  // What the first has done since is its own, and so is what the second does.
  assert.equal(second.exports.up(), 1);
  assert.equal(second.exports.up(), 2);
  assert.equal(first.exports.up(), 2);
  assert.equal(new second.exports.Thing().id, 7);
  assert.ok(!(new second.exports.Thing() instanceof first.exports.Thing));
  assert.deepEqual(second.value("list"), [1, { two: 2 }]);
});

test("snapshot: without the option every sandbox is evaluated", (t) => {
  const make = maker(t, `{}`, { snapshot: false });
  make();
  const { restored, unkept } = make().stats();
  assert.deepEqual([restored, unkept], [false, undefined]);
  assert.match(thrownBy(() => make({ snapshot: "yes" })).message, /^snapshot: true or false is needed, not yes$/);
});

test("snapshot: another library, other permissions or other limits are another image", (t) => {
  const make = maker(t, `{ types: () => typeof setTimeout + typeof URL }`, { permissions: ["URL"] });
  make();
  assert.equal(isRestored(make()), true);
  for (const more of [{ permissions: ["setTimeout"] }, { permissions: [] }, { limits: { memoryMB: 32 } }, { limits: { stackKB: 32 } }, { results: "live" }])
    assert.equal(isRestored(make(more)), false, JSON.stringify(more));
  assert.equal(make({ permissions: ["setTimeout"] }).exports.types(), "functionundefined");
  assert.equal(make().exports.types(), "undefinedfunction");
});

test("snapshot: Math.random goes its own way in every sandbox", (t) => {
  const make = maker(t, `{ draw: () => [Math.random(), Math.random(), Math.random()] }`);
  const draws = [];
  for (let i = 0; i < 4; i++) {
    const sandbox = make();
    draws.push(...sandbox.exports.draw());
    if (i > 1) sandbox.dispose();
  }
  assert.equal(new Set(draws).size, 12, draws.join());
  for (const number of draws) assert.ok(number >= 0 && number < 1);
});

test("snapshot: two processes draw other numbers", async () => {
  const script = `
    import { SandboxManager } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
    const make = () => SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { draw: () => Math.random() }", { snapshot: true });
    console.log(JSON.stringify([make(), make()].map((s) => s.exports.draw())));`;
  const run = async () => JSON.parse((await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])).stdout);
  const draws = [...(await run()), ...(await run())];
  assert.equal(new Set(draws).size, 4, draws.join());
});

test("snapshot: the clocks go on", async (t) => {
  const make = maker(t, `{ loaded: performance.now(), now: () => performance.now(), date: () => Date.now(), made: () => new Date().getTime() }`);
  make();
  await new Promise((resolve) => setTimeout(resolve, 60));
  const before = Date.now();
  const sandbox = make();
  assert.equal(isRestored(sandbox), true);
  const { loaded } = sandbox.exports;
  const start = sandbox.exports.now();
  assert.ok(start >= loaded, `${start} is not before ${loaded}`);
  for (const time of [sandbox.exports.date(), sandbox.exports.made()]) assert.ok(time >= before && time <= Date.now());
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(sandbox.exports.now() - start >= 15);
});

test("snapshot: a granted global is the one that there is now", (t) => {
  const make = maker(
    t,
    `{ ask: (x) => service.answer(x), type: typeof service, later: () => [typeof crypto.randomUUID, crypto.getRandomValues(new Uint8Array(8)).join()] }`,
    {
      permissions: ["service", "crypto", "Intl", "console"],
    },
  );
  const given = (word) => ({ capabilities: { service: { answer: (x) => `${word} ${x}` } } });
  make(given("first"));
  const mine = given("second");
  const second = make(mine);
  const third = make(given("third"));
  assert.deepEqual([second, third].map(isRestored), [true, true]);
  assert.equal(second.exports.ask(1), "second 1");
  assert.equal(third.exports.ask(2), "third 2");
  assert.notDeepEqual(second.exports.later(), third.exports.later());
  const { service } = mine.capabilities;
  second.revoke(service);
  assert.throws(() => second.exports.ask(1), /taken back/);
  assert.equal(third.exports.ask(2), "third 2");
});

test("snapshot: what is granted in another shape is evaluated", (t) => {
  const make = maker(t, `{ type: typeof service, same: () => typeof service === "object" && service === other }`, { permissions: ["service", "other"] });
  const shared = { a: 1 };
  const shapes = [
    { service: { a: 1 }, other: { b: 2 } },
    { service: shared, other: shared },
    { service: () => 1, other: {} },
    { service: class {}, other: {} },
    { service: [], other: {} },
    { service: 5, other: {} },
    { service: 6, other: {} },
    { service: undefined, other: {} },
    { service: null, other: {} },
    { service: Map, other: {} },
    { service: Set, other: {} },
  ];
  for (const capabilities of shapes) {
    const sandbox = make({ capabilities });
    assert.equal(isRestored(sandbox), false);
    const { service, other } = capabilities;
    assert.equal(sandbox.exports.type, service === null ? "object" : typeof service);
    assert.equal(sandbox.exports.same(), service === other);
    const again = make({ capabilities });
    assert.equal(isRestored(again), true);
    assert.equal(again.exports.same(), service === other);
  }
});

test("snapshot: a library that goes beyond looking for what it is granted has no image", (t) => {
  const options = { permissions: ["service", "crypto"], capabilities: { service: { id: 5, f: () => 1 } } };
  for (const [expression, unkept] of Object.entries({
    "{ id: service.id }": /used what it is granted/,
    "{ f: service.f() }": /used what it is granted/,
    '{ has: "id" in service }': /used what it is granted/,
    "{ pool: crypto.getRandomValues(new Uint8Array(4)) }": /used what it is granted/,
    "{ id: Math.random() }": /drew from Math\.random/,
    5: /exports no object/,
    '{ type: typeof service, there: "service" in globalThis, uuid: typeof crypto.randomUUID, service: globalThis.service }': undefined,
  })) {
    const make = maker(t, expression, options);
    const first = make();
    if (unkept === undefined) assert.equal(first.stats().unkept, undefined, expression);
    else assert.match(first.stats().unkept, unkept, expression);
    assert.equal(isRestored(make()), unkept === undefined, expression);
  }
  const make = maker(t, "{}");
  for (const more of [{ reportOnly: true, onViolation() {} }, { marshallers: [idle] }]) {
    make(more);
    const { restored, unkept } = make(more).stats();
    assert.deepEqual([restored, typeof unkept], [false, "string"]);
  }
});

const idle = { isWrappable: () => false, isHandleWrappable: () => false, marshal() {}, unmarshal() {}, dispose() {} };

test("snapshot: what a load left to do is done in every sandbox", async (t) => {
  const make = maker(
    t,
    `(() => { const said = []; Promise.resolve().then(() => said.push("later")); return { said: () => said.join(), wait: async () => "waited" }; })()`,
  );
  for (const sandbox of [make(), make(), make()]) {
    assert.equal(await sandbox.exports.wait(), "waited");
    assert.equal(sandbox.exports.said(), "later");
  }
});

test("snapshot: limits hold, and an instance that died serves nobody", (t) => {
  const make = maker(
    t,
    `{ spin() { for (;;); }, fill() { const all = []; for (;;) all.push(new Array(1000).fill(0)); }, deep: (n) => n && 1 + make.deep(n - 1), one: () => 1 }`,
    {
      limits: { timeoutMs: 100, memoryMB: 16 },
    },
  );
  make();
  for (let i = 0; i < 3; i++) {
    const [slow, large, well] = [make(), make(), make()];
    assert.ok([slow, large, well].every(isRestored));
    assert.equal(thrownBy(() => slow.exports.spin()).limit, "time");
    assert.equal(thrownBy(() => large.exports.fill()).limit, "memory");
    assert.equal(well.exports.one(), 1);
    assert.equal(thrownBy(() => slow.exports.one()).name, "SandboxDeadError");
    well.dispose();
  }
  assert.equal(make().exports.one(), 1);
});

test("snapshot: nothing of one guest is left for the next in its instance", (t) => {
  const secret = "a secret that is nobody else's 5f3a";
  const holder = maker(
    t,
    `{ fill(text) { globalThis.kept = Array.from({ length: 20 }, (_, i) => text + i); const deep = (n) => n ? deep(n - 1) + text.length : 0; return deep(100); } }`,
  );
  const other = maker(t, `{ one: () => 1 }`);
  other();
  holder();
  const first = holder();
  first.exports.fill(secret);
  first.dispose();
  // The instance that it had is the one that is taken next.
  const found = [];
  const { load } = Instance.prototype;
  Instance.prototype.load = function (image) {
    const holds = () => Buffer.from(this.exports.memory.buffer).includes(secret);
    const before = holds();
    Reflect.apply(load, this, [image]);
    found.push(before, holds());
  };
  t.after(() => {
    Instance.prototype.load = load;
  });
  assert.equal(other().exports.one(), 1);
  assert.deepEqual(found, [true, false]);
});

test("snapshot: a fresh instance has nothing below its stack's end", () => {
  const { memory, __stack_pointer } = new Instance(compiledNow()).exports;
  assert.ok(new Uint8Array(memory.buffer, 0, __stack_pointer.value).every((byte) => byte === 0));
});

test("snapshot: the engine has one global, its stack pointer", () => {
  const bytes = readFileSync(new URL("../node_modules/quickjs-wasi/quickjs.wasm", import.meta.url));
  let at = 8;
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = number() + at;
    if (section === 6) assert.equal(number(), 1, "globals");
    at = end;
  }
});

test("hashes: SHA-256 is what Node says it is", () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Uint8Array.from({ length: length < 200 ? length : length * 97 }, (_, i) => (i * 31 + length) & 255);
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), hashNow(bytes), `${bytes.length} bytes`);
  }
});

test("hashes: a bundle or an engine with another byte is refused", async (t) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "sandbox-")), "lib.bundle.js");
  const code = "__SANDBOXED_LIB__ = { one: () => 1 }";
  writeFileSync(file, code);
  const from = { node: pathToFileURL(file), browser: "/", sha256: hashNow(Buffer.from(code)) };
  assert.equal(await loadBundle(from), code);
  writeFileSync(file, code.replace("1", "2"));
  const refused = await loadBundle(from).catch((error) => error);
  assert.ok(refused instanceof SandboxError);
  assert.match(refused.message, /lib\.bundle\.js is not what sandbox-lsp built, since its hash is not the one in its proxy \(SBX045\)/);

  const engine = hashNow(readFileSync(new URL("../node_modules/quickjs-wasi/quickjs.wasm", import.meta.url)));
  const sandbox = await SandboxManager.createSandbox("lib", code, { engine });
  t.after(() => sandbox.dispose());
  assert.equal(sandbox.exports.one(), 1);
  const other = { engine: engine.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) };
  for (const failure of [
    await SandboxManager.createSandbox("lib", code, other).catch((error) => error),
    thrownBy(() => SandboxManager.createSandboxSync("lib", code, other)),
  ]) {
    assert.ok(failure instanceof SandboxError);
    assert.match(failure.message, /^the QuickJS engine that is loaded is not the one that lib was built for, .* \(SBX045\)/);
  }
});
