/**
 * A Node built-in, or undefined elsewhere. It is asked of the process rather than
 * imported, so that bundlers for browsers have nothing to resolve.
 */
export function nodeBuiltin(name) {
  const host = globalThis.process;
  return host?.versions?.node ? host.getBuiltinModule?.(name) : undefined;
}
