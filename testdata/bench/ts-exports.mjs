// The exports of each library by TypeScript's own compiler API: a program over one
// import, then the checker. As in our own reader no default library is loaded.
//
//   node ts-exports.mjs <project> [runs]
//
// Every run is a process of its own; the time leaves out loading the compiler.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { inFreshProcesses, libraries, median, print, round, usage } from "./args.mjs";

const [project, runs = "5"] = process.argv.slice(2);
if (!project) usage("ts-exports.mjs <project> [runs]");

if (process.env.BENCH_ONCE) {
  print(libraries.map((library) => once(resolve(project), library)));
} else {
  const results = inFreshProcesses(fileURLToPath(import.meta.url), [project], Number(runs));
  const of = (i, key) => results.map((result) => result[i][key]);
  print({
    peer: "TypeScript compiler API",
    version: ts.version,
    runs: results.length,
    totalMs: round(median(results.map((result) => result.reduce((sum, r) => sum + r.ms, 0)))),
    libraries: Object.fromEntries(libraries.map((library, i) => [library, { ms: round(median(of(i, "ms"))), exports: of(i, "exports")[0] }])),
  });
}

function once(root, library) {
  const start = performance.now();
  const file = resolve(root, "__bench__.ts");
  const text = `import * as x from ${JSON.stringify(library)}; export { x };`;
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ESNext,
    noLib: true,
    types: [],
    noEmit: true,
    esModuleInterop: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) => (name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext) : getSourceFile.call(host, name, ...rest));
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.readFile = (name) => (name === file ? text : readFile.call(host, name));
  host.getCurrentDirectory = () => root;
  const program = ts.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const specifier = program.getSourceFile(file).statements[0].moduleSpecifier;
  const symbol = checker.getSymbolAtLocation(specifier);
  if (!symbol) throw new Error(`no declarations of ${library} were found from ${root}`);
  // Properties too: what a callable export (export = _) carries counts as exports.
  const exports = checker.getExportsAndPropertiesOfModule?.(symbol) ?? checker.getExportsOfModule(symbol);
  return { ms: performance.now() - start, exports: exports.length };
}
