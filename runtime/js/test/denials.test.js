import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { SandboxError, SandboxManager } from "../index.js";
import { thrownBy } from "./sandboxes.js";

const open = (expression, options) => SandboxManager.createSandboxSync("lib", `__SANDBOXED_LIB__ = ${expression}`, options);

test("denials: an error that leaves the sandbox says which grant is missing, and what to do", async () => {
  const { exports } = open(`{
    sync: () => fetch("x"),
    async later() { fetch("x"); },
    caught: () => { try { fetch("x"); } catch (error) { return error.message; } },
    type: () => typeof fetch,
    unknown: () => nothingOfTheKind,
  }`);
  const expected = 'fetch is not defined: the policy of lib does not grant fetch (SBX014). Add "fetch" to its permissions if it may have it';
  const error = thrownBy(() => exports.sync());
  assert.equal(error.constructor, ReferenceError);
  assert.equal(error.message, expected);
  assert.match(error.stack, /^ReferenceError: fetch is not defined: the policy of lib[^\n]*\n\s+at sync/);
  await assert.rejects(exports.later(), { name: "ReferenceError", message: expected });
  assert.equal(exports.caught(), "fetch is not defined");
  assert.equal(exports.type(), "undefined");
  assert.equal(thrownBy(() => exports.unknown()).message, "nothingOfTheKind is not defined");
});

test("denials: what is granted, or is no missing name, is told as it is", () => {
  const { exports } = open(`{
    own() { throw new ReferenceError("fetch is not defined, says the library"); },
    getter() { throw Object.defineProperty(new ReferenceError(), "message", { get: () => "fetch is not defined" }); },
    other() { throw new TypeError("fetch is not defined"); },
  }`);
  assert.equal(thrownBy(() => exports.own()).message, "fetch is not defined, says the library");
  assert.equal(thrownBy(() => exports.getter()).message, "fetch is not defined");
  assert.equal(thrownBy(() => exports.other()).message, "fetch is not defined");
  const granted = open("{ f() { delete globalThis.fetch; return fetch; } }", { permissions: ["fetch"] });
  assert.equal(thrownBy(() => granted.exports.f()).message, "fetch is not defined");
});

test("denials: an error that cannot be changed is told as it is, and a load says it once", () => {
  const { exports } = open("{ f() { try { fetch(1); } catch (error) { throw Object.freeze(error); } } }");
  assert.equal(thrownBy(() => exports.f()).message, "fetch is not defined");
  const { message } = thrownBy(() => open("fetch(1)"));
  assert.equal(message.match(/does not grant/g).length, 1);
});

test("denials: a load that throws what is the library's own says what that was", () => {
  const failure = (source) => thrownBy(() => open(`(() => { ${source} })()`));
  assert.match(failure("class Mine extends Error {}; throw new Mine('why')").message, /while loading in its sandbox: Error: why$/);
  assert.match(failure("class Mine extends Error { get name() { return 'Mine'; } }; throw new Mine('why')").message, /: Mine: why$/);
  const hostile = failure("throw new Proxy(function () {}, { get() { throw 1; }, getPrototypeOf() { throw 1; } })");
  assert.match(hostile.message, /failed while loading in its sandbox: thrown: /);
});

