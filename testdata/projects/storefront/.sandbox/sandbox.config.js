import { defineConfig } from "@sandbox-lsp/runtime";

// What each library may use of the host. An empty list grants nothing.
export default defineConfig({
  lodash: {
    permissions: [],
    workloads: {
      stats: {
        entry: "src/sandbox/stats.js",
        exports: ["summarise", "topSellers"],
      },
    },
    limits: { memoryMB: 64, timeoutMs: 1000 },
  },
  // Both date libraries format with their own tables and so need no Intl here.
  dayjs: { permissions: [] },
  "date-fns": { permissions: [] },
  zod: { permissions: [] },
  // v4() draws its random bytes from crypto.getRandomValues.
  uuid: { permissions: ["crypto"] },
  qs: {
    permissions: [],
    workloads: {
      filters: {
        entry: "src/sandbox/filters.js",
        exports: ["parseFilters"],
      },
    },
  },
});
