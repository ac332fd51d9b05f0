// A page in headless Chromium that has the runtime, served from this machine alone.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { build } from "esbuild";
import { chromium } from "playwright-core";

/** Where Chromium is, or undefined: what CHROMIUM says, else what is on the PATH. */
export function chromiumPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // the next name
    }
  }
  return undefined;
}

/** What says that a test is skipped for want of Chromium; in CI it is not skipped. */
export const skip = chromiumPath() === undefined && process.env.CI !== "true" ? "Chromium is missing: apt-get install chromium" : false;

/** Only what the pages here need: nothing is fetched from elsewhere, or looked up. */
export const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage", // which is small in containers
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/**
 * Serves a page whose script is a module of this folder, bundled for browsers, and opens it.
 *
 * @param {object} options
 * @param {string} options.entry the module's file name
 * @param {string} [options.csp] the page's Content-Security-Policy
 * @param {Record<string, (request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => void>} [options.routes]
 * @param {(page: import("playwright-core").Page, address: string) => Promise<unknown>} use
 */
export async function withPage({ entry, csp = "script-src 'self' 'wasm-unsafe-eval'", routes = {} }, use) {
  const path = chromiumPath();
  if (path === undefined) throw new Error("Chromium is missing: apt-get install chromium");
  // Function texts are shipped to guests, so that they stay as they are written.
  const { outputFiles } = await build({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  const wasm = readFileSync(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
  const files = {
    "/": ["text/html", '<!doctype html><meta charset="utf-8"><title>sandbox</title><script type="module" src="/page.js"></script>'],
    "/page.js": ["text/javascript", outputFiles[0].contents],
    "/dist/quickjs.wasm": ["application/wasm", wasm],
    "/favicon.ico": ["image/x-icon", ""],
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (routes[pathname]) return routes[pathname](request, response);
    const [type, body] = files[pathname] ?? [];
    response.writeHead(type ? 200 : 404, { "content-type": type ?? "text/plain", "content-security-policy": csp });
    response.end(body ?? "not here");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const browser = await chromium.launch({ executablePath: path, args: flags });
    try {
      const page = await browser.newPage();
      const address = `http://127.0.0.1:${server.address().port}`;
      await page.goto(address);
      return await use(page, address);
    } finally {
      await browser.close();
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
