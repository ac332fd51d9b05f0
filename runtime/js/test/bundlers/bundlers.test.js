// The redirect in five bundlers: what they build is opened in headless Chromium.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { chromiumPath, flags, skip } from "../hosts/page.js";
import { bundle, makeShop, recipes, serve, start } from "./shop.js";

const bundlers = ["vite", "webpack", "rspack", "rollup", "esbuild"];
const page = '<!doctype html><meta charset="utf-8"><title>shop</title><main id="shop"></main>';

let browser;
let native; // what a page says whose libraries are not sandboxed

/** What stands in each library's source and nowhere else. */
const texts = {
  lodash: ["Unsupported core-js use", "/* [wrapped with ", "Expected a function"],
  dayjs: ["$isDayjsObject", "Invalid Date"],
  "date-fns": ["Format string contains an unescaped latin alphabet character", "Before Christ"],
  zod: ["Unrecognized key", "Invalid input: expected"],
  uuid: ["Random bytes length must be", "Namespace must be array-like"],
  qs: ["Side channel does not contain", "allowEmptyArrays"],
};

before(async () => {
  if (skip) return;
  browser = await chromium.launch({ executablePath: chromiumPath(), args: flags });
  const shop = makeShop();
  try {
    await build({
      absWorkingDir: shop.root,
      entryPoints: ["src/main.js"],
      bundle: true,
      format: "esm",
      outdir: "build",
      logLevel: "silent",
      alias: {
        "sandbox-real/lodash": "lodash",
        "sandbox-real/qs": "qs",
        "sandbox-workload/lodash/stats": "./src/sandbox/stats.js",
        "sandbox-workload/qs/filters": "./src/sandbox/filters.js",
      },
    });
    writeFileSync(path.join(shop.root, "build/index.html"), `${page}<script type="module" src="main.js"></script>`);
    native = await open(path.join(shop.root, "build"), "/");
    native.text = scripts(path.join(shop.root, "build"));
  } finally {
    shop.remove();
  }
});
after(() => browser?.close());

/** What a page of a built folder says once it has loaded. */
async function open(folder, base) {
  const served = await serve(folder, base);
  try {
    return { ...(await look(served.address)), missing: served.missing };
  } finally {
    await served.close();
  }
}

async function look(address) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  try {
    await page.goto(address);
    await page
      .waitForFunction(() => document.querySelector("#shop").childElementCount > 0, undefined, { timeout: 60_000 })
      .catch((error) => errors.push(error.message));
    if (errors.length > 0) return { errors };
    const said = await page.evaluate(() => ({
      results: JSON.parse(globalThis.results),
      shop: [...document.querySelectorAll("#shop p")].map((line) => line.textContent),
      inside: globalThis.inside,
      same: globalThis.sameLibrary,
      packages: globalThis.packages,
    }));
    return { errors, ...said };
  } finally {
    await page.close();
  }
}

/** The scripts of a folder, as one text. */
function scripts(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => /\.m?js$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), "utf8"))
    .join("\n");
}

const withoutIds = (shop) => shop.map((line) => line.replace(/[0-9a-f-]{36}/, "ID"));

test("bundlers: README.md has a recipe for each", () => {
  assert.deepEqual(Object.keys(recipes()).sort(), bundlers.map((name) => `${name}.config.js`).sort());
});

test("bundlers: without the redirect a page has the libraries' text", { skip }, () => {
  assert.deepEqual(native.errors, []);
  assert.equal(native.inside, "EvalError"); // the page's policy forbids to compile text
  for (const [library, strings] of Object.entries(texts)) for (const string of strings) assert.ok(native.text.includes(string), `${library}: ${string}`);
});

