// Calls of the membrane, the same text for every host: the embedded one and V8's. It is an
// expression, whose value makes the rows of a sandbox that has the library below.
(() => {
  const numbers = (n) => Array.from({ length: n }, (_, i) => i * 3);
  const users = (n) => Array.from({ length: n }, (_, i) => ({ id: i, name: `user${i}`, age: i % 90, address: { city: `c${i % 20}`, zip: `1${i}` } }));
  const double = (x) => x * 2;
  return {
    library: "globalThis.__SANDBOXED_LIB__ = { add: (a, b) => a + b, double: (list) => _.map(list, (x) => x * 2), map: _.map, groupBy: _.groupBy };",
    // name -> what makes a call, with inputs that no call before it has had
    rows: ({ add, double: doubled, map, groupBy }) => ({
      primitive: () => () => add(1, 2),
      ...Object.fromEntries(
        [100, 1000, 10000].flatMap((n) => [
          [`map ${n}`, () => { const list = numbers(n); return () => doubled(list); }],
          [`map-callback ${n}`, () => { const list = numbers(n); return () => map(list, double); }],
          [`groupBy-callback ${n}`, () => { const list = users(n); return () => groupBy(list, (user) => user.address.city); }],
        ]),
      ),
    }),
    // Microseconds that the calls of a row take, the median of several.
    measure(make, now, ms) {
      const times = [];
      for (const end = now() + ms; now() < end || times.length < 3; ) {
        const call = make();
        const start = now();
        call();
        times.push(now() - start);
      }
      return 1000 * times.sort((a, b) => a - b)[times.length >> 1];
    },
  };
})()
