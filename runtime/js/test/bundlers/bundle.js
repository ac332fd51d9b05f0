// Bundles the project in the working directory with one bundler, by the configuration that
// stands there, as that bundler's command line does; or serves it with Vite, until its input
// ends. What the bundler says goes to standard error, and a failed build exits with 1.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const bundlers = createRequire(new URL("../../../../testdata/bundlers/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(bundlers.resolve(name)).href);
const script = (file) => import(pathToFileURL(path.resolve(file)).href);

const commands = {
  async vite() {
    const { build } = await load("vite");
    await build({ logLevel: "warn" });
  },
  async serve() {
    const { createServer } = await load("vite");
    const server = await createServer({ logLevel: "warn", server: { host: "127.0.0.1", port: 0 }, base: "/some/where/" });
    await server.listen();
    process.stdout.write(`${server.resolvedUrls.local[0]}\n`);
    for await (const _ of process.stdin);
    await server.close();
  },
  async rollup() {
    const { rollup } = await load("rollup");
    const { output, ...input } = (await script("rollup.config.js")).default;
    const onLog = (level, { loc, message }) => level === "warn" && console.error(loc ? `${loc.file} (${loc.line}:${loc.column})` : "", message);
    const bundle = await rollup({ ...input, onLog });
    await bundle.write(output);
    await bundle.close();
  },
  esbuild: () => script("esbuild.config.js"),
  webpack: async () => compile((await load("webpack")).default, "webpack.config.js"),
  rspack: async () => compile((await load("@rspack/core")).rspack, "rspack.config.js"),
};

async function compile(bundler, file) {
  const { default: config } = await script(file);
  const stats = await new Promise((resolve, reject) => {
    const compiler = bundler({ context: process.cwd(), mode: "production", performance: false, ...config });
    compiler.run((error, done) => compiler.close(() => (error ? reject(error) : resolve(done))));
  });
  console.error(stats.toString({ all: false, errors: true, warnings: true, colors: false }));
  if (stats.hasErrors()) process.exitCode = 1;
}

try {
  await commands[process.argv[2]]();
} catch (error) {
  const { file, line, column } = error.loc ?? {};
  console.error(error.loc ? `${file} (${line}:${column})` : "", error.message);
  process.exitCode = 1;
}
