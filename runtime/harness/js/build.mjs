// Bundles what runs in a realm into the folder that the Go package embeds:
//
//   node build.mjs OUTPUT
//
// Each entry is a module that tests may import, by the name of its file; what several
// share stands in chunks of its own, so that a bundle of tests has everything once.
import { readdir, readFile, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
const builtins = join(here, "node_modules/@jspm/core/nodelibs/browser");
// Those that say no more than that they are not there: a test that needs one is told so
// by the bundler's stand-in.
const absent = new Set([
  "child_process",
  "cluster",
  "dgram",
  "dns",
  "fs",
  "http",
  "http2",
  "https",
  "inspector",
  "module",
  "net",
  "os",
  "readline",
  "repl",
  "tls",
  "v8",
  "vm",
  "wasi",
  "worker_threads",
  "crypto",
  "zlib",
  "async_hooks",
  "diagnostics_channel",
  "process",
  "timers",
  "perf_hooks",
  "domain",
  "tty",
  "sys",
  "console",
]);

const provided = (await readdir(builtins, { recursive: true }))
  .filter((file) => file.endsWith(".js") && !file.includes("chunk-") && !file.startsWith("_"))
  .map((file) => file.slice(0, -3).replaceAll("\\", "/"))
  .filter((name) => builtinModules.includes(name) && !absent.has(name.split("/")[0]));

const entryPoints = {};
for (const file of await readdir(join(here, "modules"), { recursive: true }))
  if (file.endsWith(".js")) entryPoints[file.slice(0, -3).replaceAll("\\", "/")] = join(here, "modules", file);
for (const name of provided) entryPoints[`node/${name}`] ??= join(builtins, `${name}.js`);

/** Node's modules, for the packages that import them. */
const nodeModules = {
  name: "node-modules",
  setup(at) {
    at.onResolve({ filter: /^(node:)?[a-z_]+(\/[a-z]+)?\/?$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, "").replace(/\/$/, "");
      if (kind === "entry-point" || !builtinModules.includes(name)) return undefined;
      if (entryPoints[`node/${name}`]) return { path: entryPoints[`node/${name}`] };
      return { path: name, namespace: "absent" };
    });
    at.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
  },
};

for (const file of await readdir(output)) if (file !== "README.md") await rm(join(output, file), { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints,
  outdir: output,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "browser",
  target: "es2023",
  charset: "utf8",
  define: { global: "globalThis", "process.env.NODE_ENV": '"test"' },
  chunkNames: "chunks/[hash]",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  plugins: [nodeModules],
  metafile: true,
  logLevel: "warning",
});
const versions = JSON.parse(await readFile(join(here, "package-lock.json"), "utf8")).packages;
const sizes = Object.values(metafile.outputs).map(({ bytes }) => bytes);
console.log(`${sizes.length} modules, ${Math.round(sizes.reduce((a, b) => a + b) / 1024)} KB, of ${Object.keys(versions).length} packages`);
