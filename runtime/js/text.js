// Strings as the engine has them.
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
