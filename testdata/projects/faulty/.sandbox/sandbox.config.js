import { defineConfig } from "@sandbox-lsp/runtime";

// Every fault below is deliberate. A comment `want CODE` at the end of a line says
// which findings start on that line, with the codes separated by commas.
export default defineConfig({
  lodash: {
    // A list is needed, not a string; and what the code asks for is not granted.
    permissions: "Intl", // want SBX004, want SBX014, want SBX014, want SBX014, want SBX016
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
    permissions: [], // want SBX014 what it looks for, want SBX016 what cannot be followed
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
  ms: { // want SBX030 it has none either
    permissions: [
      "localStorage", // want SBX013 nothing in it refers to it
      "fecth", // want SBX010 fetch is meant
      "Map", // want SBX011 every guest has it
      "document", // want SBX012 the whole realm; want SBX013 nothing asks for it
      {
        name: "fetch", // want SBX013 nor to this
        allow: ["https://*"], // want SBX015 every host there is
        expires: "2020-01-31", // want SBX017 long ago
      },
    ],
  },

  // It touches document while it loads.
  "needs-document": { permissions: [] }, // want SBX042, want SBX014
  spins: { permissions: [], limits: { timeoutMs: 200 } }, // want SBX043 it never ends loading
  "broken-import": { permissions: [] }, // its import of a missing file gives SBX040
});
