// vitest: what `import … from "vitest"` gives.
import { api } from "../describe.js";

export { adapter } from "../describe.js";
export const {
  afterAll,
  afterEach,
  assert,
  assertType,
  beforeAll,
  beforeEach,
  chai,
  describe,
  expect,
  expectTypeOf,
  it,
  onTestFailed,
  onTestFinished,
  suite,
  test,
  vi,
} = api;
export const vitest = vi;
export const bench = Object.assign(() => {}, { skip() {}, only() {}, todo() {} });
