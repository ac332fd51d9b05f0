// Iterators, generators, promises.
const it = (name, make, more) => ({ group: "iteration", name, make, life: "behaviour", ...more });
const promise = (name, make, more) => ({ group: "promises", name, make, brand: true, ...more });

const settled = "async (v, K) => [v instanceof Promise, Promise.resolve(v) === v, await K.outcome(v), await K.outcome(v.then((x) => typeof x))]";
const fails = (reason) => `(() => { const p = Promise.reject(${reason}); p.catch(() => {}); return p; })()`;

export const iterationRows = [
  it("an array's iterator", "([1, 2, 3].values())", {
    life: "any",
    probe: "(v) => [v.next().value, [...v].join(), v.next().done, v[Symbol.iterator]() === v, v[Symbol.toStringTag]]",
  }),
  it("a map's iterator", "(new Map([['a', 1], ['b', 2]]).entries())", { life: "any", probe: "(v) => [v.next().value.join(), [...v].join(), v.next().done]" }),
  it("a set's iterator", "(new Set(['a', 'b']).values())", { life: "any", probe: "(v) => [v.next().value, [...v].join()]" }),
  it("a string's iterator", "('a\\u{1f600}b'[Symbol.iterator]())", { life: "any", probe: "(v) => [v.next().value, [...v].length]" }),
  it("a regular expression's iterator", "('a1b2'.matchAll(/[a-z](\\d)/g))", { life: "any", probe: "(v) => [[...v].map((m) => m[1]).join()]" }),
  it("a generator", "((function* () { const got = yield 1; yield got * 2; return 'end'; })())", {
    probe:
      "(v) => { const a = v.next(); const b = v.next(21); const c = v.next(); return [a.value, a.done, b.value, c.value, c.done, v.next().value, v[Symbol.iterator]() === v, String(v)]; }",
  }),
  it("a generator spread", "((function* () { yield* [1, 2]; yield* (function* () { yield 3; })(); })())", { probe: "(v) => [[...v].join()]" }),
  it("a generator destructured", "((function* () { try { yield 1; yield 2; yield 3; } finally { yield 'closing'; } })())", {
    probe: "(v) => { const [a, b] = v; return [a, b, v.next().done]; }",
  }),
  it(
    "a generator left by break",
    "(() => { const log = []; const g = (function* () { try { yield 1; yield 2; } finally { log.push('closed'); } })(); return { g, log: () => log.join() }; })()",
    { probe: "(v) => { for (const x of v.g) if (x === 1) break; return [v.log(), v.g.next().done]; }" },
  ),
  it("a generator that is thrown into", "((function* () { try { yield 1; } catch (e) { yield e; } })())", {
    probe: "(v) => { v.next(); const e = new RangeError('in'); return [v.throw(e).value === e, v.next().done]; }",
  }),
  it("a generator that is returned from", "((function* () { yield 1; yield 2; })())", {
    probe: "(v) => { const r = (v.next(), v.return('early')); return [r.value, r.done, v.next().done]; }",
  }),
  it("a generator that throws", "((function* () { yield 1; throw new TypeError('out'); })())", {
    probe: "(v, K) => [v.next().value, K.attempt(() => v.next()), v.next().done]",
  }),
  it("an iterable of one's own", "({ *[Symbol.iterator]() { yield 1; yield { two: 2 }; } })", {
    probe: "(v) => [[...v].length, Array.from(v)[1].two, new Map([[1, 2]]).size + new Set(v).size]",
  }),
  it(
    "an iterator of one's own",
    "({ n: 0, next() { return this.n < 3 ? { value: this.n++, done: false } : { value: undefined, done: true }; }, [Symbol.iterator]() { return this; } })",
    { probe: "(v) => [[...v].join(), v.n]" },
  ),
  it(
    "an iterator with return",
    "(() => { const log = []; return { log, [Symbol.iterator]() { let i = 0; return { next: () => ({ value: i++, done: false }), return: (x) => { log.push('return'); return { done: true }; } }; } }; })()",
    { probe: "(v) => { const [a, b] = v; for (const x of v) break; return [a, b, v.log.join()]; }" },
  ),
  it("entries for Object.fromEntries and Map", "({ *[Symbol.iterator]() { yield ['a', 1]; yield ['b', 2]; } })", {
    probe: "(v) => [JSON.stringify(Object.fromEntries(v)), new Map(v).get('b')]",
  }),
  it("an async generator", "((async function* () { const got = yield 1; yield got; return 3; })())", {
    probe:
      "async (v) => { const a = await v.next(); const b = await v.next('in'); const c = await v.next(); return [a.value, b.value, c.value, c.done, v[Symbol.asyncIterator]() === v, String(v)]; }",
  }),
  it("an async generator looped over", "((async function* () { yield 1; yield Promise.resolve(2); yield { three: 3 }; })())", {
    probe: "async (v) => { const seen = []; for await (const x of v) seen.push(x.three ?? x); return seen; }",
  }),
  it(
    "an async generator left by break",
    "(() => { const log = []; return { log: () => log.join(), g: (async function* () { try { yield 1; yield 2; } finally { log.push('closed'); } })() }; })()",
    { probe: "async (v) => { for await (const x of v.g) break; return [v.log(), (await v.g.next()).done]; }" },
  ),
  it("an async generator that fails", "((async function* () { yield 1; throw new RangeError('late'); })())", {
    probe: "async (v, K) => [(await v.next()).value, await K.outcome(v.next()), (await v.next()).done]",
  }),
  it("an async generator asked many times at once", "((async function* () { yield 1; yield 2; })())", {
    probe: "async (v) => (await Promise.all([v.next(), v.next(), v.next()])).map((r) => r.value + ':' + r.done)",
  }),
  it("an async iterable of one's own", "({ [Symbol.asyncIterator]() { let i = 0; return { next: async () => ({ value: i, done: i++ >= 2 }) }; } })", {
    probe: "async (v) => { const seen = []; for await (const x of v) seen.push(x); return seen; }",
  }),

  promise("a promise of a primitive", "(Promise.resolve(5))", { probe: settled }),
  promise("a promise of an object", "(Promise.resolve({ a: [1] }))", { probe: "async (v) => { const x = await v; return [x.a[0], (await v) === x]; }" }),
  promise("a promise of a function", "(Promise.resolve((x) => x + 1))", { life: "any", probe: "async (v) => [(await v)(1)]" }),
  promise("a promise that failed", fails("new TypeError('no')"), {
    probe:
      "async (v, K) => { const e = await v.catch((e) => e); return [await K.outcome(v), e instanceof TypeError, e.message, (await v.catch((e) => e)) === e]; }",
  }),
  promise("a promise that failed with no error", fails("'text'"), { probe: settled }),
  promise("a promise that is settled later", "((async () => { for (let i = 0; i < 5; i++) await null; return 'late'; })())", { probe: settled }),
  promise("a promise that never settles", "(new Promise(() => {}))", { life: "any", probe: "async (v, K) => [v instanceof Promise, await K.outcome(v)]" }),
  promise("a promise of a promise", "(Promise.resolve(1).then((x) => Promise.resolve(x + 1)))", { probe: settled }),
  promise("promises in a list", "[Promise.resolve(1), Promise.resolve(2), 3]", {
    probe:
      "async (v) => [(await Promise.all(v)).join(), await Promise.race(v), (await Promise.allSettled(v)).map((r) => r.status).join(), await Promise.any(v)]",
  }),
  promise("then, catch and finally", "(Promise.resolve(1))", {
    probe: "async (v) => [await v.then((x) => x + 1), await v.finally(() => 9), await v.then(() => { throw 7; }).catch((e) => e)]",
  }),
  promise("properties of its own", "(Object.assign(Promise.resolve(1), { note: 'n' }))", {
    probe: "async (v) => [v.note, await v]",
    change: "(v) => { v.note = 'm'; }",
  }),
  {
    group: "promises",
    name: "a thenable",
    make: "({ then(ok) { ok(42); } })",
    life: "behaviour",
    probe: "async (v) => [await (async () => { const x = await v; return x; })(), await Promise.resolve(v)]",
  },
  {
    group: "promises",
    name: "a thenable that fails",
    make: "({ then(_, no) { no(new RangeError('t')); } })",
    life: "behaviour",
    probe: "async (v, K) => [await K.outcome(Promise.resolve(v)), await K.outcome((async () => { await v; })())]",
  },
];
