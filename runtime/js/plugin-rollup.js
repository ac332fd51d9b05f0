// The hooks of Rollup, and of Vite, whose interface is the same, with a server of its own.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildPolicy } from "./plugin-policy.js";
import { assetName, Redirects, WASM, withAssets } from "./plugin-redirect.js";

/** Where Vite's development server has the files that a build emits. */
const SERVED = "@sandbox-lsp/";

export function rollupHooks(options, framework) {
  let root = process.cwd();
  let serving; // Vite's base, while its development server runs
  let policy;
  let redirects;
  const refs = new Map(); // file -> its reference in this build

  const emitted = (context) => (file) => {
    if (!refs.has(file)) refs.set(file, context.emitFile({ type: "asset", name: assetName(file), source: readFileSync(file) }));
    return `new URL(import.meta.ROLLUP_FILE_URL_${refs.get(file)})`;
  };
  const served = (file) => ({
    node: `new URL(${JSON.stringify(pathToFileURL(file).href)})`,
    browser: `new URL(${JSON.stringify(serving + SERVED + path.basename(file))}, import.meta.url)`,
  });

  const vite = {
    configResolved(config) {
      root = config.root;
      if (config.command === "serve") serving = config.base.startsWith(".") ? "/" : config.base;
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const name = request.url.split("?")[0].split(`/${SERVED}`)[1];
        const file = name === "quickjs.wasm" ? WASM : redirects?.bundles.get(name);
        if (!file) return next();
        response.setHeader("content-type", file === WASM ? "application/wasm" : "text/plain; charset=utf-8");
        response.end(readFileSync(file));
      });
      // A policy is read when the server starts.
      server.watcher.on("change", (file) => {
        if (file === policy?.config) server.restart();
      });
    },
  };

  return {
    ...(framework === "vite" && { vite }),

    async buildStart() {
      refs.clear();
      policy = await buildPolicy(options, root);
      redirects = new Redirects(policy);
      this.addWatchFile(policy.config);
      for (const finding of policy.warnings) this.warn(logOf(finding));
      const [first, ...others] = policy.errors;
      // Rollup ends at its first error, which therefore has to say all of them.
      if (first) this.error({ ...logOf(first), message: [first, ...others].map(({ text }) => text).join("\n") });
    },

    async resolveId(request, importer, how) {
      const required = how?.kind === "require-call" || how?.custom?.["node-resolve"]?.isRequire === true;
      const answer = redirects.answer(request, importer, { required });
      if (answer?.error) this.error(answer.error);
      if (answer?.warning) this.warn(answer.warning);
      if (answer?.proxy) return answer.proxy;
      // Rollup alone knows no packages, and a proxy needs just this one.
      if (framework === "rollup" && request === "@sandbox-lsp/runtime" && redirects.isProxy(importer))
        return (await this.resolve(request, importer, { skipSelf: true })) ?? fileURLToPath(new URL("index.js", import.meta.url));
      return undefined;
    },

    transformInclude: (id) => redirects.isProxy(id),
    transform(code, id) {
      return { code: withAssets(code, id, serving === undefined ? emitted(this) : served), map: null };
    },
  };
}

const logOf = ({ text, code, file, line, column }) => ({ message: text, pluginCode: code, id: file, loc: { file, line, column } });