for (const name of bundlers) {
  test(`${name}: a built page runs its libraries in their sandboxes`, { skip }, async (t) => {
    const shop = makeShop();
    t.after(shop.remove);
    const { ok, said } = await bundle(name, shop.root);
    assert.ok(ok, said);
    const folder = path.join(shop.root, "build");
    if (name !== "vite") {
      const script = name === "webpack" || name === "rspack" ? '<script defer src="main.js"></script>' : '<script type="module" src="main.js"></script>';
      writeFileSync(path.join(folder, "index.html"), page + script);
    }
    const text = scripts(folder);
    for (const [library, strings] of Object.entries(texts)) for (const string of strings) assert.ok(!text.includes(string), `${library}: ${string}`);

    for (const base of ["/", "/some/where/"]) {
      const shown = await open(folder, base);
      assert.deepEqual(shown.errors, []);
      assert.deepEqual(shown.missing, []);
      assert.deepEqual(shown.results, native.results);
      assert.deepEqual(withoutIds(shown.shop), withoutIds(native.shop));
      assert.equal(shown.inside, "undefined,undefined,undefined,function");
      assert.equal(shown.same, true);
    }
  });

  test(`${name}: findings are the bundler's own errors and warnings`, async (t) => {
    const shop = makeShop();
    t.after(shop.remove);
    const policy = shop.read(".sandbox/sandbox.config.js");
    const faulty = policy.replace('["crypto"]', '"crypto"').replace("src/sandbox/stats.js", "src/sandbox/gone.js");
    shop.write(".sandbox/sandbox.config.js", faulty);
    const place = (text) => {
      const before = faulty.slice(0, faulty.indexOf(text)).split("\n");
      return `.sandbox/sandbox.config.js:${before.length}:${before.at(-1).length + 1}`;
    };
    const { ok, said } = await bundle(name, shop.root);
    assert.equal(ok, false);
    assert.ok(said.includes(`${place('"crypto"')} error SBX004`), said);
    assert.ok(said.includes("permissions has to be an array"), said);
    assert.ok(said.includes(`${place('"src/sandbox/gone.js"')} warning SBX020`), said);
    assert.throws(() => readdirSync(path.join(shop.root, "build")), { code: "ENOENT" });
  });

  test(`${name}: another version is left, and require() is refused`, async (t) => {
    const shop = makeShop({
      "src/main.js": 'import _ from "lodash";\nimport old from "../node_modules/old/index.js";\nglobalThis.versions = [_.VERSION, old];\n',
    });
    t.after(shop.remove);
    const { ok, said } = await bundle(name, shop.root);
    assert.ok(ok, said);
    assert.match(
      said,
      /SBX044\s+(│ )?\s*"lodash" resolves to lodash 3\.10\.1 here \(node_modules\/old\/node_modules\/lodash\), but the sandbox holds 4\.18\.1/,
    );
    // Rollup knows no packages without a further plugin.
    if (name !== "rollup") assert.ok(scripts(path.join(shop.root, "build")).includes("3.10.1"));
    shop.write("src/main.js", 'import "./old.cjs";\n');
    shop.write("src/old.cjs", 'const _ = require("lodash");\nmodule.exports = _;\n');
    const refused = await bundle(name, shop.root);
    assert.equal(refused.ok, false);
    assert.match(refused.said, /src\/old\.cjs: error SBX031\s+(│ )?\s*require\("lodash"\) cannot be redirected/);

    // Rspack says too late that it is a require(), and Rollup alone takes no such package.
    if (name === "rspack" || name === "rollup") return;
    shop.write("src/main.js", 'import version from "../node_modules/older/index.js";\nglobalThis.version = version;\n');
    const left = await bundle(name, shop.root);
    assert.ok(left.ok, left.said);
    assert.match(left.said, /node_modules\/older\/index\.js: warning SBX031\s+require\("lodash"\) cannot be redirected/);
    for (const string of texts.lodash) assert.ok(scripts(path.join(shop.root, "build")).includes(string), string);
  });
}

