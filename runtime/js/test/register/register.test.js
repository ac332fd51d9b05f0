// An application's own tests, in Node, with what they import and require redirected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeShop, node } from "../bundlers/shop.js";

test("register: what is imported and what is required come from one sandbox", async (t) => {
  const shop = makeShop({
    "app.mjs": `
      import assert from "node:assert/strict";
      import _, { groupBy } from "lodash";
      import { parse } from "qs";
      import { summarise } from "sandbox-workload/lodash/stats";
      import friend from "friend";
      import old from "old";
      import { again, required, stats, shown } from "./more.cjs";
      assert.equal(required, _);
      assert.equal((await again).default, _);
      assert.equal(required.groupBy, groupBy);
      assert.equal(stats.summarise, summarise);
      assert.equal(friend.lodash, _);
      assert.deepEqual(groupBy([6.1, 4.2, 6.3], Math.floor), { 4: [4.2], 6: [6.1, 6.3] });
      assert.deepEqual(parse("a[b]=c"), { a: { b: "c" } });
      assert.throws(() => _.template("<%= process.version %>")(), /process is not defined/);
      console.log("all of it", old, shown);`,
    "more.cjs": `
      const assert = require("node:assert/strict");
      const { existsSync } = require("node:fs");
      const { chunk } = exports.required = require("lodash");
      exports.stats = require("sandbox-workload/lodash/stats");
      const qs = require("qs");
      assert.equal(require(require.resolve("lodash")), exports.required);
      assert.ok(existsSync(require.resolve("sandbox-workload/lodash/stats")));
      exports.again = import(require.resolve("lodash"));
      exports.shown = JSON.stringify([chunk([1, 2, 3], 2), qs.stringify({ a: 1 })]);`,
  });
  t.after(shop.remove);
  const { ok, said } = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "app.mjs"]);
  assert.ok(ok, said);
  assert.match(said, /all of it 3\.10\.1 \[\[\[1,2\],\[3\]\],"a=1"\]/);
  assert.match(said, /SBX044.*lodash 3\.10\.1/s);
});

test("register: subpaths come from the sandbox and the modules of their library", async (t) => {
  const shop = makeShop({
    "src/main.js": `
      import assert from "node:assert/strict";
      import fp from "lodash/fp";
      import { format } from "date-fns";
      import { de } from "date-fns/locale";
      import * as zod from "zod";
      import * as v4 from "zod/v4";
      import { fp as required, same } from "./more.cjs";
      assert.deepEqual(fp.map((x) => x + 1)([1, 2]), [2, 3]);
      assert.equal(fp.template("<%= typeof process %>")(), "undefined");
      assert.equal(required, fp);
      assert.equal(format(new Date(2024, 4, 3), "EEEE", { locale: de }), "Freitag");
      assert.equal(v4.ZodString, zod.ZodString);
      assert.ok(v4.string() instanceof zod.ZodType && same);
      console.log("all of it");`,
    "src/more.cjs": 'exports.fp = require("lodash/fp");\nexports.same = require("zod/v4").ZodString === require("zod").ZodString;\n',
    "src/pages/far.js": 'import "far";\n',
    "node_modules/far/package.json": JSON.stringify({ name: "far", version: "1.0.0", type: "module", exports: "./index.js" }),
    "node_modules/far/index.js": 'import "lodash/map.js";\nimport "lodash/filter.js";\nimport "date-fns/addDays";\n',
  });
  t.after(shop.remove);
  const policy = shop.read(".sandbox/sandbox.config.js");
  shop.write(".sandbox/sandbox.config.js", policy.replace(/(lodash|zod|"date-fns"): \{/g, "$1: { subpaths: true,"));
  const { ok, said } = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "src/main.js"]);
  assert.ok(ok, said);
  assert.match(said, /all of it/);
  assert.doesNotMatch(said, /SBX/);

  // What another package imports has no proxy, and is said once of each library.
  const far = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "src/pages/far.js"]);
  assert.ok(far.ok, far.said);
  assert.equal(far.said.match(/SBX031/g)?.length, 2, far.said);
  assert.match(far.said, /node_modules\/far\/index\.js: warning SBX031\s+"lodash\/map\.js" is not redirected, since no file of the application imports it/);
});

