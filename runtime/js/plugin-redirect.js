// Which request of which module becomes a proxy, and what a proxy is told of its files' URLs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The engine's module, which every page with a sandbox fetches. */
// Where Node's module hooks run there is no import.meta.resolve.
export const WASM = createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");

const RUNTIME = path.dirname(fileURLToPath(import.meta.url)) + path.sep;

// What proxygen writes. The expressions stand where the bundler's asset URLs have to be.
const LOAD =
  /await loadBundle\(\{\s*node: new URL\(("[^"]+"), import\.meta\.url\),\s*browser: "[^"]+",\s*(sha256: "[^"]+")?,?\s*(?:bytecode: "[^"]+",)?\s*\}\)/g;

/** The redirects of one build. */
export class Redirects {
  /** @param {{ root: string, findings: object[], libraries: object[] }} policy */
  constructor({ root, findings, libraries }) {
    this.root = root;
    this.findings = findings;
    this.targets = new Map(); // request -> { library, proxy }
    this.proxies = new Set();
    this.bundles = new Map(); // file name -> file
    for (const library of libraries) {
      this.#add(library.request, library, library);
      for (const { request, proxy } of library.subpathProxies ?? []) this.#add(request, library, { proxy, bundle: library.bundle });
      for (const workload of library.workloads) this.#add(`sandbox-workload/${library.request}/${workload.name}`, library, workload);
    }
    this.libraries = [...libraries].sort((a, b) => b.request.length - a.request.length); // the closest first
    this.said = new Set();
  }

  #add(request, library, built) {
    const proxy = path.join(this.root, built.proxy.path);
    this.targets.set(request, { library, proxy, request, workload: library.workloads.includes(built) ? built : undefined });
    this.proxies.add(proxy);
    this.bundles.set(path.basename(built.bundle.path), path.join(this.root, built.bundle.path));
  }

  /** Whether a module is one of the proxies of this build. */
  isProxy(id) {
    return this.proxies.has(fileOf(id) ?? "");
  }

  /**
   * Answers one import: with the proxy, with a warning or an error where the request has to
   * stay as it is, or with nothing where it is not ours.
   *
   * @param {string} request
   * @param {string | undefined} importer the module's id; none for an entry
   * @param {{ required?: boolean }} [how] whether it is a call of require()
   * @returns {{ proxy?: string, library?: object, workload?: object, warning?: string, error?: string } | undefined}
   */
  answer(request, importer, { required = false } = {}) {
    const target = this.targets.get(request);
    if (!target) return this.#nowhere(request, fileOf(importer));
    const file = fileOf(importer);
    // The proxies' own imports and the runtime's would go round in circles.
    if (file !== undefined && (this.proxies.has(file) || file.startsWith(RUNTIME))) return undefined;
    const from = file === undefined ? this.root : path.dirname(file);
    const { library } = target;
    if (!target.workload) {
      const here = packageFrom(from, request);
      if (here && (here.version !== library.version || here.name !== library.package)) return this.#otherVersion(target, file, here);
    }
    if (required) return this.#required(request, file);
    return target;
  }

  /** Some bundlers go on where nothing answers an import, and the page fails. */
  #nowhere(request, file) {
    if (request.startsWith("sandbox-workload/"))
      return { error: `${this.#shown(file)}: error SBX031\n  The policy has no workload for "${request}", or its entry does not exist.` };
    if (request.startsWith("sandbox-real/")) return { error: `${this.#shown(file)}: error SBX031\n  "${request}" exists only inside of workloads.` };
    return file === undefined ? undefined : this.#below(request, file);
  }

  /** A subpath without a proxy is left as it is, and said once of each package. */
  #below(request, file) {
    const library = this.libraries.find(({ request: own }) => request.startsWith(`${own}/`));
    if (!library || !isScript(request)) return undefined;
    const packages = file.split(path.sep).join("/").split("/node_modules/").slice(1);
    // A library may name itself. Of the application's own files the build has said so,
    // unless it did not see them.
    const own = library.package === nameOf(packages.at(-1) ?? "");
    if (own || (packages.length === 0 && !library.subpaths)) return undefined;
    const importer = packages.length === 0 ? file : file.slice(0, file.length - packages.at(-1).length) + nameOf(packages.at(-1));
    const key = `${importer}:${library.request}`;
    if (this.said.has(key)) return {};
    this.said.add(key);
    const why = library.subpaths ? "no file of the application imports it that sandbox-lsp reads" : `the policy redirects "${library.request}" alone`;
    const first = library.subpaths ? "Import" : `Set subpaths: true for "${library.request}", and import`;
    const advice = `${first} "${request}" in a file of the application as well, so that a proxy is made of it.`;
    return {
      warning: `${this.#shown(file)}: warning SBX031\n  "${request}" is not redirected, since ${why}: this copy of it runs outside of the sandbox, with everything that the page may do. ${advice}`,
    };
  }

  #otherVersion({ library, request }, file, here) {
    const held = here.name === library.package ? library.version : `${library.package} ${library.version}`;
    // The build has said so of the application's own files.
    const known = this.findings.some(({ code, file: at, data }) => code === "SBX044" && at === file && data?.version === here.version);
    const text = `${this.#shown(file)}: warning SBX044\n  "${request}" resolves to ${here.name} ${here.version} here (${this.#shown(here.dir)}), but the sandbox holds ${held}. The redirect leaves this import as it is, so that it runs outside of the sandbox. Bring the two to one version, or give this part of the project a .sandbox folder of its own.`;
    return this.#once(known ? {} : { warning: text });
  }

  #required(request, file) {
    // A package's author cannot be asked to change it.
    if (!file?.includes(`${path.sep}node_modules${path.sep}`)) return { error: `${this.#awaited(request, file, "error")}. Write it as an import.` };
    const warning = `${this.#awaited(request, file, "warning")}: this package's copy of it runs outside of the sandbox, with everything that the page may do.`;
    return this.#once({ warning });
  }

  /** What is said of a call of require() that has been redirected already. */
  refuse(proxy, importer) {
    const [request] = [...this.targets].find(([, target]) => target.proxy === fileOf(proxy));
    return {
      error: `${this.#awaited(request, fileOf(importer), "error")}. Write it as an import. Rspack says too late how a module is asked for, so that not even a package's require() can be left as it is.`,
    };
  }

  #awaited(request, file, severity) {
    return `${this.#shown(file)}: ${severity} SBX031\n  require("${request}") cannot be redirected, since a sandbox is awaited before its library is there`;
  }

  /** An answer whose warning was given before comes without it. */
  #once(answer) {
    if (answer.warning === undefined || this.said.has(answer.warning)) return {};
    this.said.add(answer.warning);
    return answer;
  }

  #shown(file) {
    return file === undefined ? "an entry" : path.relative(this.root, file).split(path.sep).join("/");
  }
}

