import { noteBytecode } from "./bytecode.js";
import { SandboxError } from "./errors.js";
import { hashOf } from "./hash.js";
import { nodeBuiltin } from "./node-builtin.js";

let wantsBytecode = false;

/** Lets pages fetch bytecode, which costs them more bytes than it spares them time. */
export function fetchBytecode() {
  wantsBytecode = true;
}

/**
 * Reads the source text of a bundle: from disk in Node, over HTTP in a browser. Bytes with
 * another hash than the one that is given are refused, and so are those of its bytecode,
 * which may be missing.
 */
export async function loadBundle({ node, browser, sha256, bytecode }) {
  const fs = nodeBuiltin("node:fs");
  const place = String(fs ? node : browser);
  const beside = place.replace(/\.bundle\.js$/, ".bytecode.bin");
  // A bundler gives files other names.
  const isBeside = bytecode !== undefined && beside !== place && (fs !== undefined || wantsBytecode);
  const [bytes, packed] = await Promise.all([
    fs ? fromDisk(fs, node) : fetched(browser),
    isBeside ? (fs ? readOrNot(fs, new URL(beside)) : fetchedOrNot(beside)) : undefined,
  ]);
  if (sha256 !== undefined) await checkHash(`the bundle ${place}`, bytes, sha256);
  const code = fs ? bytes.toString("utf8") : new TextDecoder().decode(bytes);
  if (packed !== undefined) {
    await checkHash(`the bytecode ${beside}`, packed, bytecode);
    noteBytecode(code, packed);
  }
  return code;
}

async function checkHash(what, bytes, sha256) {
  if ((await hashOf(bytes)) === sha256) return;
  throw new SandboxError(
    `${what} is not what sandbox-lsp built, since its hash is not the one in its proxy (SBX045). Find out what changed it, then run \`sandbox-lsp build\` in the project.`,
  );
}

function readOrNot(fs, file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}

async function fetchedOrNot(url) {
  try {
    const response = await fetch(url);
    const isThere = response.ok && !response.headers.get("content-type")?.includes("text/html");
    return isThere ? new Uint8Array(await response.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
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
