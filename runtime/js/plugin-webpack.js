// The hooks of webpack, and of Rspack, whose interface is the same.
import path from "node:path";
import { buildPolicy } from "./plugin-policy.js";
import { assetName, isEngineLoader, Redirects, WASM, withAssets } from "./plugin-redirect.js";

const NAME = "sandbox-lsp";

export function webpackHooks(options, framework) {
  let redirects;

  const isOurs = (id) => redirects?.isProxy(id) === true || isEngineLoader(id);

  function apply(compiler) {
    let policy;
    let refused = false;
    const start = async () => {
      refused = false;
      policy = await buildPolicy(options, compiler.context);
      redirects = new Redirects(policy);
    };
    // The URLs below are the plugin's, whatever the project does with its own.
    compiler.options.module.rules.push({ resource: isOurs, parser: { url: true } });

    compiler.hooks.beforeRun.tapPromise(NAME, start);
    compiler.hooks.watchRun.tapPromise(NAME, start);

    compiler.hooks.thisCompilation.tap(NAME, (compilation) => {
      for (const file of policy.watched) compilation.fileDependencies.add(file);
      for (const finding of policy.errors) compilation.errors.push(errorOf(compiler, finding));
      for (const finding of policy.warnings) compilation.warnings.push(errorOf(compiler, finding));
    });
    // Without its proxies an application would run the libraries as they are, and while it is
    // developed these bundlers emit what has errors.
    compiler.hooks.shouldEmit.tap(NAME, () => (policy.errors.length > 0 || refused ? false : undefined));

    compiler.hooks.compilation.tap(NAME, (compilation, { normalModuleFactory }) => {
      const say = ({ error, warning }) => {
        refused ||= error !== undefined;
        if (error) compilation.errors.push(new compiler.webpack.WebpackError(error));
        if (warning) compilation.warnings.push(new compiler.webpack.WebpackError(warning));
      };
      normalModuleFactory.hooks.beforeResolve.tap(NAME, (data) => {
        // That there are no workloads then is no news.
        if (policy.errors.length > 0) return data.request.startsWith("sandbox-workload/") ? false : undefined;
        const category = data.dependencies?.[0]?.category ?? "esm";
        if (category !== "esm" && category !== "commonjs") return undefined;
        const answer = redirects.answer(data.request, data.contextInfo.issuer || undefined, { required: category === "commonjs" });
        if (answer) say(answer);
        if (answer?.proxy) data.request = answer.proxy;
        return undefined;
      });
      // Rspack does not say beforehand how a module is asked for.
      if (framework !== "rspack") return;
      compilation.hooks.finishModules.tap(NAME, (modules) => {
        for (const module of modules) {
          if (!redirects.isProxy(module.resource)) continue;
          for (const { dependency, originModule } of compilation.moduleGraph.getIncomingConnections(module))
            if (dependency.category === "commonjs") say(redirects.refuse(module.resource, originModule?.resource));
        }
      });
    });
  }

  // No rule of the project's is meant for a library's text: the two exclamation marks pass by
  // all loaders, and what stands before `!=!` is the name and the type that the module goes by.
  const urlOf = (file) => {
    const named = path.join(path.dirname(file), assetName(file));
    return `new URL(${JSON.stringify(`${named}.webpack[asset/resource]!=!!!${file}`)}, import.meta.url)`;
  };
  return {
    [framework]: apply,
    transformInclude: isOurs,
    transform(code, id) {
      // Neither of the two knows import.meta.resolve, and Rspack warns of it.
      if (isEngineLoader(id)) return { code: code.replace(/import\.meta\.resolve\("quickjs-wasi\/quickjs\.wasm"\)/, () => `${urlOf(WASM)}.href`), map: null };
      return { code: withAssets(code, id, urlOf), map: null };
    },
  };
}

function errorOf(compiler, { text, code, relative, line, column, length }) {
  const error = new compiler.webpack.WebpackError(text);
  return Object.assign(error, { name: code, file: relative, loc: { start: { line, column }, end: { line, column: column + length } } });
}