test("denials: what a load threw can be looked at when its sandbox is gone", () => {
  for (const results of ["mirror", "live"]) {
    const causeOf = (source) => thrownBy(() => open(`(() => { ${source} })()`, { results })).cause;
    const own = causeOf(
      "class Mine extends RangeError { name = 'Mine'; code = 7; log() {} }; throw new Mine('why', { cause: new (class extends Error {})('below') })",
    );
    assert.ok(own instanceof RangeError);
    assert.deepEqual([own.name, own.message, own.code, own.cause instanceof Error, own.cause.message], ["Mine", "why", 7, true, "below"]);
    assert.match(own.stack, /lib\.bundle\.js:1/);
    assert.match(inspect(own), /Mine: why/);
    const several = causeOf("class Mine extends Error {}; throw new AggregateError([new Mine('one'), 2, {}], 'both')");
    assert.deepEqual(
      several.errors.map((one) => one.message ?? one),
      ["one", 2, "an object"],
    );
    assert.equal(causeOf("throw { a: 1 }"), "an object that is not an Error");
    assert.equal(causeOf("throw class {}"), "a function");
    assert.equal(causeOf("throw 5"), 5);
    const loop = causeOf("const e = new (class extends Error {})('round'); e.cause = e; throw e");
    assert.match(inspect(loop), /round/);
  }
  const mine = new TypeError("the application's");
  assert.equal(
    thrownBy(() =>
      open("refuse()", {
        permissions: ["refuse"],
        capabilities: {
          refuse: () => {
            throw mine;
          },
        },
      }),
    ).cause,
    mine,
  );
});

