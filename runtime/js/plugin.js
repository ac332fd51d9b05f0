// The redirect for bundlers: imports of sandboxed libraries become imports of their proxies.
import { createUnplugin } from "unplugin";
import { esbuildHooks } from "./plugin-esbuild.js";
import { rollupHooks } from "./plugin-rollup.js";
import { viteHooks } from "./plugin-vite.js";
import { webpackHooks } from "./plugin-webpack.js";

const name = "sandbox-lsp";

const hooks = {
  esbuild: esbuildHooks,
  rolldown: rollupHooks,
  rollup: rollupHooks,
  rspack: webpackHooks,
  vite: viteHooks,
  webpack: webpackHooks,
};

export const sandbox = createUnplugin((options = {}, { framework }) => {
  if (!hooks[framework]) throw new Error(`sandbox-lsp: there is no redirect for ${framework} yet.`);
  // Before what resolves packages and aliases, so that no request gets past.
  return { name, enforce: "pre", ...hooks[framework](options, framework) };
});

/** The redirect for webpack, with or without `new`. */
export function WebpackSandboxPlugin(options) {
  return sandbox.webpack(options);
}
