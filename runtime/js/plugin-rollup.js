// The hooks of Rollup. Vite's builds have the same; what its development server needs besides
// is in plugin-vite.js.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPolicy } from "./plugin-policy.js";
import { assetName, Redirects, withAssets } from "./plugin-redirect.js";

/** A request of a package, other than what Vite's own pages ask for. */
const PACKAGE = /^(?!@?vite\/)[\w@][^:]*$/;

/**
 * @param {object} options
 * @param {string} framework
 * @param {{ root: string, policy?: object, redirects?: Redirects, served?: Function }} state what
 *   Vite's hooks know too: `served` gives the URLs of assets where nothing is emitted
 */
export function rollupHooks(options, framework, state = { root: process.cwd() }) {
  // The same bytes are one file, however often they are emitted.
  const emitted = (context) => (file) => {
    const reference = context.emitFile({ type: "asset", name: assetName(file), source: readFileSync(file) });
    return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
  };

  return {
    async buildStart() {
      state.redirects = undefined;
      const policy = await buildPolicy(options, state.root);
      state.policy = policy;
      for (const file of policy.watched) this.addWatchFile(file);
      for (const finding of policy.warnings) this.warn(logOf(finding));
      const [first, ...others] = policy.errors;
      // Rollup ends at its first error, which therefore has to say all of them.
      if (first) this.error({ ...logOf(first), message: [first, ...others].map(({ text }) => text).join("\n") });
      state.redirects = new Redirects(policy);
    },

    async resolveId(request, importer, how) {
      const { redirects, policy } = state;
      if (!redirects) {
        // A development server goes on after an error, and must not serve the libraries as they are.
        if (PACKAGE.test(request)) this.error(`the sandboxes are not built:\n${policy?.errors.map(({ text }) => text).join("\n")}`);
        return undefined;
      }
      const answer = redirects.answer(request, importer, { required: isRequire(how) });
      if (answer?.error) this.error(answer.error);
      if (answer?.warning) this.warn(answer.warning);
      if (answer?.proxy) return answer.proxy;
      // Rollup alone knows no packages, and a proxy needs just this one.
      if (framework === "rollup" && request === "@sandbox-lsp/runtime" && redirects.isProxy(importer))
        return (await this.resolve(request, importer, { skipSelf: true })) ?? fileURLToPath(new URL("index.js", import.meta.url));
      return undefined;
    },

    // Without a plugin for them Rollup passes over calls of require(), and resolves nothing.
    rollup: {
      moduleParsed({ id, code, ast }) {
        if (!state.redirects || !code?.includes("require")) return;
        for (const request of requiredBy(ast)) {
          const answer = state.redirects.answer(request, id, { required: true });
          if (answer?.error) this.error(answer.error);
          if (answer?.warning) this.warn(answer.warning);
        }
      },
    },

    transformInclude: (id) => state.redirects?.isProxy(id) === true,
    transform(code, id) {
      return { code: withAssets(code, id, state.served ?? emitted(this)), map: null };
    },
  };
}

/** Whether a request is that of a require(): Rolldown says so, and Rollup's plugin for them. */
export function isRequire(how) {
  return how?.kind === "require-call" || how?.custom?.["node-resolve"]?.isRequire === true;
}

/** The requests of the calls of require() that a module still has. */
function requiredBy(program) {
  const found = new Set();
  const waiting = [program];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (node.type === "CallExpression" && node.callee.name === "require" && typeof node.arguments[0]?.value === "string") found.add(node.arguments[0].value);
    for (const part of Object.values(node)) if (typeof part === "object" && part !== null) waiting.push(part);
  }
  return found;
}

const logOf = ({ text, code, file, line, column }) => ({ message: text, pluginCode: code, id: file, loc: { file, line, column } });
