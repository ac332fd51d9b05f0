// The expect of vitest and jest, put together from the packages that vitest is made of.
import * as chai from "chai";
import {
  addCustomEqualityTesters,
  ASYMMETRIC_MATCHERS_OBJECT,
  customMatchers,
  getState,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import { addSerializer, getSerializers, stripSnapshotIndentation } from "@vitest/snapshot";
import { format } from "@vitest/pretty-format";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

/** Snapshots that stand in the test itself; those in files are of another realm. */
chai.use(({ Assertion }, utils) => {
  const serialized = (value) => format(value, { plugins: getSerializers(), escapeString: false, printBasicPrototype: false });
  const same = (assertion, text, inline) => {
    const wanted = stripSnapshotIndentation(inline).trim();
    assertion.assert(text.trim() === wanted, "expected the value to match its snapshot", "expected the value not to match its snapshot", wanted, text);
  };
  utils.addMethod(Assertion.prototype, "toMatchInlineSnapshot", function (...args) {
    const inline = args.find((arg) => typeof arg === "string");
    if (inline !== undefined) same(this, serialized(utils.flag(this, "object")), inline);
  });
  utils.addMethod(Assertion.prototype, "toThrowErrorMatchingInlineSnapshot", function (...args) {
    const inline = args.find((arg) => typeof arg === "string");
    const promised = utils.flag(this, "promise");
    let thrown = utils.flag(this, "object");
    if (promised !== "rejects") {
      try {
        thrown();
        throw new chai.AssertionError("the function did not throw");
      } catch (error) {
        if (error instanceof chai.AssertionError) throw error;
        thrown = error;
      }
    }
    if (inline !== undefined) same(this, `[${thrown.name}: ${thrown.message}]`, inline);
  });
  for (const name of ["toMatchSnapshot", "matchSnapshot", "toMatchFileSnapshot", "toThrowErrorMatchingSnapshot"])
    utils.addMethod(Assertion.prototype, name, () => {}); // without its file, a first run: it is written
});

export const expect = (value, message) => {
  setState({ assertionCalls: getState(expect).assertionCalls + 1 }, expect);
  return chai.expect(value, message);
};
Object.assign(expect, chai.expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT]);
expect.getState = () => getState(expect);
expect.setState = (state) => setState(state, expect);
expect.extend = (matchers) => chai.expect.extend(expect, matchers);
expect.addEqualityTesters = (testers) => addCustomEqualityTesters(testers);
expect.addSnapshotSerializer = addSerializer;
expect.assert = chai.assert;
expect.soft = (...args) => expect(...args);
expect.unreachable = (message) => chai.assert.fail(`expected${message ? ` "${message}" ` : " "}not to be reached`);
expect.assertions = (expected) =>
  setState(
    {
      expectedAssertionsNumber: expected,
      expectedAssertionsNumberErrorGen: () => new Error(`expected number of assertions to be ${expected}, but got ${getState(expect).assertionCalls}`),
    },
    expect,
  );
expect.hasAssertions = () =>
  setState({ isExpectingAssertions: true, isExpectingAssertionsError: new Error("expected any number of assertion, but got none") }, expect);
expect.poll = (read, { timeout = 1000, interval = 50 } = {}) =>
  new Proxy(
    {},
    {
      get:
        (_, matcher) =>
        async (...args) => {
          const end = Date.now() + timeout;
          for (;;) {
            try {
              return expect(await read())[matcher](...args);
            } catch (error) {
              if (Date.now() >= end) throw error;
              await new Promise((resolve) => setTimeout(resolve, interval));
            }
          }
        },
    },
  );
expect.extend(customMatchers);
globalThis[GLOBAL_EXPECT] = expect;

/** Before a test. */
export function beginTest(name, file) {
  setState(
    {
      assertionCalls: 0,
      isExpectingAssertions: false,
      isExpectingAssertionsError: null,
      expectedAssertionsNumber: null,
      expectedAssertionsNumberErrorGen: null,
      currentTestName: name,
      testPath: file,
      environment: "node",
    },
    expect,
  );
}

/** After it: throws when it asserted less than it said. */
export function endTest() {
  const { assertionCalls, expectedAssertionsNumber, expectedAssertionsNumberErrorGen, isExpectingAssertions, isExpectingAssertionsError } = getState(expect);
  if (expectedAssertionsNumber !== null && assertionCalls !== expectedAssertionsNumber) throw expectedAssertionsNumberErrorGen();
  if (isExpectingAssertions && assertionCalls === 0) throw isExpectingAssertionsError;
}

export { chai };
