// Copies of the storefront for bundlers to build, and a server of what they built.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));
const storefront = path.join(repository, "testdata/projects/storefront");

/** Where `make build` puts the program. */
export const binary = path.join(repository, "bin", process.platform === "win32" ? "sandbox-lsp.exe" : "sandbox-lsp");

/** The configurations of README.md, by their file names. */
export function recipes() {
  const [, text] = /<!-- recipes -->([\s\S]*?)<!-- \/recipes -->/.exec(readFileSync(path.join(repository, "README.md"), "utf8"));
  return Object.fromEntries([...text.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, file, code]) => [file, code]));
}

/**
 * A copy of the storefront with the configurations of README.md, whose main.js also makes the
 * calls of calls.js. More packages are installed: `friend` imports lodash, `older` requires it,
 * and `old` has a lodash of its own.
 *
 * @param {Record<string, string>} files what else is written, by path
 */
export function makeShop(files = {}) {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: make build`);
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "sandbox-shop-")));
  for (const name of ["src", "index.html", "package.json", ".sandbox/sandbox.config.js"])
    cpSync(path.join(storefront, name), path.join(root, name), { recursive: true });
  const modules = path.join(root, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(path.join(storefront, "node_modules"))) symlinkSync(path.join(storefront, "node_modules", name), path.join(modules, name));
  for (const name of ["esbuild", "vitest"]) symlinkSync(path.join(repository, "testdata/bundlers/node_modules", name), path.join(modules, name));

  const main = readFileSync(path.join(storefront, "src/main.js"), "utf8");
  const all = {
    "node_modules/friend/package.json": JSON.stringify({ name: "friend", version: "1.0.0", type: "module", exports: "./index.js" }),
    "node_modules/friend/index.js": 'import _ from "lodash";\nexport default Object.assign((names) => _.sortBy(names), { lodash: _ });\n',
    "node_modules/old/package.json": JSON.stringify({ name: "old", version: "1.0.0", type: "module", exports: "./index.js" }),
    "node_modules/old/index.js": 'import { VERSION } from "lodash";\nexport default VERSION;\n',
    "node_modules/old/node_modules/lodash/package.json": JSON.stringify({ name: "lodash", version: "3.10.1", type: "module", exports: "./index.js" }),
    "node_modules/old/node_modules/lodash/index.js": 'export const VERSION = "3.10.1";\n',
    "node_modules/older/package.json": JSON.stringify({ name: "older", version: "1.0.0", main: "index.js" }),
    "node_modules/older/index.js": 'module.exports = require("lodash").VERSION;\n',
    "src/calls.js": readFileSync(new URL("calls.js", import.meta.url), "utf8"),
    "src/main.js": `import "./calls.js";\n${main}`,
    ...recipes(),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) write(root, name, text);
  return {
    root,
    read: (name) => readFileSync(path.join(root, name), "utf8"),
    write: (name, text) => write(root, name, text),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function write(root, name, text) {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Starts bundle.js in a shop. */
export function start(command, root, env = {}) {
  const { FORCE_COLOR: _, ...rest } = process.env;
  return spawn(process.execPath, [fileURLToPath(new URL("bundle.js", import.meta.url)), command], {
    cwd: root,
    env: { ...rest, SANDBOX_LSP: binary, NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Runs Node in a shop: whether that went well, and all that was said. */
export async function node(root, args) {
  // What the runner of this suite tells its own files is not for those of the shop.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return ended(spawn(process.execPath, args, { cwd: root, env: { ...env, SANDBOX_LSP: binary, NO_COLOR: "1" }, stdio: ["pipe", "pipe", "pipe"] }));
}

/** Builds a shop with one bundler: whether that went well, and all that was said. */
export async function bundle(command, root, env) {
  return ended(start(command, root, env));
}

async function ended(child) {
  child.stdin.end();
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  return { ok: code === 0, said };
}

const types = { ".html": "text/html", ".js": "text/javascript", ".txt": "text/plain", ".wasm": "application/wasm" };

/** Serves a folder below a path on loopback, under the policy that README.md names. */
export async function serve(folder, base) {
  const missing = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = pathname.startsWith(base) ? pathname.slice(base.length) || "index.html" : undefined;
    const file = name && path.join(folder, name);
    const found = file !== undefined && existsSync(file);
    if (!found && !pathname.endsWith("favicon.ico")) missing.push(pathname);
    response.writeHead(found ? 200 : 404, {
      "content-type": types[path.extname(file ?? "")] ?? "text/plain",
      "content-security-policy": "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
      "x-content-type-options": "nosniff",
    });
    response.end(found ? readFileSync(file) : "not here");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}${base}`,
    missing,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
