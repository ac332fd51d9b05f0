// Bundles the project in the working directory with one bundler, by the configuration file
// that stands there, and prints as JSON what the bundler said of it.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const bundlers = createRequire(new URL("../../../../testdata/bundlers/package.json", import.meta.url));
const config = async (file) => (await import(pathToFileURL(path.resolve(file)))).default;

const errors = [];
const warnings = [];


const run = {
  async vite() {
    const { build } = await import(pathToFileURL(bundlers.resolve("vite")));
    const logger = { info() {}, warn: (text) => warnings.push(text), warnOnce: (text) => warnings.push(text), error() {}, clearScreen() {}, hasErrorLogged: () => false, hasWarned: false };
    await build({ customLogger: logger });
  },
  async rollup() {
    const { rollup } = await import(pathToFileURL(bundlers.resolve("rollup")));
    const { output, ...input } = await config("rollup.config.js");
    const built = await rollup({ ...input, onLog: (level, log) => level === "warn" && warnings.push(`${log.loc ? `${log.loc.file}:${log.loc.line}:${log.loc.column} ` : ""}${log.message}`) });
    await built.write(output);
    await built.close();
  },
  async esbuild() {
    await import(pathToFileURL(path.resolve("esbuild.config.js")));
  },
  webpack: () => compiled("webpack", "webpack.config.js"),
  rspack: () => compiled("@rspack/core", "rspack.config.js"),
};

async function compiled(name, file) {
  const module = await import(pathToFileURL(bundlers.resolve(name)));
  const bundler = module.default ?? module[name === "webpack" ? "webpack" : "rspack"];
  const options = await config(file);
  const stats = await new Promise((resolve, reject) => {
    const compiler = bundler({ context: process.cwd(), ...options });
    compiler.run((error, done) => compiler.close(() => (error ? reject(error) : resolve(done))));
  });
  // What the command lines print, and by what they exit.
  const text = stats.toString({ all: false, errors: true, warnings: true, errorDetails: false, colors: false });
  if (stats.hasErrors()) throw new Error(text);
  if (stats.hasWarnings()) warnings.push(text);
}

try {
  await run[process.argv[2]]();
} catch (error) {
  errors.push(String(error?.message ?? error));
}
console.log(JSON.stringify({ errors, warnings }));
