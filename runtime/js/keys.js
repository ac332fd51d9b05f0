// Property keys as engines tell them apart.

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
