// The few calls of WASI (snapshot preview 1) that the engine makes.

/**
 * @param {() => ArrayBuffer} buffer the engine's memory as it is now
 * @param {() => number} monotonic the guest's monotonic clock, in milliseconds
 */
export function wasi(buffer, monotonic) {
  return {
    // Clock 0 is the wall's, 1 a monotonic one; nanoseconds.
    clock_time_get(id, _precision, out) {
      const ms = id === 0 ? Date.now() : monotonic();
      new DataView(buffer()).setBigUint64(out, BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    fd_close: () => 0,
    fd_fdstat_get: () => 0,
    fd_seek: () => 0,
    // The engine's own diagnostics mean nothing here, but must count as written.
    fd_write(_fd, vectors, count, written) {
      const view = new DataView(buffer());
      let total = 0;
      for (let i = 0; i < count; i++) total += view.getUint32(vectors + 8 * i + 4, true);
      view.setUint32(written, total, true);
      return 0;
    },
    random_get(at, length) {
      const quota = 65536; // of one call, by the Web Crypto specification
      for (let from = 0; from < length; from += quota) crypto.getRandomValues(new Uint8Array(buffer(), at + from, Math.min(quota, length - from)));
      return 0;
    },
  };
}
