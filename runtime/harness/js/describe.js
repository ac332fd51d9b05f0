// describe, it and their hooks, run by vitest's own runner.
import "./realm.js";
import * as runner from "@vitest/runner";
import { addCase, errorOf, setFile } from "./cases.js";
import { beginTest, chai, endTest, expect } from "./expect.js";
import { jest, vi } from "./mocks.js";

export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, onTestFailed, onTestFinished, suite, test } = runner;
const aliases = {
  xit: test.skip,
  xtest: test.skip,
  fit: test.only,
  xdescribe: describe.skip,
  fdescribe: describe.only,
};
export const api = {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  test,
  expect,
  vi,
  jest,
  onTestFailed,
  onTestFinished,
  suite,
  assert: chai.assert,
  chai,
  expectTypeOf,
  assertType: () => {},
  ...aliases,
};

/** Types are no matter of a run. */
function expectTypeOf() {
  const all = new Proxy(() => all, { get: () => all });
  return all;
}

const running = new Set();

const place = (task) => {
  const name = [];
  let at = task;
  for (; at.suite; at = at.suite) name.unshift(at.name);
  if (at !== task.file) name.unshift(at.name);
  return { name, file: task.file.filepath };
};

const told = new Set();

function tell(task) {
  if (task.type === "suite") {
    for (const inner of task.tasks) tell(inner);
    if (task.result?.state === "fail" && task.result.errors?.length && task !== task.file)
      addCase({ ...place(task), name: [...place(task).name, "(hooks)"], status: "failed", error: firstError(task) });
    return;
  }
  if (told.has(task)) return;
  told.add(task);
  const { result } = task;
  const status =
    task.mode === "todo"
      ? "todo"
      : task.mode === "skip" || result?.state === "skip"
        ? "skipped"
        : result?.state === "pass"
          ? "passed"
          : result?.state === "fail"
            ? "failed"
            : "skipped";
  addCase({ ...place(task), status, error: status === "failed" ? firstError(task) : undefined, ms: result?.duration ?? 0 });
}

const firstError = (task) => {
  const [error] = task.result?.errors ?? [];
  return error ? errorOf(error) : undefined;
};

export const adapter = {
  async run(files, load, own = {}) {
    const loads = new Map(files);
    let fault;
    const config = {
      root: "",
      setupFiles: [],
      name: "",
      passWithNoTests: true,
      testNamePattern: undefined,
      allowOnly: true,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
      chaiConfig: undefined,
      maxConcurrency: 5,
      testTimeout: 5000,
      hookTimeout: 10_000,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: false,
    };
    Object.assign(globalThis, api, own);
    for (const [file] of files) {
      const [task] = await runner.startTests([file], {
        config,
        pool: "threads",
        async importFile(path) {
          fault = undefined;
          setFile(path);
          const failed = {};
          const value = load([
            path,
            () => {
              try {
                return loads.get(path)();
              } catch (error) {
                failed.error = error;
                throw error;
              }
            },
          ]);
          if (failed.error) fault = failed;
          await value;
        },
        onBeforeTryTask(test) {
          running.add(test);
          beginTest(place(test).name.join(" > "), test.file.filepath);
        },
        onAfterTryTask() {
          endTest();
        },
        onAfterRunTask(test) {
          running.delete(test);
          tell(test);
        },
        extendTaskContext(context) {
          context.expect = expect;
          return context;
        },
      });
      tell(task);
      if (!fault && task.result?.state === "fail" && task.result.errors?.length)
        addCase({ name: ["(the file)"], file, status: "failed", error: firstError(task) });
      vi.useRealTimers();
    }
  },
  open: () => Array.from(running, place),
};
