// jest: what `import … from "@jest/globals"` gives. A function with a parameter takes the
// callback that says that it is done, which vitest has no more.
import { adapter as describes, api } from "../describe.js";

const withDone = (body) => {
  if (typeof body !== "function" || body.length === 0) return body;
  return function () {
    return new Promise((resolve, reject) => {
      const done = (error) => (error ? reject(error) : resolve());
      done.fail = (error) => reject(error ?? new Error("done.fail() was called"));
      Promise.resolve(body.call(this, done)).catch(reject);
    });
  };
};
const waiting = (declare) => (name, body, timeout) => declare(name, withDone(body), timeout);
// The functions of vitest look for their options in the object that they are called on.
const variantOf = (test) => Object.assign(waiting(test), { each: (...cases) => test.each(...cases) });
const testOf = (test) =>
  Object.assign(variantOf(test), {
    only: variantOf(test.only),
    skip: variantOf(test.skip),
    failing: variantOf(test.fails),
    concurrent: variantOf(test.concurrent),
    todo: (name) => test.todo(name),
  });
const hookOf = (declare) => (body, timeout) => declare(withDone(body), timeout);

export const test = testOf(api.test);
export const it = test;
export const [beforeAll, beforeEach, afterAll, afterEach] = [api.beforeAll, api.beforeEach, api.afterAll, api.afterEach].map(hookOf);
export const { describe, expect, fdescribe, jest, xdescribe } = api;
export const xit = test.skip;
export const xtest = test.skip;
export const fit = test.only;

export const adapter = {
  ...describes,
  run: (files, load) => describes.run(files, load, { test, it, beforeAll, beforeEach, afterAll, afterEach, xit, xtest, fit }),
};