for (const name of ["vite", "webpack", "esbuild"]) {
  test(`${name}: subpaths come from the sandbox of their library`, { skip }, async (t) => {
    const shop = makeShop({
      "src/main.js": `import { format } from "date-fns";
import { de } from "date-fns/locale";
import * as zod from "zod";
import * as v4 from "zod/v4";
import "../node_modules/far/index.js";
globalThis.results = JSON.stringify([format(new Date(2024, 4, 3), "EEEE", { locale: de }), v4.string() instanceof zod.ZodType]);
document.querySelector("#shop").append("done", document.createElement("p"));
`,
      "node_modules/far/index.js": 'import { addDays } from "date-fns/addDays";\nglobalThis.far = typeof addDays;\n',
    });
    t.after(shop.remove);
    shop.write(".sandbox/sandbox.config.js", shop.read(".sandbox/sandbox.config.js").replace(/(zod|"date-fns"): \{/g, "$1: { subpaths: true,"));
    const { ok, said } = await bundle(name, shop.root);
    assert.ok(ok, said);
    // What only another package imports has no proxy.
    assert.match(said, /node_modules\/far\/index\.js: warning SBX031\s+"date-fns\/addDays" is not redirected/);
    const folder = path.join(shop.root, "build");
    for (const string of [...texts.zod, "Before Christ", "Freitag"]) assert.ok(!scripts(folder).includes(string), string);
    if (name !== "vite")
      writeFileSync(path.join(folder, "index.html"), `${page}<script ${name === "webpack" ? "defer" : 'type="module"'} src="main.js"></script>`);
    const shown = await open(folder, "/some/where/");
    assert.deepEqual([shown.errors, shown.missing, shown.results], [[], [], ["Freitag", true]]);
  });
}

test("vite: its development server serves the sandboxes, and follows the policy", { skip }, async (t) => {
  const shop = makeShop();
  t.after(shop.remove);
  // Vite bundles packages before it serves them.
  shop.write(
    "src/main.js",
    `import lodash from "lodash";\nimport friend from "friend";\nimport old from "old";\nimport older from "older";
globalThis.packages = [friend.lodash === lodash, old, older];\n${shop.read("src/main.js")}`,
  );
  const child = start("serve", shop.root);
  const ended = new Promise((resolve) => child.on("close", resolve));
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const address = await Promise.race([new Promise((resolve) => child.stdout.once("data", (line) => resolve(String(line).trim()))), ended]);
  try {
    assert.match(String(address), /^http:.*\/some\/where\/$/, said);
    const shown = await look(address);
    assert.deepEqual(shown.errors, [], said);
    assert.deepEqual(shown.results, native.results);
    assert.equal(shown.inside, "undefined,undefined,undefined,function");
    assert.deepEqual(shown.packages, [true, "3.10.1", "4.18.1"]);

    const page = await browser.newPage();
    await page.goto(address);
    const policy = shop.read(".sandbox/sandbox.config.js");
    shop.write(".sandbox/sandbox.config.js", policy.replace('["crypto"]', '"crypto"'));
    await page.waitForFunction(() => document.querySelector("vite-error-overlay")?.shadowRoot.textContent.includes("error SBX004"));
    shop.write(".sandbox/sandbox.config.js", policy.replace("lodash: {\n    permissions: []", 'lodash: {\n    permissions: ["document"]'));
    await page.waitForFunction(() => globalThis.inside === "object,undefined,undefined,function");
    await page.close();
  } finally {
    child.stdin.end();
    await ended;
  }
});

test("esbuild: what cannot be run, and what is not there, is said in one sentence", async (t) => {
  const shop = makeShop();
  t.after(shop.remove);
  const missing = await bundle("esbuild", shop.root, { SANDBOX_LSP: "/nowhere/sandbox-lsp" });
  assert.equal(missing.ok, false);
  assert.match(missing.said, /\/nowhere\/sandbox-lsp, from the environment variable SANDBOX_LSP, cannot be run \(ENOENT\)\. Put sandbox-lsp on the PATH/);
  shop.write("esbuild.config.js", shop.read("esbuild.config.js").replace(".sandbox/sandbox.config.js", ".sandbox/gone.js"));
  const gone = await bundle("esbuild", shop.root);
  assert.equal(gone.ok, false);
  assert.match(gone.said, /there is no policy at .*\.sandbox\/gone\.js\. configPath counts from/);
});
