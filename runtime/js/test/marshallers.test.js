import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { SandboxError, SandboxManager } from "../index.js";
import { thrownBy } from "./sandboxes.js";

class Money {
  #cents;
  constructor(cents) {
    this.#cents = cents;
  }
  get cents() {
    return this.#cents;
  }
}

/** Carries Money over as the library's own Coin, and back. */
function moneyMarshaller(log = []) {
  let sandbox;
  return {
    log,
    attach: (made) => {
      sandbox = made;
    },
    isWrappable: (value) => value instanceof Money,
    marshal: (money) => new sandbox.exports.Coin(money.cents),
    isHandleWrappable: (handle) => typeof handle === "object" && sandbox !== undefined && handle instanceof sandbox.exports.Coin,
    unmarshal: (coin) => new Money(coin.cents),
    dispose: () => log.push("disposed"),
  };
}

const source = `__SANDBOXED_LIB__ = (() => {
  class Coin { constructor(cents) { this.cents = cents; } }
  return { Coin, double: (coin) => new Coin(coin.cents * 2), isCoin: (x) => x instanceof Coin, list: (coins) => coins.map((c) => c.cents).join(), wrap: (c) => ({ list: [c] }), plain: () => ({ a: 1 }) };
})()`;

function open(...marshallers) {
  const sandbox = SandboxManager.createSandboxSync("lib", source, { marshallers });
  for (const marshaller of marshallers) marshaller.attach?.(sandbox);
  return sandbox;
}

test("marshallers: a host class is the library's own inside, and a host class again outside", () => {
  const { exports } = open(moneyMarshaller());
  assert.equal(exports.isCoin(new Money(5)), true);
  assert.equal(exports.list([new Money(1), new Money(2)]), "1,2");
  const doubled = exports.double(new Money(21));
  assert.ok(doubled instanceof Money);
  assert.equal(doubled.cents, 42);
  assert.ok(exports.wrap(new Money(3)).list[0] instanceof Money);
  assert.deepEqual(exports.plain(), { a: 1 });
});

test("marshallers: the first that wants a value has it, before what is built in", () => {
  const asText = {
    isWrappable: (value) => value instanceof Date,
    marshal: (date) => ({ iso: date.toISOString() }),
    isHandleWrappable: () => false,
    unmarshal: () => assert.fail("nothing was to be unmarshalled"),
    dispose() {},
  };
  const never = { ...asText, marshal: () => assert.fail("the first has it") };
  const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { iso: (d) => d.iso, isDate: (d) => d instanceof Date }", {
    marshallers: [asText, never],
  });
  assert.equal(sandbox.exports.iso(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.equal(sandbox.exports.isDate(new Date(0)), false);
});

test("marshallers: each is disposed of once, whatever ends the sandbox", () => {
  for (const end of [(s) => s.dispose(), (s) => s.revoke(), (s) => (s.dispose(), s.dispose())]) {
    const marshaller = moneyMarshaller();
    const sandbox = open(marshaller);
    end(sandbox);
    assert.deepEqual(marshaller.log, ["disposed"]);
  }
});

test("marshallers: what one throws is thrown to the caller, and the sandbox lives", () => {
  const bad = { ...moneyMarshaller(), attach() {}, isHandleWrappable: () => false, marshal: () => 5 };
  const sandbox = open(bad);
  assert.match(thrownBy(() => sandbox.exports.isCoin(new Money(1))).message, /gives an object, array or function of another kind/);
  bad.marshal = () => {
    throw new RangeError("mine");
  };
  assert.equal(thrownBy(() => sandbox.exports.isCoin(new Money(1))).message, "mine");
  assert.deepEqual(sandbox.exports.plain(), { a: 1 });
});

test("marshallers: one that never comes to an end, or throws whatever it is asked, ends nothing", () => {
  const endless = { ...moneyMarshaller(), attach() {}, isHandleWrappable: () => false, marshal: ({ cents }) => new Money(cents) };
  const sandbox = open(endless);
  assert.match(thrownBy(() => sandbox.exports.isCoin(new Money(1))).message, /of another kind/);
  let angry = false;
  const always = {
    ...endless,
    isWrappable() {
      if (angry) throw new RangeError("mine");
      return false;
    },
  };
  const other = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { call: (f) => { try { return f(); } catch (e) { return String(e); } } }", {
    marshallers: [always],
  });
  const { call } = other.exports;
  const made = () => {
    angry = true;
    return {};
  };
  assert.match(call(made), /cannot go into the sandbox/);
  angry = false;
  assert.equal(
    call(() => 1),
    1,
  );
});

test("marshallers: where arguments are data, what one carries over is let in", () => {
  const marshaller = moneyMarshaller();
  const sandbox = SandboxManager.createSandboxSync("lib", source, { marshallers: [marshaller], arguments: "data" });
  marshaller.attach(sandbox);
  assert.equal(sandbox.exports.isCoin(new Money(5)), true);
});

test("marshallers: one that is not whole is refused", () => {
  const error = thrownBy(() => open({ ...moneyMarshaller(), dispose: undefined }));
  assert.ok(error instanceof SandboxError);
  assert.match(error.message, /five functions .* no dispose/);
  assert.match(thrownBy(() => SandboxManager.createSandboxSync("lib", source, { marshallers: {} })).message, /a list/);
});

