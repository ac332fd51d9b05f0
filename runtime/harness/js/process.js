import EventEmitter from "events";

/** A process that ends nothing: what tests and their helpers ask one for. */
export function processOf() {
  const process = new EventEmitter();
  return Object.assign(process, {
    title: "sandbox-lsp",
    platform: "linux",
    arch: "x64",
    pid: 1,
    version: "v22.0.0",
    versions: { node: "22.0.0" },
    release: { name: "node" },
    env: { NODE_ENV: "test", TZ: "UTC", LANG: "en_US.UTF-8" },
    argv: ["node", "test"],
    execArgv: [],
    execPath: "node",
    exitCode: undefined,
    browser: true,
    stdout: { isTTY: false, columns: 80, write: () => true, on: () => {}, once: () => {}, emit: () => {}, end: () => {} },
    stderr: { isTTY: false, columns: 80, write: () => true, on: () => {}, once: () => {}, emit: () => {}, end: () => {} },
    cwd: () => "/",
    chdir() {},
    umask: () => 18,
    uptime: () => performance.now() / 1000,
    hrtime: Object.assign(
      (since = [0, 0]) => {
        const now = performance.now();
        const seconds = Math.floor(now / 1000) - since[0];
        const nanoseconds = Math.round((now % 1000) * 1e6) - since[1];
        return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1e9] : [seconds, nanoseconds];
      },
      { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
    ),
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    nextTick: (f, ...args) => queueMicrotask(() => f(...args)),
    emitWarning() {},
    exit(code) {
      throw new Error(`process.exit(${code}) was called by a test`);
    },
    abort() {
      throw new Error("process.abort() was called by a test");
    },
    kill() {},
    binding() {
      throw new Error("process.binding is not there");
    },
  });
}
