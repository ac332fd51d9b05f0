import { defineConfig } from "@sandbox-lsp/runtime";

// What each library may use of the host. An empty list grants nothing.
export default defineConfig({
  // sandbox-lsp-ignore-library SBX014, SBX016 -- the shop neither debounces nor compiles templates
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
  // sandbox-lsp-ignore-library SBX032 -- its types promise a class Dayjs that it does not export
  dayjs: { permissions: [] },
  // sandbox-lsp-ignore-library SBX014 -- the shop formats with format(), which has tables of its own
  "date-fns": { permissions: [] },
  // sandbox-lsp-ignore-library SBX014, SBX016 -- the shop validates no files; the parsers that it compiles run inside too
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