test("violations: a name that was denied is reported once", () => {
  const seen = [];
  const { exports } = open("{ f: () => fetch(1), g: () => URL }", { onViolation: (violation) => seen.push(violation) });
  for (const call of [exports.f, exports.f, exports.g]) thrownBy(call);
  assert.deepEqual(
    seen.map(({ stack, ...rest }) => rest),
    [
      { library: "lib", name: "fetch", code: "SBX014" },
      { library: "lib", name: "URL", code: "SBX014" },
    ],
  );
  assert.match(seen[0].stack, /at f \(lib\.bundle\.js:1/);
});

test("violations: report only lets pass what it reports", () => {
  const seen = [];
  const options = {
    permissions: ["URL"],
    capabilities: { store: { get: (key) => `value of ${key}` } },
    onViolation: ({ name, stack }) => seen.push([name, /lib\.bundle\.js/.test(stack)]),
    reportOnly: true,
  };
  const { exports } = open(
    `{
      path: (text) => new URL(text).pathname,
      query: (text) => new URLSearchParams(text).get("a"),
      stored: () => store.get("k"),
      types: () => [typeof structuredClone, typeof nothingOfTheKind, typeof process],
      again: () => new URLSearchParams("a=3").get("a"),
      own() { TextEncoder = 5; return TextEncoder; },
    }`,
    options,
  );
  assert.equal(exports.path("https://example.com/p"), "/p");
  assert.equal(exports.query("a=2"), "2");
  assert.equal(exports.again(), "3");
  assert.equal(exports.stored(), "value of k");
  assert.deepEqual(exports.types(), ["function", "undefined", "object"]);
  assert.equal(exports.own(), 5);
  assert.deepEqual(seen, [
    ["URLSearchParams", true],
    ["store", true],
    ["structuredClone", true],
    ["process", true],
  ]);
});

test("violations: options that cannot be meant are refused", () => {
  assert.match(thrownBy(() => open("{}", { onViolation: "yes" })).message, /onViolation is a function/);
  assert.match(thrownBy(() => open("{}", { reportOnly: true })).message, /needs an onViolation/);
  assert.ok(thrownBy(() => open("{}", { reportOnly: true })) instanceof SandboxError);
});

test("violations: a listener that throws does so to whoever called", () => {
  const { exports } = open("{ f: () => fetch(1) }", {
    onViolation() {
      throw new Error("from the listener");
    },
  });
  assert.match(thrownBy(() => exports.f()).message, /from the listener|is not defined/);
});

test("denials: what the library catches says what it said, also when it has been with the host", () => {
  const { exports } = open(`{
    passed(f) { try { f(() => fetch(1)); } catch (error) { return error.message; } },
    given(f) { try { fetch(1); } catch (error) { f(error); f(error); return error.message; } },
    kept(f) { try { fetch(1); } catch (error) { f(error); error.message += "!"; f(error); return error.message; } },
  }`);
  assert.equal(
    exports.passed((f) => f()),
    "fetch is not defined",
  );
  const messages = [];
  const listen = (error) => messages.push(error.message);
  assert.equal(exports.given(listen), "fetch is not defined");
  for (const message of messages) assert.match(message, /does not grant fetch/);
  assert.equal(exports.kept(listen), "fetch is not defined!");
  assert.equal(messages.at(-1), "fetch is not defined!");
  // What the host says of it goes in, as of every error.
  const changed = exports.given((error) => {
    error.message = "mine";
  });
  assert.equal(changed, "mine");
});

test("violations: a library that freezes or looks into its globals finds in report-only mode what it asks for", () => {
  const seen = [];
  const { exports } = open(
    `{
      freeze() { Object.freeze(globalThis); return [typeof URL, URL === URL, new URL("https://example.com/p").pathname]; },
      getter() { const { get } = Object.getOwnPropertyDescriptor(globalThis, "URLSearchParams"); return [get.call(null), get.call({})].map((found) => typeof found); },
    }`,
    { reportOnly: true, onViolation: (violation) => seen.push(violation) },
  );
  assert.deepEqual(exports.getter(), ["function", "function"]);
  assert.deepEqual(exports.freeze(), ["function", true, "/p"]);
  assert.deepEqual(
    seen.map(({ name }) => name),
    ["URLSearchParams", "URL"],
  );
  for (const { stack } of seen) assert.doesNotMatch(stack, /sandbox-guest/);
  assert.match(seen[1].stack, /lib\.bundle\.js/);
});

test("violations: an error that a library makes up is worth no more than a report of a name that it was not granted", () => {
  const seen = [];
  const { exports } = open(
    `{ forge(name) { throw new ReferenceError(name + " is not defined"); }, getter() { throw Object.defineProperty(new ReferenceError(), "message", { get: () => "fetch is not defined" }); } }`,
    { permissions: ["URL"], onViolation: ({ name }) => seen.push(name) },
  );
  for (const name of ["URL", "noSuchGlobal", "a b", "fetch", "fetch"]) thrownBy(() => exports.forge(name));
  thrownBy(() => exports.getter());
  assert.deepEqual(seen, ["fetch"]);
});

// What README.md and index.d.ts say that it hears.
const heard = {
  "a call that fails": [true, "() => fetch(1)"],
  "a promise that is rejected": [true, "async () => { await 0; fetch(1); }"],
  "an error that is returned": [true, "() => { try { fetch(1); } catch (error) { return error; } }"],
  "an error in what is returned": [true, "() => { try { fetch(1); } catch (error) { return { failed: [error] }; } }"],
  "an error as the cause of another": [true, "() => { try { fetch(1); } catch (cause) { throw new Error('mine', { cause }); } }"],
  "an error that a callback is given": [true, "(tell) => { try { fetch(1); } catch (error) { tell(error); } }"],
  "a getter that fails": [true, "() => ({ get a() { return fetch(1); } })", (made) => made.a],
  "a look": [false, "() => [typeof fetch, 'fetch' in globalThis, globalThis.fetch]"],
  "an error that is caught": [false, "() => { try { fetch(1); } catch (error) { return error.message; } }"],
  "another error in its place": [false, "() => { try { fetch(1); } catch (error) { throw new Error(error.message); } }"],
  "a member of the global object that is called": [false, "() => globalThis.fetch(1)"],
  "a rejection that stays inside": [false, "async () => { (async () => fetch(1))(); await 0; await 0; }"],
};

test("violations: what is heard is the ReferenceErrors that leave the sandbox, in whatever way", async () => {
  for (const [what, [wanted, source, use = () => {}]] of Object.entries(heard)) {
    const seen = [];
    const { exports } = open(`{ f: ${source} }`, { onViolation: ({ name }) => seen.push(name) });
    try {
      use(await exports.f(() => {}));
    } catch {
      // it is about what is heard
    }
    assert.deepEqual(seen, wanted ? ["fetch"] : [], what);
  }
  const loading = [];
  thrownBy(() => SandboxManager.createSandboxSync("lib", "fetch(1)", { onViolation: ({ name }) => loading.push(name) }));
  assert.deepEqual(loading, ["fetch"]);
});
