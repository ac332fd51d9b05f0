// vi and jest: spies and timers that stand still.
import FakeTimers from "@sinonjs/fake-timers";
import { clearAllMocks, fn, isMockFunction, resetAllMocks, restoreAllMocks, spyOn } from "@vitest/spy";
import { timing } from "./loop.js";

let clock;
const fakes = FakeTimers.withGlobal(globalThis);
const use = (config = {}) => {
  clock?.uninstall();
  const toFake = config.toFake ?? ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate", "Date"];
  clock = fakes.install({ now: config.now ?? Date.now(), toFake, ignoreMissingTimers: true });
};
const faked = () => {
  if (!clock) throw new Error("the timers are not faked: call useFakeTimers() first");
  return clock;
};
const mocked = (what) => () => {
  throw new Error(`${what} needs a module loader that tests can reach into, which a bundle does not have`);
};
let changed = new Map(); // global name -> its descriptor before

export const vi = {
  fn,
  spyOn,
  isMockFunction,
  mocked: (value) => value,
  clearAllMocks: () => (clearAllMocks(), vi),
  resetAllMocks: () => (resetAllMocks(), vi),
  restoreAllMocks: () => (restoreAllMocks(), vi),
  useFakeTimers: (config) => (use(typeof config === "object" ? config : {}), vi),
  useRealTimers() {
    clock?.uninstall();
    clock = undefined;
    return vi;
  },
  isFakeTimers: () => clock !== undefined,
  setSystemTime: (time) => (clock ? clock.setSystemTime(time) : use({ now: +new Date(time), toFake: ["Date"] }), vi),
  getMockedSystemTime: () => (clock ? new Date(clock.now) : null),
  getRealSystemTime: () => Date.now(),
  advanceTimersByTime: (ms) => (faked().tick(ms), vi),
  advanceTimersByTimeAsync: async (ms) => (await faked().tickAsync(ms), vi),
  advanceTimersToNextTimer: () => (faked().next(), vi),
  advanceTimersToNextTimerAsync: async () => (await faked().nextAsync(), vi),
  runAllTimers: () => (faked().runAll(), vi),
  runAllTimersAsync: async () => (await faked().runAllAsync(), vi),
  runOnlyPendingTimers: () => (faked().runToLast(), vi),
  runOnlyPendingTimersAsync: async () => (await faked().runToLastAsync(), vi),
  runAllTicks: () => (faked().runMicrotasks(), vi),
  clearAllTimers: () => (faked().reset(), vi),
  getTimerCount: () => faked().countTimers(),
  stubGlobal(name, value) {
    if (!changed.has(name)) changed.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
    return vi;
  },
  unstubAllGlobals() {
    for (const [name, before] of changed) before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name];
    changed = new Map();
    return vi;
  },
  stubEnv: (name, value) => ((process.env[name] = String(value)), vi),
  unstubAllEnvs: () => vi,
  hoisted: (make) => make(),
  mock: mocked("mocking modules"),
  doMock: mocked("mocking modules"),
  unmock() {},
  doUnmock() {},
  resetModules: () => vi,
  async waitFor(read, { timeout = 1000, interval = 50 } = {}) {
    const end = Date.now() + timeout;
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (Date.now() >= end) throw error;
        await new Promise((resolve) => timing.setTimeout(resolve, interval));
      }
    }
  },
  setConfig() {},
  resetConfig() {},
};

export const jest = {
  ...vi,
  setTimeout: () => jest,
  retryTimes: () => jest,
  requireActual: mocked("requireActual"),
  createMockFromModule: mocked("createMockFromModule"),
};
