// Which tests run inside and outside of each library's sandbox: sandbox-lsp test
export default {
  lodash: { tests: ["test/lodash.test.js"] },
  dayjs: { tests: ["test/dayjs.test.js"] },
  "date-fns": { tests: ["test/date-fns.test.js"] },
  zod: { tests: ["test/zod.test.js"] },
  uuid: { tests: ["test/uuid.test.js"] },
  // qs ships its own tests.
  qs: {
    tests: ["node_modules/qs/test/*.js"],
    limitations: [
      {
        test: 'parse() > does not crash when the global Object prototype is frozen > bare "frozenProp" results in {}',
        kind: "prototype",
        reason: "what the test puts on the application's Object.prototype is not on that of the sandbox",
      },
      {
        test: "merge() > with overflow objects (from arrayLimit) > seeds an overflow container index from the keys it already holds > the result is marked as overflow",
        kind: "identity",
        reason: "a WeakMap of qs forgets the application's own object after the call that brought it in",
      },
      {
        test: "merge() > with overflow objects (from arrayLimit) > seeds an overflow container index from the keys it already holds > the next value lands after the highest numeric key the container already held",
        kind: "identity",
        reason: "the same mark is missing in the next call",
      },
    ],
  },
};
