// The hooks of Vite: those of Rollup when it builds, and a development server that goes on
// while the policy changes.
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildPolicy } from "./plugin-policy.js";
import { Redirects, WASM } from "./plugin-redirect.js";
import { isRequire, rollupHooks } from "./plugin-rollup.js";

/** Where the development server has the files that a build emits. */
const SERVED = "@sandbox-lsp/";

export function viteHooks(options) {
  const state = { root: process.cwd() };
  const { buildStart, ...hooks } = rollupHooks(options, "vite", state);
  let serving = false;
  let emptied; // the folder that Vite empties before it writes

  const refresh = async () => {
    state.redirects = undefined;
    state.policy = await buildPolicy(options, state.root);
    if (state.policy.errors.length === 0) state.redirects = new Redirects(state.policy);
  };

  return {
    ...hooks,

    async buildStart() {
      // The server has read the policy before it began.
      if (serving) return;
      await buildStart.call(this);
      if (emptied === path.join(state.policy.root, "dist"))
        this.warn(
          `Vite empties ${emptied}, where sandbox-lsp builds, before it writes there. Name another folder in build.outDir, or set build.emptyOutDir to false.`,
        );
    },

    vite: {
      async config({ root = "." }, { command, isPreview }) {
        serving = command === "serve" && !isPreview;
        if (!serving) return undefined;
        state.root = path.resolve(root);
        await refresh();
        return { optimizeDeps: { rolldownOptions: { plugins: [prebundled(state)] } } };
      },

      configResolved(config) {
        state.root = config.root;
        if (!serving) {
          if (config.build.emptyOutDir !== false) emptied = path.resolve(config.root, config.build.outDir);
          return;
        }
        const base = config.base.startsWith(".") ? "/" : config.base;
        state.served = (file) => ({
          node: `new URL(${JSON.stringify(pathToFileURL(file).href)})`,
          browser: `new URL(${JSON.stringify(base + SERVED + path.basename(file))}, import.meta.url)`,
        });
        for (const { text } of state.policy.warnings) config.logger.warn(text);
        for (const { text } of state.policy.errors) config.logger.error(text);
      },

      configureServer(server) {
        server.middlewares.use((request, response, next) => {
          const name = request.url.split("?")[0].split(`/${SERVED}`)[1];
          const file = name === path.basename(WASM) ? WASM : state.redirects?.bundles.get(name);
          if (!file) return next();
          response.setHeader("content-type", file === WASM ? "application/wasm" : "text/plain; charset=utf-8");
          response.end(readFileSync(file));
        });
        const { watched } = state.policy;
        server.watcher.add(watched);
        server.watcher.on("change", (file) => {
          // What Vite keeps of packages depends on the policy too, so that it has to begin anew.
          if (watched.includes(path.resolve(file))) server.restart().catch((error) => server.config.logger.error(error.message));
        });
      },
    },
  };
}

/**
 * The redirect for what Vite makes of the packages in node_modules before it serves them. Its
 * name is part of what Vite keeps the result by, so that it says what is redirected.
 */
function prebundled(state) {
  let scanning = false;
  const targets = state.redirects ? [...state.redirects.targets] : [];
  return {
    name: `sandbox-lsp:${targets.map(([request, { library }]) => `${request}@${library.version}`).join()}`,
    buildStart({ plugins }) {
      // Vite first looks through the application for its packages, with the hooks above.
      scanning = plugins?.some(({ name }) => name.startsWith("vite:dep-scan"));
    },
    resolveId(request, importer, how) {
      if (scanning) return undefined;
      const answer = state.redirects?.answer(request, importer, { required: isRequire(how) });
      if (answer?.warning) this.warn(answer.warning);
      return answer?.proxy && { id: answer.proxy, external: "absolute" };
    },
  };
}
