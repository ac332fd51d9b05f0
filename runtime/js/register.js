// The redirect in Node: `node --import @sandbox-lsp/runtime/register`. What is imported or
// required of a sandboxed library, by an application or its tests, comes from its sandbox.
//
// A sandbox is made when its library is first asked for, at once, so that both ways give the
// same one.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import Module, { register } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { noteBytecode } from "./bytecode.js";
import { SandboxError, SandboxManager } from "./index.js";
import { buildPolicy, readPolicy } from "./plugin-policy.js";
import { Redirects } from "./plugin-redirect.js";
import { SHARED } from "./register-hooks.js";

/** Says to the processes that this one starts, such as a test runner's, what is built. */
const BUILT = "SANDBOX_LSP_REGISTERED";

const config = findConfig(process.cwd());
const policy = process.env[BUILT] === config ? readPolicy(config) : await build();
process.env[BUILT] = config;

async function build() {
  const built = await buildPolicy({ configPath: config }, process.cwd());
  if (built.errors.length > 0) throw new Error(built.errors.map(({ text }) => text).join("\n"));
  return built;
}

/** The policy of the nearest folder that has one. */
function findConfig(from) {
  for (let folder = from; ; folder = path.dirname(folder)) {
    for (const ending of ["js", "mjs", "cjs", "ts"]) {
      const file = path.join(folder, ".sandbox", `sandbox.config.${ending}`);
      if (existsSync(file)) return file;
    }
    if (folder === path.dirname(folder))
      throw new Error(`sandbox-lsp: there is no .sandbox/sandbox.config.js at ${from} or above it. To have one written: sandbox-lsp init`);
  }
}

const sandboxes = new Map(); // request -> sandbox
let marshallers; // of every one of them, once they are loaded

/** The sandbox of a library. */
function sandboxOf(library) {
  let sandbox = sandboxes.get(library.request);
  if (sandbox === undefined) {
    if (marshallers === undefined)
      throw new SandboxError(
        `${policy.marshallers} imports ${library.request}, whose sandbox needs the marshallers first. Let their methods import it when they are called.`,
      );
    const { request, permissions, limits, arguments: args, results, reads, snapshot } = library;
    const code = textOf(library.bundle);
    if (library.bytecode) noteBytecode(code, bytesOf(library.bytecode));
    sandbox = SandboxManager.createSandboxSync(request, code, {
      permissions,
      limits,
      arguments: args,
      results,
      reads,
      snapshot,
      engine: policy.engine,
      marshallers,
    });
    sandbox.unrefPump();
    sandboxes.set(request, sandbox);
  }
  return sandbox;
}

const textOf = (bundle) => bytesOf(bundle).toString("utf8");

function bytesOf(built) {
  const file = path.join(policy.root, built.path);
  const bytes = readFileSync(file);
  if (createHash("sha256").update(bytes).digest("hex") !== built.sha256)
    throw new SandboxError(`${file} is not what dist/sandbox-manifest.json says was built. Run \`sandbox-lsp build\` in the project.`);
  return bytes;
}

// For the proxies, which register-hooks.js changes to ask for the same sandboxes.
globalThis[SHARED] = (request) => sandboxOf(policy.libraries.find((library) => library.request === request));
register("./register-hooks.js", import.meta.url, { data: policy });

marshallers = policy.marshallers ? (await import(pathToFileURL(path.join(policy.root, policy.marshallers)))).default : [];

/** What a request means: the library's own exports object, a subpath's, a workload's. */
function exportsOf({ library, workload, request }) {
  const sandbox = sandboxOf(library);
  if (workload) return sandbox.loadWorkload(workload.name, textOf(workload.bundle));
  return request === library.request ? sandbox.exports : sandbox.subpath(request).exports;
}

const redirects = new Redirects(policy);
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const answer = redirects.answer(request, parent?.filename);
  if (answer?.error) throw new Error(answer.error);
  if (answer?.warning) process.emitWarning(answer.warning);
  if (!answer?.proxy) return Reflect.apply(resolveFilename, this, [request, parent, ...rest]);
  // By the proxy's path both require() and import give what is in the sandbox.
  if (!(answer.proxy in Module._cache)) {
    const module = new Module(answer.proxy);
    module.filename = answer.proxy;
    module.exports = exportsOf(answer);
    module.loaded = true;
    Module._cache[answer.proxy] = module;
  }
  return answer.proxy;
};
