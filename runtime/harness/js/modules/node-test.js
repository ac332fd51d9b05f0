// node:test: tests in tests, suites, hooks and mocks.
import "../realm.js";
import assert from "assert";
import { fn, spyOn } from "@vitest/spy";
import { addCase, currentFile, errorOf } from "../cases.js";

class Node {
  constructor(name, options, body, parent, file) {
    Object.assign(this, {
      name,
      options,
      body,
      parent,
      file,
      children: [],
      before: [],
      after: [],
      beforeEach: [],
      afterEach: [],
      error: undefined,
      planned: undefined,
      counted: 0,
    });
  }
  get path() {
    const path = [];
    for (let at = this; at.parent; at = at.parent) path.unshift(at.name);
    return path;
  }
}

const argsOf = (args) => {
  let [name, options, body] = args;
  if (typeof name === "function") [name, options, body] = [name.name, {}, name];
  else if (typeof options === "function") [options, body] = [typeof name === "object" ? name : {}, options];
  if (typeof name === "object") [name, options] = [body?.name ?? "", name];
  return { name: String(name || body?.name || "<anonymous>"), options: options ?? {}, body: body ?? (() => {}) };
};

const root = new Node("", {}, undefined, undefined, "");
let suite = root; // that is being described
const open = new Set();
const mock = {
  fn: (implementation = () => {}) => traced(fn(implementation)),
  method: (object, name, implementation) => {
    const spy = spyOn(object, name);
    if (implementation) spy.mockImplementation(implementation);
    object[name] = traced(spy);
    return object[name];
  },
  reset() {},
  restoreAll() {},
};

/** node:test tells of calls in its own way. */
function traced(spy) {
  const state = spy.mock;
  const told = {
    get calls() {
      return state.calls.map((args, i) => {
        const { type, value } = state.results[i] ?? {};
        return { arguments: args, result: type === "return" ? value : undefined, error: type === "throw" ? value : undefined, this: state.contexts[i] };
      });
    },
    callCount: () => state.calls.length,
    resetCalls: () => spy.mockClear(),
    mockImplementation: (f) => spy.mockImplementation(f),
    mockImplementationOnce: (f) => spy.mockImplementationOnce(f),
    restore: () => spy.mockRestore(),
  };
  const wrapped = function (...args) {
    return new.target ? Reflect.construct(spy, args) : Reflect.apply(spy, this, args);
  };
  return Object.assign(wrapped, { mock: told });
}

function declare(kind) {
  const make =
    (extra) =>
    (...args) => {
      const { name, options, body } = argsOf(args);
      const node = new Node(name, { ...options, ...extra }, body, suite, suite.file || currentFile());
      node.suite = kind === "suite";
      suite.children.push(node);
      if (node.suite) {
        const outer = suite;
        suite = node;
        try {
          const made = body({ name });
          if (made && typeof made.then === "function") node.ready = made;
        } catch (error) {
          node.error = error;
        } finally {
          suite = outer;
        }
      }
      return new Promise((resolve) => {
        node.settled = resolve;
      });
    };
  return Object.assign(make({}), { skip: make({ skip: true }), todo: make({ todo: true }), only: make({ only: true }) });
}

const hook = (name) => (body) => void suite[name].push(body);
const call = (body, context) =>
  body.length > 1
    ? new Promise((resolve, reject) => {
        const done = (error) => (error ? reject(error) : resolve());
        Promise.resolve(body.call(context, context, done)).catch(reject);
      })
    : body.call(context, context);

const onlyOf = (nodes) => nodes.some((node) => node.options.only || onlyOf(node.children));

const within = (promise, ms) =>
  ms === undefined || ms === Infinity
    ? promise
    : Promise.race([
        promise,
        new Promise((_, reject) => setTimeout(() => reject(Object.assign(new Error(`test timed out after ${ms}ms`), { code: "ERR_TEST_FAILURE" })), ms)),
      ]);

const around = (node, name) => {
  const hooks = [];
  for (let at = node.parent; at; at = at.parent) name === "beforeEach" ? hooks.unshift(...at[name]) : hooks.push(...at[name]);
  return hooks;
};