test("marshallers of the project carry its classes over, in proxies and registered", async (t) => {
  const shop = makeShop({
    "src/day.js": "export class Day {\n  constructor(ms) { this.ms = ms; }\n}\n",
    ".sandbox/marshallers/index.js": 'import { day } from "./day.js";\nexport default [day];\n',
    ".sandbox/marshallers/day.js": `
      import { Day } from "../../src/day.js";
      export const day = {
        isWrappable: (value) => value instanceof Day,
        marshal: (value) => new Date(value.ms),
        isHandleWrappable: () => false,
        unmarshal() {},
        dispose() {},
      };`,
    "src/app.js": `
      import assert from "node:assert/strict";
      import { isDate } from "lodash";
      import { Day } from "./day.js";
      assert.ok(isDate(new Day(0)));
      assert.ok(!isDate({ ms: 0 }));
      console.log("a day is a date");`,
  });
  t.after(shop.remove);
  const registered = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "src/app.js"]);
  assert.match(registered.said, /a day is a date/);
  shop.write("src/direct.js", shop.read("src/app.js").replace('"lodash"', '"../.sandbox/proxys/lodash-proxy.js"'));
  const direct = await node(shop.root, ["src/direct.js"]);
  assert.match(direct.said, /a day is a date/);

  shop.write(".sandbox/marshallers/index.js", 'import "lodash";\nexport default [];\n');
  const circular = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "src/app.js"]);
  assert.match(circular.said, /marshallers\/index\.js imports lodash, whose sandbox needs the marshallers first/);
  shop.write(".sandbox/marshallers/index.js", "export default {};\n");
  const wrong = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "src/app.js"]);
  assert.match(wrong.said, /\.sandbox\/marshallers\/index\.js:1:1 error SBX048/);
});

test("register: a suite of node:test runs in the sandbox, file by file", async (t) => {
  const shop = makeShop({
    "test/one.test.mjs": `
      import assert from "node:assert/strict";
      import { test } from "node:test";
      import _ from "lodash";
      test("is inside", () => assert.equal(_.template("<%= typeof process %>")(), "undefined"));`,
    "test/two.test.cjs": `
      const assert = require("node:assert/strict");
      const { test } = require("node:test");
      const _ = require("lodash");
      test("is inside as well", () => assert.equal(_.template("<%= typeof process %>")(), "undefined"));`,
  });
  t.after(shop.remove);
  const { ok, said } = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "--test"]);
  assert.ok(ok, said);
  assert.match(said, /# pass 2/);
});

test("plugin: a suite of Vitest runs in the sandbox", async (t) => {
  const shop = makeShop({
    "vitest.config.js": 'import { sandbox } from "@sandbox-lsp/runtime/plugin";\nexport default { plugins: [sandbox.vite()] };\n',
    "test/shop.test.js": `
      import _, { groupBy } from "lodash";
      import { expect, test } from "vitest";
      test("is inside", () => {
        expect(_.template("<%= typeof process %>")()).toBe("undefined");
        expect(groupBy([6.1, 4.2, 6.3], Math.floor)).toEqual({ 4: [4.2], 6: [6.1, 6.3] });
      });`,
  });
  t.after(shop.remove);
  const { ok, said } = await node(shop.root, ["node_modules/vitest/vitest.mjs", "run"]);
  assert.ok(ok, said);
  assert.match(said, /1 passed/);
});

test("register: a policy with errors ends the process, with the findings", async (t) => {
  const shop = makeShop({ "app.mjs": 'import "lodash";' });
  t.after(shop.remove);
  shop.write(".sandbox/sandbox.config.js", "export default {\n  lodsh: { permissions: [] },\n};\n");
  const { ok, said } = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "app.mjs"]);
  assert.ok(!ok);
  assert.match(said, /\.sandbox\/sandbox\.config\.js:2:3 error SBX\d+/);
});

test("register: a bundle that was changed since the build is refused", async (t) => {
  const shop = makeShop({
    "app.mjs": 'import "node:fs"; await import("./late.mjs");',
    "late.mjs": 'import { appendFileSync } from "node:fs"; appendFileSync("dist/qs.bundle.js", " "); await import("qs");',
  });
  t.after(shop.remove);
  const { ok, said } = await node(shop.root, ["--import", "@sandbox-lsp/runtime/register", "app.mjs"]);
  assert.ok(!ok);
  assert.match(said, /qs\.bundle\.js is not what dist\/sandbox-manifest\.json says was built/);
});
