// SHA-256, as the manifest of a build has it.
import { nodeBuiltin } from "./node-builtin.js";
import { sha256 } from "./sha256.js";

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const bytesOf = (source) => (ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source));

/** The hash of a buffer or of a view's bytes, in hexadecimal. */
export async function hashOf(source) {
  // A page that came over plain HTTP has no crypto.subtle.
  const subtle = nodeBuiltin("node:crypto") ? undefined : globalThis.crypto.subtle;
  return subtle ? hex(new Uint8Array(await subtle.digest("SHA-256", source))) : hashNow(source);
}

/** The same at once. */
export function hashNow(source) {
  const bytes = bytesOf(source);
  const native = nodeBuiltin("node:crypto");
  return native ? native.createHash("sha256").update(bytes).digest("hex") : hex(sha256(bytes));
}
