// What the plugin knows of a project: findings and manifest, as `sandbox-lsp build` gives them.
// The policy itself is never imported: it is code, and a build tool has no sandbox for it.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";

/** The policy's place in a project, when no option says another. */
const DEFAULT_CONFIG = "./.sandbox/sandbox.config.js";

/**
 * Builds the sandboxes of a project.
 *
 * @param {{ configPath?: string, binary?: string }} options
 * @param {string} context the bundler's root
 * @returns {Promise<{ root: string, findings: object[], errors: object[], warnings: object[], libraries: object[], marshallers?: string, engine?: string, watched: string[] }>}
 */
export async function buildPolicy({ configPath = DEFAULT_CONFIG, binary }, context) {
  const config = path.resolve(context, configPath);
  if (path.basename(path.dirname(config)) !== ".sandbox")
    throw new Error(`sandbox-lsp: configPath has to name a file in a folder .sandbox, such as ${DEFAULT_CONFIG}, not ${configPath}.`);
  if (!existsSync(config))
    throw new Error(`sandbox-lsp: there is no policy at ${config}. configPath counts from ${context}. To have one written: sandbox-lsp init`);
  // Bundlers name modules by their real paths, and so do the proxies here.
  const root = realpathSync(path.dirname(path.dirname(config)));
  const report = await run(program(binary, context), root);
  const findings = report.findings.map((finding) => shown(root, finding));
  const errors = findings.filter(({ severity }) => severity === "error");
  // A policy with errors writes nothing: the manifest would be that of an earlier one.
  const { libraries, marshallers, engine } = errors.length > 0 ? { libraries: [] } : readManifest(root);
  const entries = libraries.flatMap(({ workloads }) => workloads.map(({ entry }) => path.join(root, entry)));
  return {
    root,
    findings,
    errors,
    warnings: findings.filter(({ severity }) => severity === "warning"),
    libraries,
    marshallers,
    engine: engine?.sha256,
    // What no module of the application imports, and where an error may be mended.
    watched: [...new Set([config, ...entries, ...errors.map(({ file }) => file)])],
  };
}

/** What the last build of a project wrote, which is known to have gone well. */
export function readPolicy(config) {
  const root = realpathSync(path.dirname(path.dirname(config)));
  const { libraries, marshallers, engine } = readManifest(root);
  return { root, findings: [], libraries, marshallers, engine: engine.sha256 };
}

/** The command that builds, and what said so. */
function program(binary, context) {
  const [command, from] = binary
    ? [binary, "the option binary"]
    : process.env.SANDBOX_LSP
      ? [process.env.SANDBOX_LSP, "the environment variable SANDBOX_LSP"]
      : ["sandbox-lsp", "the PATH"];
  // A bare name is looked up on the PATH; a path counts from the bundler's root.
  return { command: /[\\/]/.test(command) ? path.resolve(context, command) : command, from };
}

function run({ command, from }, root) {
  return new Promise((resolve, reject) => {
    execFile(command, ["build", "--format", "json", root], { cwd: root, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      if (error?.code === "ENOENT" || error?.code === "EACCES") {
        return reject(
          new Error(
            `sandbox-lsp: ${command}, from ${from}, cannot be run (${error.code}). Put sandbox-lsp on the PATH, or say where it is in the option binary or in SANDBOX_LSP.`,
            { cause: error },
          ),
        );
      }
      // 1 says that there are findings, which are in the report.
      if (error && error.code !== 1) {
        return reject(new Error(`sandbox-lsp: ${command} build ${root} failed (${error.code ?? error.signal}): ${stderr.trim()}`, { cause: error }));
      }
      try {
        resolve(JSON.parse(stdout));
      } catch (cause) {
        reject(new Error(`sandbox-lsp: ${command}, from ${from}, printed no report: is it sandbox-lsp? ${stderr.trim()}`, { cause }));
      }
    });
  });
}

/** A finding with its absolute file, and with the text that `sandbox-lsp check` has for it. */
function shown(root, { code, severity, message, file, range, data }) {
  const { line, character } = range.start;
  return {
    code,
    severity,
    data,
    relative: file,
    file: path.resolve(root, file),
    line: line + 1,
    column: character,
    length: range.end.line === line ? range.end.character - character : 0,
    text: `${file}:${line + 1}:${character + 1} ${severity} ${code}\n  ${message}`,
  };
}

function readManifest(root) {
  const file = path.join(root, "dist", "sandbox-manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  if (manifest.schemaVersion !== 1)
    throw new Error(`sandbox-lsp: ${file} has schema version ${manifest.schemaVersion}, and this plugin reads 1. Use versions that belong together.`);
  return manifest;
}
