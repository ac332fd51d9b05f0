export interface SandboxPluginOptions {
  /** The policy, from the bundler's root. `"./.sandbox/sandbox.config.js"` when not given. */
  configPath?: string;
  /**
   * The program sandbox-lsp: a name on the PATH, or a path from the bundler's root. When not
   * given, what the environment variable SANDBOX_LSP says, else `sandbox-lsp`.
   */
  binary?: string;
}

/** A plugin of Rollup's kind. Its hooks are the bundler's business. */
export interface RollupPlugin {
  name: string;
  [hook: string]: any;
}

/** A plugin of webpack's kind. */
export interface CompilerPlugin {
  apply(compiler: any): void;
}

/**
 * Redirects imports of the libraries that a policy names to their proxies, in one bundler or
 * another, and builds the sandboxes before that.
 */
export declare const sandbox: {
  vite(options?: SandboxPluginOptions): RollupPlugin;
  rollup(options?: SandboxPluginOptions): RollupPlugin;
  rolldown(options?: SandboxPluginOptions): RollupPlugin;
  webpack(options?: SandboxPluginOptions): CompilerPlugin;
  rspack(options?: SandboxPluginOptions): CompilerPlugin;
  esbuild(options?: SandboxPluginOptions): { name: string; setup(build: any): void | Promise<void> };
};

/** The redirect for webpack. */
export declare const WebpackSandboxPlugin: {
  new (options: SandboxPluginOptions): CompilerPlugin;
  (options: SandboxPluginOptions): CompilerPlugin;
};
