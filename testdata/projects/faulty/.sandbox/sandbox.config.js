import { defineConfig } from "@sandbox-lsp/runtime";

// Every fault below is deliberate. A comment `want CODE` at the end of a line says
// which findings start on that line, with the codes separated by commas.
export default defineConfig({
  lodash: {
    permissions: "Intl", // want SBX004 a list is needed, not a string
    workloads: {
      gone: {
        entry: "src/sandbox/gone.js", // want SBX020 there is no such file
        exports: ["run"],
      },
      report: {
        entry: "src/sandbox/report.js",
        exports: [
          "summarise",
          "sumarise", // want SBX021 the entry does not export it
        ],
      },
      totals: {
        entry: "src/sandbox/totals.js",
        exports: ["total"], // want SBX022 the entry exports median as well
      },
      crossing: {
        entry: "src/sandbox/crossing.js", // its import of qs gives SBX023
        exports: ["run"],
      },
    },
  },

  lodahs: { permissions: [] }, // want SBX003 lodash is meant

  qs: {
    permissions: [],
    snapshots: true, // want SBX004 unknown option
    subpaths: true,
    subpaths: false, // want SBX004 duplicate key
    limits: {
      memoryMB: "64", // want SBX004 a number is needed
      bundleKB: 1, // want SBX041 qs does not fit into 1 KiB
    },
  },

  dayjs: {}, // want SBX005 no permissions; want SBX032 a declared class is not there

  uuid: { permissions: ["crypto"] }, // want SBX030 version 8 has no declarations
  ms: { permissions: [] }, // want SBX030 it has none either

  "needs-document": { permissions: [] }, // want SBX042 it touches document while it loads
  spins: { permissions: [], limits: { timeoutMs: 200 } }, // want SBX043 it never ends loading
  "broken-import": { permissions: [] }, // its import of a missing file gives SBX040
});
