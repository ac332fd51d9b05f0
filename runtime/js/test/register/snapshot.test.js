// What a build writes for a library with `snapshot`: bytecode, and the hashes of all that runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { binary, makeShop, node } from "../bundlers/shop.js";

const PROXY = ".sandbox/proxys/lodash-proxy.js";

/** A built project whose app.mjs says what a sandbox of lodash is like. */
function makeBuilt(t) {
  const shop = makeShop({
    "app.mjs": `
      import { Engine } from "./node_modules/@sandbox-lsp/runtime/engine.js";
      import { SandboxManager, loadBundle } from "@sandbox-lsp/runtime";
      let compiled = 0;
      const { runBits } = Engine.prototype;
      Engine.prototype.runBits = function (bytecode) { compiled++; return Reflect.apply(runBits, this, [bytecode]); };
      const { __sandbox, default: _ } = await import("./${PROXY}");
      const code = await loadBundle({ node: new URL("dist/lodash.bundle.js", import.meta.url) });
      const bare = SandboxManager.createSandboxSync("lodash", code + "\\n").exports;
      let stacks = [_, bare].map((library) => { try { library.template("<% throw new Error(1) %>")(); } catch (error) { return error.stack; } });
      const same = (f) => f(_) === f(bare);
      console.log(JSON.stringify({
        compiled, chunks: _.chunk([1, 2, 3], 2), image: __sandbox.stats().unkept === undefined,
        sources: Object.keys(bare).every((key) => same((library) => String(library[key]))), stacks: stacks[0] === stacks[1],
      }));`,
  });
  t.after(shop.remove);
  const policy = ".sandbox/sandbox.config.js";
  shop.write(policy, shop.read(policy).replace("lodash: {", "lodash: {\n    snapshot: true,"));
  execFileSync(binary, ["build", shop.root]);
  const at = (file) => path.join(shop.root, file);
  const run = async () => {
    const { ok, said } = await node(shop.root, ["app.mjs"]);
    return { ok, said, shown: ok ? JSON.parse(said.split("\n").find((line) => line.startsWith("{"))) : undefined };
  };
  const change = (file, how) => {
    const before = readFileSync(at(file));
    writeFileSync(at(file), how(Buffer.from(before)));
    return () => writeFileSync(at(file), before);
  };
  return { at, run, change };
}

const flip = (bytes) => {
  bytes[bytes.length - 1] ^= 1;
  return bytes;
};

test("snapshot: a built library starts from bytecode, and is what it is from source", async (t) => {
  const { at, run, change } = makeBuilt(t);
  const whole = { compiled: 1, chunks: [[1, 2], [3]], image: true, sources: true, stacks: true };
  const first = await run();
  assert.deepEqual(first.shown, whole, first.said);
  const { libraries, engine } = JSON.parse(readFileSync(at("dist/sandbox-manifest.json"), "utf8"));
  const [dayjs, lodash] = ["dayjs", "lodash"].map((name) => libraries.find(({ request }) => request === name));
  assert.equal(dayjs.bytecode, undefined);
  const proxy = readFileSync(at(PROXY), "utf8");
  for (const hash of [lodash.bundle.sha256, lodash.bytecode.sha256, engine.sha256]) assert.ok(proxy.includes(`"${hash}"`));

  for (const file of ["dist/lodash.bundle.js", "dist/lodash.bytecode.bin"]) {
    const restore = change(file, flip);
    const { ok, said } = await run();
    assert.ok(!ok);
    assert.match(said, new RegExp(`SandboxError: the \\w+ .*${file} is not what sandbox-lsp built, .*\\(SBX045\\)`));
    restore();
  }

  // That of another engine, for which the proxy was made as well.
  const sum = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const other = Buffer.concat([Buffer.from("0".repeat(64)), readFileSync(at("dist/lodash.bytecode.bin")).subarray(64)]);
  const undo = [change("dist/lodash.bytecode.bin", () => other), change(PROXY, (text) => String(text).replace(lodash.bytecode.sha256, sum(other)))];
  const elsewhere = await run();
  assert.deepEqual(elsewhere.shown, { ...whole, compiled: 0 }, elsewhere.said);
  assert.equal(elsewhere.said.match(/the bytecode of lodash is of another QuickJS engine/g).length, 1);
  for (const restore of undo) restore();

  rmSync(at("dist/lodash.bytecode.bin"));
  assert.deepEqual((await run()).shown, { ...whole, compiled: 0 });
});
