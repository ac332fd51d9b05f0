// Compiled, never run: the types of the package as applications use them.
import { defineConfig, loadBundle, SandboxLimitError, SandboxManager } from "@sandbox-lsp/runtime";

export default defineConfig({
  lodash: {
    permissions: ["Intl", { name: "fetch", allow: ["https://api.example.com/*"] }],
    workloads: { stats: { entry: "src/sandbox/stats.js", exports: ["summarise"] } },
    limits: { memoryMB: 64, timeoutMs: 1000 },
    arguments: "data",
  },
});

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
