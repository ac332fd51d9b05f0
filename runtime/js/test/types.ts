// Compiled, never run: the types of the package as applications use them.
import { defineConfig, loadBundle, type Permission, SandboxLimitError, SandboxManager } from "@sandbox-lsp/runtime";
import { sandbox, WebpackSandboxPlugin } from "@sandbox-lsp/runtime/plugin";

export default defineConfig({
  lodash: {
    permissions: ["Intl", { name: "fetch", allow: ["https://api.example.com/*"] }],
    workloads: { stats: { entry: "src/sandbox/stats.js", exports: ["summarise"] } },
    limits: { memoryMB: 64, timeoutMs: 1000 },
    arguments: "data",
  },
});

// A policy in TypeScript may say everything that one in JavaScript may.
const prices: Permission = {
  name: "fetch",
  allow: ["https://api.example.com/*"],
  reason: "loads prices",
  owner: "team-shop",
  expires: "2027-01-31",
};
const shared = ["Intl", "aGlobalThatNobodyKnows"] as const;
defineConfig({
  prices: { permissions: [prices, { name: "crypto", reason: "makes identifiers" }] },
  dates: { permissions: shared, reads: "exact", results: "live", snapshot: true, subpaths: true },
});

// @ts-expect-error a reason is text
defineConfig({ qs: { permissions: [{ name: "fetch", reason: 1 }] } });
// @ts-expect-error a day is text
defineConfig({ qs: { permissions: [{ name: "fetch", expires: new Date() }] } });
// @ts-expect-error a grant has a name
defineConfig({ qs: { permissions: [{ reason: "loads prices" }] } });
// @ts-expect-error no such option of a grant
defineConfig({ qs: { permissions: [{ name: "fetch", allows: [] }] } });
// @ts-expect-error permissions are required
defineConfig({ qs: {} });
// @ts-expect-error permissions are a list
defineConfig({ qs: { permissions: "Intl" } });
// @ts-expect-error no such option
defineConfig({ qs: { permissions: [], snapshots: true } });

export async function use(): Promise<number> {
  const code = await loadBundle({ node: new URL("./a.js", import.meta.url), browser: "/dist/a.js" });
  const sandbox = await SandboxManager.createSandbox("a", code, { permissions: [], capabilities: { now: () => 1 } });
  try {
    return sandbox.fn("add")(1, 2);
  } catch (error) {
    if (error instanceof SandboxLimitError && error.limit === "time") return 0;
    throw error;
  } finally {
    sandbox.dispose();
  }
}

// The redirect, as configurations of bundlers use it.
export const plugins = [
  sandbox.vite(),
  sandbox.rollup({ configPath: "./.sandbox/sandbox.config.js", binary: "sandbox-lsp" }),
  sandbox.esbuild({ configPath: "./.sandbox/sandbox.config.js" }),
].map((plugin) => plugin.name);
new WebpackSandboxPlugin({ configPath: "./.sandbox/sandbox.config.js" }).apply({});
WebpackSandboxPlugin({}).apply({});
sandbox.rspack({}).apply({});
// @ts-expect-error the option is configPath
sandbox.webpack({ config: "./.sandbox/sandbox.config.js" });