/**
 * The text of a proxy that loads its files from where the bundler puts them. The number of
 * its lines stays the same, so that its source map still fits.
 *
 * @param {string} code
 * @param {string} id
 * @param {(file: string) => { node: string, browser: string } | string} urlOf an expression for
 *   the URL of an asset, or two where Node and browsers differ
 */
export function withAssets(code, id, urlOf) {
  const file = fileOf(id);
  // That of a subpath loads nothing: it is part of its library's bundle.
  if (code.includes("__sandbox.subpath(")) return code;
  let count = 0;
  const text = code.replace(LOAD, (call, relative, hash) => {
    count++;
    const urls = both(urlOf(fileURLToPath(new URL(JSON.parse(relative), pathToFileURL(file)))));
    const load = `loadBundle({ node: ${urls.node}, browser: ${urls.browser}${hash ? `, ${hash}` : ""} })`;
    const lines = "\n".repeat(call.split("\n").length - 1);
    // A workload's library has the engine already.
    if (!code.includes("SandboxManager.createSandbox(")) return `await ${load}${lines}`;
    const wasm = both(urlOf(WASM));
    const source = wasm.node === wasm.browser ? wasm.node : `globalThis.process?.versions?.node ? ${wasm.node} : ${wasm.browser}`;
    // Both are fetched at once.
    return `(await Promise.all([${load}, SandboxManager.ready({ wasm: ${source} })]))[0]${lines}`;
  });
  if (count !== 1) throw strange(file);
  return text;
}

// What proxygen writes of a library's sandbox.
const MAKE =
  /const libraryCode = await loadBundle\(\{[^}]*\}\);\s*const librarySandbox = await SandboxManager\.createSandbox\(("[^"]+"), libraryCode, \{[\s\S]*?\n\}\);/;

/**
 * The text of a proxy whose library's sandbox is another's to make; that of a workload is as
 * it was. The number of its lines stays the same.
 *
 * @param {(request: string) => string} sandboxOf an expression for the sandbox
 */
export function withSandbox(code, file, sandboxOf) {
  if (!code.includes("SandboxManager.createSandbox(")) return code;
  let found = false;
  const text = code.replace(MAKE, (made, request) => {
    found = true;
    return `const librarySandbox = ${sandboxOf(JSON.parse(request))};${"\n".repeat(made.split("\n").length - 1)}`;
  });
  if (!found) throw strange(file);
  return text;
}

const strange = (file) =>
  new Error(
    `sandbox-lsp: ${file} is not as this version of the plugin knows proxies. Use versions of sandbox-lsp and @sandbox-lsp/runtime that belong together.`,
  );

const both = (url) => (typeof url === "string" ? { node: url, browser: url } : url);

/**
 * The name that an asset is given. A library's text is no script of the page's: named so, no
 * minifier touches it, and a server that says `nosniff` lets no page run it as one.
 */
export function assetName(file) {
  return path.basename(file).replace(/\.js$/, ".txt");
}

/** The file of a module id as bundlers write them, with a mark before it or a query after it. */
function fileOf(id) {
  if (id === undefined || id === null) return undefined;
  const file = id.replace(/^\0/, "").replace(/[?#].*$/, "");
  return path.isAbsolute(file) ? path.normalize(file) : undefined;
}

/** Whether a request may mean code, rather than a stylesheet or data. */
const isScript = (request) => !request.includes("?") && (/\.[cm]?[jt]sx?$/.test(request) || !/\.[a-z]\w*$/.test(request));

/** Whether a module is the one of the runtime that loads the engine. */
export function isEngineLoader(id) {
  const file = fileOf(id);
  return file === path.join(RUNTIME, "wasm.js") || file?.endsWith(path.join("node_modules", "@sandbox-lsp", "runtime", "wasm.js")) === true;
}

/** The package that a request, or a path below node_modules, begins with. */
const nameOf = (request) => request.split("/", request.startsWith("@") ? 2 : 1).join("/");

/** The package that Node would find for a request from a folder. */
function packageFrom(from, request) {
  const name = nameOf(request);
  for (let folder = from; ; folder = path.dirname(folder)) {
    const dir = path.join(folder, "node_modules", name);
    try {
      const { name: own, version } = JSON.parse(readFileSync(path.join(dir, "package.json"), "utf8"));
      return { dir, name: own, version };
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    }
    if (folder === path.dirname(folder)) return undefined;
  }
}
