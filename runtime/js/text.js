// Strings and keys as the engine has them.
const { fromCharCode } = String;
const { apply } = Reflect;
const utf16 = new TextDecoder("utf-16le", { fatal: true });
/** Texts that the engine takes as bytes. */
export const utf8 = new TextEncoder();

/** The string of UTF-16 code units, lone surrogates included. */
export function textOf(units) {
  if (units.length <= 1024) return apply(fromCharCode, undefined, units);
  try {
    return utf16.decode(units);
  } catch {
    // Lone surrogates, which no decoder lets through.
    let text = "";
    for (let i = 0; i < units.length; i += 1024) text += apply(fromCharCode, undefined, units.subarray(i, i + 1024));
    return text;
  }
}

/** The array index that a key spells, or -1. */
export function arrayIndex(key) {
  const n = key.length;
  if (n === 0 || n > 10) return -1;
  const first = key.charCodeAt(0) - 48;
  if (first < 0 || first > 9 || (first === 0 && n > 1)) return -1;
  let index = 0;
  for (let i = 0; i < n; i++) {
    const digit = key.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    index = index * 10 + digit;
  }
  return index < 2 ** 31 ? index : -1;
}
