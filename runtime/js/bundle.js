import { SandboxError } from "./errors.js";
import { hashOf } from "./hash.js";

/**
 * A Node built-in, or undefined elsewhere. It is asked of the process rather than
 * imported, so that bundlers for browsers have nothing to resolve.
 */
export function nodeBuiltin(name) {
  const host = globalThis.process;
  return host?.versions?.node ? host.getBuiltinModule?.(name) : undefined;
}

/**
 * Reads the source text of a bundle: from disk in Node, over HTTP in a browser. Bytes with
 * another hash than the one that is given are refused.
 */
export async function loadBundle({ node, browser, sha256 }) {
  const fs = nodeBuiltin("node:fs");
  const bytes = fs ? fromDisk(fs, node) : await fetched(browser);
  if (sha256 !== undefined && (await hashOf(bytes)) !== sha256)
    throw new SandboxError(
      `the bundle ${fs ? node : browser} is not what sandbox-lsp built, since its hash is not the one in its proxy (SBX045). Find out what changed it, then run \`sandbox-lsp build\` in the project.`,
    );
  return fs ? bytes.toString("utf8") : new TextDecoder().decode(bytes);
}

function fromDisk(fs, file) {
  try {
    return fs.readFileSync(file);
  } catch (cause) {
    throw new SandboxError(`the bundle ${file} cannot be read (${cause.code ?? cause.message}). Run \`sandbox-lsp build\` in the project.`, { cause });
  }
}

async function fetched(url) {
  let response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new SandboxError(`the bundle ${url} cannot be fetched: ${cause.message}`, { cause });
  }
  // Development servers answer unknown paths with their index page.
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || type.includes("text/html")) {
    throw new SandboxError(
      `the bundle ${url} is not there (status ${response.status}, ${type || "no content type"}). Serve the project's dist folder at /dist.`,
    );
  }
  return response.arrayBuffer();
}
