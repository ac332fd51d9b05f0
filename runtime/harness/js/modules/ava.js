// ava: its test function and assertions, on Node's assert.
import "../realm.js";
import assert from "assert";
import { addCase, currentFile, errorOf } from "../cases.js";

const tests = [];
const hooks = { before: [], after: [], afterAlways: [], beforeEach: [], afterEach: [], afterEachAlways: [] };
let current;

const add =
  (options) =>
  (title, body, ...args) => {
    if (typeof title !== "string") [title, body, args] = [title.name, title, body === undefined ? args : [body, ...args]];
    const run = body?.exec ?? body;
    const made = body?.title ? body.title(title, ...args) : title;
    tests.push({ title: String(made), body: run, args, file: currentFile(), ...options });
  };

const hook =
  (list) =>
  (title, body = title) =>
    void list.push(body);
const test = Object.assign(add({}), {
  serial: Object.assign(add({}), { skip: add({ skip: true }), only: add({ only: true }), failing: add({ failing: true }), todo: add({ todo: true }) }),
  skip: add({ skip: true }),
  only: add({ only: true }),
  failing: add({ failing: true }),
  todo: add({ todo: true }),
  before: hook(hooks.before),
  after: Object.assign(hook(hooks.after), { always: hook(hooks.afterAlways) }),
  beforeEach: hook(hooks.beforeEach),
  afterEach: Object.assign(hook(hooks.afterEach), { always: hook(hooks.afterEachAlways) }),
  macro: (made) => (typeof made === "function" ? { exec: made } : made),
  meta: { file: "" },
});

class Failure extends Error {
  name = "AssertionError";
}

function matches(error, wanted) {
  if (wanted === undefined) return;
  if (typeof wanted === "function") wanted = { instanceOf: wanted };
  const { instanceOf, is, message, name, code } = wanted;
  if (instanceOf && !(error instanceof instanceOf)) throw new Failure(`expected an instance of ${instanceOf.name}, got ${error?.name}`);
  if (is && error !== is) throw new Failure("expected another error");
  if (name !== undefined) assert.strictEqual(error.name, name);
  if (code !== undefined) assert.strictEqual(error.code, code);
  if (typeof message === "string") assert.strictEqual(error.message, message);
  if (message instanceof RegExp) assert.match(error.message, message);
  if (typeof message === "function" && !message(error.message)) throw new Failure(`the message ${JSON.stringify(error.message)} is not the expected one`);
}

function contextOf({ title }, shared) {
  const state = { count: 0, planned: undefined, failed: undefined, teardowns: [], waiting: [] };
  const check = (f) => {
    const run = (...args) => {
      state.count++;
      try {
        f(...args);
        return true;
      } catch (error) {
        state.failed ??= error;
        return false;
      }
    };
    return Object.assign(run, { skip: () => void state.count++ });
  };
  const holds = (value, message) => {
    if (!value) throw new Failure(message);
  };
  const t = {
    title,
    context: shared,
    log() {},
    plan(count) {
      state.planned = count;
    },
    timeout() {},
    teardown: (body) => void state.teardowns.unshift(body),
    pass: check(() => {}),
    fail: check((message = "t.fail() was called") => holds(false, message)),
    assert: check((value, message = "value is not truthy") => holds(value, message)),
    truthy: check((value, message = "value is not truthy") => holds(value, message)),
    falsy: check((value, message = "value is not falsy") => holds(!value, message)),
    true: check((value, message = "value is not true") => holds(value === true, message)),
    false: check((value, message = "value is not false") => holds(value === false, message)),
    is: check((actual, expected) => assert.strictEqual(actual, expected)),
    not: check((actual, expected) => assert.notStrictEqual(actual, expected)),
    deepEqual: check((actual, expected) => assert.deepStrictEqual(actual, expected)),
    notDeepEqual: check((actual, expected) => assert.notDeepStrictEqual(actual, expected)),
    like: check((actual, expected) => like(actual, expected)),
    regex: check((actual, expected) => assert.match(actual, expected)),
    notRegex: check((actual, expected) => assert.doesNotMatch(actual, expected)),
    notThrows: check((body) => void body()),
    snapshot: check(() => {}),
    throws(body, wanted) {
      let caught;
      const passed = check(() => {
        try {
          body();
        } catch (error) {
          caught = error;
          return matches(error, wanted);
        }
        throw new Failure("the function did not throw");
      })();
      return passed ? caught : undefined;
    },
    async throwsAsync(body, wanted) {
      let caught;
      const settled = (async () => (typeof body === "function" ? body() : body))().then(
        () => check(() => holds(false, "the promise was not rejected"))(),
        (error) => {
          caught = error;
          return check(() => matches(error, wanted))();
        },
      );
      state.waiting.push(settled);
      return (await settled) ? caught : undefined;
    },
    async notThrowsAsync(body) {
      const settled = (async () => (typeof body === "function" ? body() : body))().then(
        () => check(() => {})(),
        (error) => check(() => holds(false, `the promise was rejected with ${error}`))(),
      );
      state.waiting.push(settled);
      return settled;
    },
  };
  return { t, state };
}

function like(actual, expected) {
  for (const [key, value] of Object.entries(expected)) {
    if (typeof value === "object" && value !== null && typeof actual?.[key] === "object" && actual[key] !== null) like(actual[key], value);
    else assert.deepStrictEqual(actual?.[key], value);
  }
}

async function runTest(test, shared) {
  const { t, state } = contextOf(test, shared);
  try {
    for (const body of hooks.beforeEach) await body(t);
    await test.body(t, ...test.args);
    await Promise.all(state.waiting);
    if (state.failed === undefined && state.planned !== undefined && state.planned !== state.count)
      throw new Failure(`planned for ${state.planned} assertions, but got ${state.count}`);
    if (state.failed === undefined && state.count === 0) throw new Failure("the test finished without running any assertions");
    if (state.failed === undefined) for (const body of hooks.afterEach) await body(t);
  } catch (error) {
    state.failed ??= error ?? new Failure("the test rejected with nothing");
  }
  for (const body of [...state.teardowns, ...hooks.afterEachAlways]) {
    try {
      await body(t);
    } catch (error) {
      state.failed ??= error;
    }
  }
  return state.failed;
}

export const adapter = {
  async run(files, load) {
    for (const entry of files) {
      tests.length = 0;
      for (const list of Object.values(hooks)) list.length = 0;
      load(entry);
      const only = tests.some((made) => made.only);
      const shared = {};
      let broken;
      try {
        for (const body of hooks.before) await body(contextOf({ title: "before" }, shared).t);
      } catch (error) {
        broken = error;
      }
      for (const made of tests) {
        const { title, file, skip, todo, failing } = made;
        const report = (status, error, ms = 0) => addCase({ name: [title], file, status, error: error === undefined ? undefined : errorOf(error), ms });
        if (todo) report("todo");
        else if (skip || (only && !made.only)) report("skipped");
        else if (broken) report("failed", broken);
        else {
          current = made;
          const began = Date.now();
          const error = await runTest(made, typeof shared === "object" ? { ...shared } : shared);
          current = undefined;
          const ms = Date.now() - began;
          if (failing) error === undefined ? report("failed", new Failure("it was expected to fail, and passed"), ms) : report("passed", undefined, ms);
          else report(error === undefined ? "passed" : "failed", error, ms);
        }
      }
      for (const body of [...hooks.after, ...hooks.afterAlways]) await Promise.resolve(body(contextOf({ title: "after" }, shared).t)).catch(() => {});
    }
  },
  open: () => (current ? [{ name: [current.title], file: current.file }] : []),
};

export default Object.assign(test, { default: test });
