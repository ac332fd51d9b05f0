// The hooks of webpack, and of Rspack, whose interface is the same.
import path from "node:path";
import { buildPolicy } from "./plugin-policy.js";
import { Redirects, withAssets } from "./plugin-redirect.js";

const NAME = "sandbox-lsp";

export function webpackHooks(options, framework) {
  let redirects;

  function apply(compiler) {
    let policy;
    const start = async () => {
      policy = await buildPolicy(options, compiler.context);
      redirects = new Redirects(policy);
    };
    compiler.hooks.beforeRun.tapPromise(NAME, start);
    compiler.hooks.watchRun.tapPromise(NAME, start);

    compiler.hooks.thisCompilation.tap(NAME, (compilation) => {
      compilation.fileDependencies.add(policy.config);
      for (const finding of policy.errors) compilation.errors.push(errorOf(compiler, finding));
      for (const finding of policy.warnings) compilation.warnings.push(errorOf(compiler, finding));
    });
    // Without its proxies an application would run the libraries as they are.
    compiler.hooks.shouldEmit.tap(NAME, () => (policy.errors.length > 0 ? false : undefined));

    compiler.hooks.compilation.tap(NAME, (compilation, { normalModuleFactory }) => {
      normalModuleFactory.hooks.beforeResolve.tap(NAME, (data) => {
        const category = data.dependencies?.[0]?.category ?? data.dependencyType ?? "esm";
        if (category !== "esm" && category !== "commonjs") return;
        const answer = redirects.answer(data.request, data.contextInfo.issuer || undefined, { required: category === "commonjs" });
        if (answer?.error) compilation.errors.push(new compiler.webpack.WebpackError(answer.error));
        if (answer?.warning) compilation.warnings.push(new compiler.webpack.WebpackError(answer.warning));
        if (answer?.proxy) data.request = answer.proxy;
      });
    });

    // No rule of the project's is meant for a library's text: its loaders are passed by, and
    // as a text file no minifier takes it for a script.
    compiler.options.module.rules.push({
      dependency: "url",
      resource: (file) => isBundle(file),
      type: "asset/resource",
      generator: { filename: "[name].[contenthash:8].txt" },
    });
  }

  const isBundle = (file) => path.basename(path.dirname(file)) === "dist" && /\.bundle\.js$/.test(file);
  return {
    [framework]: apply,
    transformInclude: (id) => redirects.isProxy(id),
    transform(code, id) {
      return { code: withAssets(code, id, (file) => `new URL(${JSON.stringify(`!!${file}`)}, import.meta.url)`), map: null };
    },
  };
}

function errorOf(compiler, { text, code, relative, line, column, length }) {
  const error = new compiler.webpack.WebpackError(text);
  return Object.assign(error, { name: code, file: relative, loc: { start: { line, column }, end: { line, column: column + length } } });
}
