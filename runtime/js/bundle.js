import { SandboxError } from "./errors.js";

/**
 * A Node built-in, or undefined elsewhere. It is asked of the process rather than
 * imported, so that bundlers for browsers have nothing to resolve.
 */
export function nodeBuiltin(name) {
  const host = globalThis.process;
  return host?.versions?.node ? host.getBuiltinModule?.(name) : undefined;
}

/** Reads the source text of a bundle: from disk in Node, over HTTP in a browser. */
export async function loadBundle({ node, browser }) {
  const fs = nodeBuiltin("node:fs");
  if (fs) {
    try {
      return fs.readFileSync(node, "utf8");
    } catch (cause) {
      throw new SandboxError(`the bundle ${node} cannot be read (${cause.code ?? cause.message}). Run \`sandbox-lsp build\` in the project.`, { cause });
    }
  }
  let response;
  try {
    response = await fetch(browser);
  } catch (cause) {
    throw new SandboxError(`the bundle ${browser} cannot be fetched: ${cause.message}`, { cause });
  }
  // Development servers answer unknown paths with their index page.
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || type.includes("text/html")) {
    throw new SandboxError(
      `the bundle ${browser} is not there (status ${response.status}, ${type || "no content type"}). Serve the project's dist folder at /dist.`,
    );
  }
  return response.text();
}
