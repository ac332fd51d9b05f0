/** Gives the realm a global that it does not have. */
export function define(name, value) {
  if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
