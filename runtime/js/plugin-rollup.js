// The hooks of Rollup, and of Vite, whose interface is the same, with a server of its own.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildPolicy } from "./plugin-policy.js";
import { assetName, Redirects, WASM, withAssets } from "./plugin-redirect.js";

/** Where Vite's development server has the files that a build emits. */
const SERVED = "@sandbox-lsp/";

/** A request of a package, other than what Vite's own pages ask for. */
const PACKAGE = /^(?!@?vite\/)[\w@][^:]*$/;

export function rollupHooks(options, framework) {
  let root = process.cwd();
  let serving; // Vite's base, while its development server runs
  let emptied; // the folder that Vite empties before it writes
  let policy;
  let redirects;

  // The same bytes are one file, however often they are emitted.
  const emitted = (context) => (file) => {
    const reference = context.emitFile({ type: "asset", name: assetName(file), source: readFileSync(file) });
    return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
  };
  const served = (file) => ({
    node: `new URL(${JSON.stringify(pathToFileURL(file).href)})`,
    browser: `new URL(${JSON.stringify(serving + SERVED + path.basename(file))}, import.meta.url)`,
  });

  const vite = {
    configResolved(config) {
      root = config.root;
      if (config.command === "serve") serving = config.base.startsWith(".") ? "/" : config.base;
      else if (config.build.emptyOutDir !== false) emptied = path.resolve(root, config.build.outDir);
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
      redirects = undefined;
      policy = await buildPolicy(options, root);
      this.addWatchFile(policy.config);
      for (const finding of policy.warnings) this.warn(logOf(finding));
      const [first, ...others] = policy.errors;
      // Rollup ends at its first error, which therefore has to say all of them.
      if (first) this.error({ ...logOf(first), message: [first, ...others].map(({ text }) => text).join("\n") });
      if (emptied === path.join(policy.root, "dist"))
        this.warn(
          `Vite empties ${emptied}, where sandbox-lsp builds, before it writes there. Name another folder in build.outDir, or set build.emptyOutDir to false.`,
        );
      redirects = new Redirects(policy);
    },

    async resolveId(request, importer, how) {
      // A development server goes on after an error, and must not serve the libraries as they are.
      if (!redirects) return PACKAGE.test(request) ? this.error(`"${request}": the sandboxes are not built, for the errors of the policy.`) : undefined;
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

    transformInclude: (id) => redirects?.isProxy(id) === true,
    transform(code, id) {
      return { code: withAssets(code, id, serving === undefined ? emitted(this) : served), map: null };
    },
  };
}

const logOf = ({ text, code, file, line, column }) => ({ message: text, pluginCode: code, id: file, loc: { file, line, column } });