async function runNode(node, skipped) {
  const { options } = node;
  if (skipped || options.skip) return tell(node, "skipped");
  if (node.suite) return runSuite(node, false);
  const began = Date.now();
  open.add(node);
  const pending = [];
  const context = contextOf(node, pending);
  let skippedAt;
  context.skip = () => {
    skippedAt = "skipped";
  };
  context.todo = () => {
    node.options = { ...node.options, todo: true };
  };
  try {
    for (const body of around(node, "beforeEach")) await call(body, context);
    await within(Promise.resolve(call(node.body, context)), options.timeout);
    await Promise.all(pending);
    if (node.children.some((child) => child.error !== undefined)) throw new Error(failedSubtests(node));
    if (node.planned !== undefined && node.planned !== node.counted) throw new Error(`plan expected ${node.planned} assertions but received ${node.counted}`);
  } catch (error) {
    node.error ??= error ?? new Error("the test rejected with nothing");
  }
  try {
    for (const body of node.after) await call(body, context);
    for (const body of around(node, "afterEach")) await call(body, context);
  } catch (error) {
    node.error ??= error;
  }
  open.delete(node);
  tell(node, skippedAt ?? (node.error === undefined ? "passed" : "failed"), Date.now() - began);
}

function failedSubtests({ children }) {
  const failed = children.filter(({ error }) => error !== undefined).length;
  return failed === 1 ? "1 subtest failed" : `${failed} subtests failed`;
}

function contextOf(node, pending) {
  const counted =
    (f) =>
    (...args) => {
      node.counted++;
      return f(...args);
    };
  const subtest = (...args) => {
    const inner = argsOf(args);
    const child = new Node(inner.name, inner.options, inner.body, node, node.file);
    node.children.push(child);
    node.counted++;
    const last = pending.at(-1) ?? Promise.resolve();
    const done = last.then(() => runNode(child));
    pending.push(done);
    return done;
  };
  const context = {
    name: node.name,
    test: Object.assign(subtest, {
      skip: (...args) => subtest(...withOptions(args, { skip: true })),
      todo: (...args) => subtest(...withOptions(args, { todo: true })),
      only: subtest,
    }),
    diagnostic() {},
    plan(count) {
      node.planned = count;
    },
    runOnly() {},
    assert: Object.fromEntries(
      Object.entries(assert)
        .filter(([, f]) => typeof f === "function")
        .map(([name, f]) => [name, counted(f)]),
    ),
    mock,
    signal: new AbortController().signal,
    waitFor: async (read) => read(),
  };
  context.it = context.test;
  for (const name of ["before", "after", "beforeEach", "afterEach"])
    context[name] = (body) => void (name === "before" ? pending.push(Promise.resolve(call(body, context))) : node[name].push(body));
  return context;
}

const withOptions = (args, extra) => {
  const { name, options, body } = argsOf(args);
  return [name, { ...options, ...extra }, body];
};

async function runSuite(node, skipped) {
  await node.ready;
  const only = onlyOf(node.children);
  let failed = node.error;
  try {
    if (failed === undefined) for (const body of node.before) await call(body, { name: node.name });
  } catch (error) {
    failed = error;
  }
  for (const child of node.children) {
    const left = only && !child.options.only && !onlyOf(child.children);
    if (failed === undefined || child.options.skip) await runNode(child, skipped || left);
    else tell(child, "failed", 0, failed);
    child.settled?.();
  }
  try {
    for (const body of node.after) await call(body, { name: node.name });
  } catch (error) {
    failed ??= error;
  }
  if (failed !== undefined && node.parent) addCase({ name: [...node.path, "(suite)"], file: node.file, status: "failed", error: errorOf(failed) });
}

function tell(node, status, ms = 0, error = node.error) {
  const { todo } = node.options;
  addCase({
    name: node.path,
    file: node.file,
    status: todo && status !== "skipped" ? "todo" : status,
    error: status === "failed" ? errorOf(error) : undefined,
    ms,
  });
  if (todo) node.error = undefined;
}

export const adapter = {
  async run(files, load) {
    for (const entry of files) {
      const from = root.children.length;
      root.before.length = root.after.length = root.beforeEach.length = root.afterEach.length = 0;
      load(entry);
      const all = root.children;
      root.children = all.slice(from);
      await runSuite(root, false);
      root.children = [];
    }
  },
  open: () => Array.from(open, (node) => ({ name: node.path, file: node.file })),
};

export const test = declare("test");
export const describe = declare("suite");
export const before = hook("before");
export const after = hook("after");
export const beforeEach = hook("beforeEach");
export const afterEach = hook("afterEach");
export { mock };
export default Object.assign(test, { test, it: test, describe, suite: describe, before, after, beforeEach, afterEach, mock });
