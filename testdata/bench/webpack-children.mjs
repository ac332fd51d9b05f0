// The reference design's build: one webpack 5 child compiler per library, the
// declarations parsed with TypeScript's compiler API, a simple proxy written for each.
// Bundles, declarations and proxies, then, as our own build makes them.
//
//   node webpack-children.mjs <project> [runs]
//
// Every run is a process of its own with a cold module cache, as a build is; the time
// is taken inside it, without the start of Node.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { inFreshProcesses, libraries, median, print, round, usage } from "./args.mjs";

const [project, runs = "3"] = process.argv.slice(2);
if (!project) usage("webpack-children.mjs <project> [runs]");

if (process.env.BENCH_ONCE) {
  print(await once(resolve(project)));
} else {
  const results = inFreshProcesses(fileURLToPath(import.meta.url), [project], Number(runs));
  print({
    peer: "webpack 5 child compilers",
    version: results[0].version,
    libraries,
    runs: results.length,
    ms: round(median(results.map((r) => r.ms))),
    bundlesMs: round(median(results.map((r) => r.bundlesMs))),
    proxiesMs: round(median(results.map((r) => r.proxiesMs))),
    bytes: results[0].bytes,
  });
}

async function once(context) {
  const start = performance.now();
  const [{ default: webpack }, { default: ts }] = await Promise.all([import("webpack"), import("typescript")]);
  const out = mkdtempSync(join(tmpdir(), "webpack-children-"));
  try {
    const proxiesStart = performance.now();
    for (const library of libraries) writeProxy(ts, context, library, out);
    const proxiesMs = performance.now() - proxiesStart;
    const bundlesStart = performance.now();
    await bundle(webpack, context, out);
    const bundlesMs = performance.now() - bundlesStart;
    const ms = performance.now() - start;
    const bytes = Object.fromEntries(libraries.map((library) => [library, statSync(join(out, `${library}.bundle.js`)).size]));
    return { version: webpack.version, ms, bundlesMs, proxiesMs, bytes };
  } finally {
    rmSync(out, { recursive: true });
  }
}

function bundle(webpack, context, path) {
  const { EntryPlugin } = webpack;
  const {
    library: { EnableLibraryPlugin },
  } = webpack;
  writeFileSync(join(path, "empty.js"), "");
  const compiler = webpack({ mode: "none", context, entry: join(path, "empty.js"), output: { path, filename: "host.js" }, devtool: false, plugins: [children] });
  function children({ hooks }) {
    hooks.make.tapPromise("children", (compilation) => Promise.all(libraries.map((library) => child(compilation, library))));
  }
  function child(compilation, library) {
    const compiler = compilation.createChildCompiler(library, { filename: `${library}.bundle.js`, library: { name: "__SANDBOXED_LIB__", type: "var" } }, [
      new EnableLibraryPlugin("var"),
      new EntryPlugin(context, library, { name: library, library: { name: "__SANDBOXED_LIB__", type: "var" } }),
    ]);
    return new Promise((done, fail) => {
      compiler.runAsChild((error, _entries, made) => {
        const failure = error ?? made.errors[0];
        failure ? fail(failure) : done();
      });
    });
  }
  return new Promise((done, fail) => {
    compiler.run((error, stats) => {
      if (error || stats.hasErrors()) return fail(error ?? new Error(stats.toString()));
      compiler.close(() => done());
    });
  });
}

// The reference looks for any declaration file of the package, or of its @types.
function declarations(folder) {
  try {
    return readdirSync(folder, { recursive: true })
      .filter((file) => /\.d\.[cm]?ts$/.test(file) && !file.includes("node_modules"))
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
}

function writeProxy(ts, context, library, out) {
  let files = declarations(join(context, "node_modules", library));
  if (files.length === 0) files = declarations(join(context, "node_modules", "@types", library));
  const names = new Map();
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    for (const statement of source.statements) {
      if (ts.isExportAssignment(statement)) names.set("default", "callable");
      if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword)) continue;
      if (ts.isFunctionDeclaration(statement) && statement.name) names.set(statement.name.text, "function");
      else if (ts.isClassDeclaration(statement) && statement.name) names.set(statement.name.text, "class");
      else if (ts.isVariableStatement(statement)) for (const d of statement.declarationList.declarations) if (ts.isIdentifier(d.name)) names.set(d.name.text, "value");
    }
  }
  const lines = [...names].sort().map(([name, kind]) => {
    if (name === "default") return "export default librarySandbox.callable();";
    return kind === "function" ? `export const ${name} = librarySandbox.fn("${name}");` : `export const ${name} = librarySandbox.exports["${name}"];`;
  });
  mkdirSync(join(out, "proxys"), { recursive: true });
  writeFileSync(join(out, "proxys", `${library}-proxy.js`), `${lines.join("\n")}\n`);
}
