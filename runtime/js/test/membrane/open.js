// What the membrane does not do as one realm does, yet or by design: the rows that fail,
// each with its reason. A row that is here and passes fails the test, and so does one that
// fails and is not here.

const { setPrototypeOf } = Object;

// Faults of the host's own engine, which no membrane can mend.
const faults = [
  {
    why: "the host's engine tags what inherits from a proxy as [object Object]",
    here: Object.prototype.toString.call(setPrototypeOf(new Date(), new Proxy({}, {}))) !== "[object Date]",
    rows: [
      "a class of its own",
      "a class of its own, two deep",
      "an instance of Date's subclass",
      "an instance of a typed array's subclass",
      "errors are matched by class, message and fields",
    ],
    seeds: [97],
  },
  {
    why: "a page cannot tell a Proxy of its own from an object, so that reads ahead do not ask it for keys that it does not own",
    here: typeof document === "object",
    rows: ["a proxy with a get trap", "a proxy with traps for writes", "a proxy that throws"],
    seeds: [],
  },
].filter(({ here }) => here);

/** Row of the value table -> why it fails. */
export const openRows = {
  ...Object.fromEntries(faults.flatMap(({ why, rows }) => rows.map((row) => [row, why]))),
  "Object.prototype": "by design: as a value a guest's intrinsic prototype stays the guest's, so that no host function writes to the host's",
  "a generator's prototype": "by design, as Object.prototype",
  "Promise, Map and Error in a list": "by design, as Object.prototype",
  "a class with its prototype changed": "by design: a prototype of the host's classes is shared with the application, so the guest only reads it",
  "a method": "by design: a built-in function of the guest's stays the guest's, since the host's own would act past the membrane wherever it is called",
  "a static method": "by design: a built-in function of the guest's stays the guest's, since the host's own would act past the membrane wherever it is called",
  "methods that look for slots": "by design, as a method",
};

/** Seeds of random sequences that differ, of the first 500. */
export const openSeeds = new Set(faults.flatMap(({ seeds }) => seeds));
