// Bytecode of bundles, which spares an engine the parsing. A build puts it beside the bundle
// for libraries whose policy has `snapshot`; runtime/bytecode packs it.
import { textOf, utf8 } from "./text.js";
import { engineHash } from "./wasm.js";

const HASH_CHARS = 64;
const HEAD_BYTES = HASH_CHARS + 8;

const packed = new Map(); // code -> what stands beside it

/** Notes what was loaded together with a bundle. */
export function noteBytecode(code, bytes) {
  packed.set(code, bytes);
}

/** The bytecode of a bundle for the engine that runs, if there is any. */
export function bytecodeOf(name, code) {
  const bytes = packed.get(code);
  // Of a module that somebody else compiled nothing is known.
  if (bytes === undefined || engineHash() === undefined) return undefined;
  if (textOf(bytes.subarray(0, HASH_CHARS)) === engineHash()) return unpack(bytes, utf8.encode(code));
  packed.delete(code);
  console.warn(`sandbox-lsp: the bytecode of ${name} is of another QuickJS engine. The library is evaluated from its source instead.`);
  return undefined;
}

/** How long it is, and what writes it to where it is wanted: it is large for a copy. */
function unpack(bytes, script) {
  const head = new DataView(bytes.buffer, bytes.byteOffset);
  const pieces = head.getUint32(HASH_CHARS, true);
  const length = head.getUint32(HASH_CHARS + 4, true);
  let at = HEAD_BYTES;
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const table = Array.from({ length: 3 * pieces }, number);
  const write = (target) => {
    let [from, done] = [at, 0];
    for (let i = 0; i < table.length; i += 3) {
      const [here, copied, offset] = [table[i], table[i + 1], table[i + 2]];
      target.set(bytes.subarray(from, from + here), done);
      from += here;
      done += here;
      target.set(script.subarray(offset, offset + copied), done);
      done += copied;
    }
  };
  return { length, write };
}