/** The same, with what a marshaller is given. */
const byContext = {
  isWrappable: (value) => value instanceof Money,
  marshal: (money, context) => context.createInstance("Coin", [money.cents]),
  isHandleWrappable: (handle, context) => context.isInstance(handle, "Coin"),
  unmarshal: (coin) => new Money(coin.cents),
  dispose() {},
};

test("marshallers: what they are given makes and knows the library's classes, and is there while it loads", () => {
  const { exports } = open(byContext);
  assert.equal(exports.double(new Money(21)).cents, 42);
  assert.equal(exports.isCoin(new Money(1)), true);
  assert.deepEqual(exports.plain(), { a: 1 });
  const logged = [];
  const options = { marshallers: [byContext], permissions: ["log"], capabilities: { log: (value) => logged.push(value) } };
  SandboxManager.createSandboxSync("lib", "log({ a: 1 }); __SANDBOXED_LIB__ = {}", options).dispose();
  assert.deepEqual(logged, [{ a: 1 }]);
  const early = { ...options, capabilities: { log: () => new Money(1) } };
  assert.match(thrownBy(() => SandboxManager.createSandboxSync("lib", "log()", early)).message, /lib has not loaded yet/);
  assert.equal(thrownBy(() => SandboxManager.createSandboxSync("lib", "throw new Error('why')", options)).cause.message, "why");
});

test("marshallers: a library that poses as another class is taken at its word, and no more than that", () => {
  let handle;
  const sandbox = SandboxManager.createSandboxSync(
    "lib",
    `__SANDBOXED_LIB__ = {
      Coin: class Coin { constructor(cents) { this.cents = cents; } static [Symbol.hasInstance](x) { return typeof x === "object"; } },
      pose: () => ({ get cents() { throw new RangeError("no cents"); } }),
      loop: () => new Proxy({}, { getPrototypeOf() { for (;;); }, get() { for (;;); } }),
    }`,
    {
      limits: { timeoutMs: 100 },
      marshallers: [
        {
          ...byContext,
          unmarshal(coin) {
            handle = coin;
            return new Money(coin.cents);
          },
        },
      ],
    },
  );
  assert.equal(thrownBy(() => sandbox.exports.pose()).message, "no cents");
  assert.equal(typeof handle, "object");
  assert.throws(() => sandbox.exports.loop(), { name: "SandboxLimitError", limit: "time" });
  assert.throws(() => handle.cents, { name: "SandboxDeadError" });
});

test("marshallers: one that fails to be disposed of is heard of, after everything is over", async () => {
  const failing = () => ({
    ...moneyMarshaller(),
    dispose() {
      throw new RangeError("mine");
    },
  });
  const last = moneyMarshaller();
  const sandbox = open(failing(), last);
  const error = thrownBy(() => sandbox.dispose());
  assert.equal(error.name, "SandboxError");
  assert.equal(error.message, "the dispose() of a marshaller of lib failed: RangeError: mine");
  assert.equal(error.cause.message, "mine");
  assert.deepEqual(last.log, ["disposed"]);
  assert.throws(() => sandbox.exports, { name: "SandboxDisposedError" });
  sandbox.dispose();
  assert.equal(thrownBy(() => open(failing(), failing()).revoke()).cause.errors.length, 2);

  const limits = { timeoutMs: 50, memoryMB: 8 };
  const spins =
    "__SANDBOXED_LIB__ = { spin() { for (;;); }, eat() { for (const all = []; ; ) all.push(new Array(1000).fill(0)); }, later: async () => { await 0; for (;;); } }";
  for (const [name, limit] of Object.entries({ spin: "time", eat: "memory" })) {
    const dying = SandboxManager.createSandboxSync("lib", spins, { limits, marshallers: [failing()] });
    const ended = thrownBy(() => dying.exports[name]());
    assert.match(ended.message, /^the dispose\(\) of a marshaller of lib failed: RangeError: mine, after the sandbox of lib was stopped: it /);
    assert.equal(ended.cause.name, "SandboxLimitError");
    assert.equal(ended.cause.limit, limit);
    assert.throws(() => dying.exports, { name: "SandboxDeadError" });
  }
  const loading = thrownBy(() => SandboxManager.createSandboxSync("lib", "throw new Error('why')", { marshallers: [failing()] }));
  assert.match(loading.cause.message, /^lib failed while loading in its sandbox: Error: why/);
});

test("marshallers: one that fails to be disposed of in a job is heard of by the process", () => {
  const script = `
    import { SandboxManager } from "./index.js";
    process.on("uncaughtException", (error) => console.log("heard", error.message, error.cause.limit));
    const marshaller = { isWrappable: () => false, marshal() {}, isHandleWrappable: () => false, unmarshal() {}, dispose() { throw new RangeError("mine"); } };
    const sandbox = SandboxManager.createSandboxSync("lib", "__SANDBOXED_LIB__ = { later: async () => { await 0; for (;;); } }", { limits: { timeoutMs: 50 }, marshallers: [marshaller] });
    await sandbox.exports.later().catch((reason) => console.log("told", reason.name));`;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: new URL("..", import.meta.url), encoding: "utf8" });
  assert.match(said, /^heard the dispose\(\) of a marshaller of lib failed: RangeError: mine.* time$/m);
  assert.match(said, /^told SandboxLimitError$/m);
});
