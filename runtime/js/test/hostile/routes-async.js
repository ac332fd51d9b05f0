// Promises, thenables and asynchronous iteration: code of one side that the other's
// machinery calls later, with functions of its own.

const program = ([name, text, more]) => ({ name, program: text, async: true, quiet: true, ...more });
const shown = { quiet: false };

const promises = [
  ["the value of a host promise", "const v = await x.promise; take(v, v.constructor, v.constructor.constructor);", shown],
  [
    "a host promise's constructor and species",
    "attempts(() => x.promise.constructor, () => x.promise.constructor[Symbol.species], () => x.promise.constructor.constructor, () => x.promise.then.constructor);",
    shown,
  ],
  [
    "what a host async function returns",
    "const p = x.asyncFunction(1); take(p, p.constructor, p.constructor.constructor, Object.getPrototypeOf(x.asyncFunction).constructor); await p;",
    shown,
  ],
  [
    "then of a host promise on another object",
    "attempts(() => x.promise.then.call({}, () => 1), () => x.promise.then.call(Promise.resolve(1), (v) => take(v)), () => Promise.prototype.then.call(x.promise, take));",
  ],
  [
    "a promise's constructor that listens",
    "const p = x.promise; let seen; p.constructor = function (executor) { executor((v) => take(v), (e) => take(e)); take(executor); }; attempt(() => p.then(take));",
  ],
  [
    "a promise with a species that takes the host's resolvers",
    "class P extends Promise { constructor(executor) { super((resolve, reject) => { take(resolve, reject); executor(resolve, reject); }); take(executor, executor.constructor); } static get [Symbol.species]() { return P; } } x.keep(P.resolve(1)); x.use('resolve', P.resolve(1)); await x.use('await', P.resolve(1));",
    shown,
  ],
  [
    "a promise whose then is the guest's",
    "const p = Promise.resolve(1); p.then = function (a, b) { take(a, b, this, a && a.constructor.constructor); return Promise.prototype.then.call(this, a, b); }; x.keep(p); await x.use('await', p); await kit.settle(x.use('all', [p]));",
    shown,
  ],
  [
    "a promise whose then throws a host function",
    "const p = Promise.resolve(1); Object.defineProperty(p, 'then', { get() { take(new Error('here').stack); throw x.fn; } }); await kit.settle(x.later(() => p));",
  ],
  ["a rejection with a host function", "await kit.settle(x.later(() => { throw x.fn; })); await kit.settle(x.later(() => Promise.reject(x.compiler)));", shown],
  [
    "a rejection with a proxy that lies",
    "await kit.settle(x.later(() => { throw new Proxy({}, { get: (t, k) => { take(k); return x.compiler; }, getPrototypeOf: () => null }); }));",
    shown,
  ],
  [
    "Promise.withResolvers and friends on a host promise's constructor",
    "const P = x.promise.constructor; attempts(() => P.resolve(1), () => P.all([1]), () => new P((a, b) => take(a, b, a.constructor.constructor)), () => P.race.call(x.Thing, []));",
    shown,
  ],
  [
    "finally of a host promise",
    "await x.promise.finally((...args) => take(...args, new Error('here').stack)); await kit.settle(x.promise.finally(() => x.rejected()));",
  ],
  ["a host promise resolved with itself", "let p; p = x.later(() => p); await kit.settle(p);"],
  [
    "a promise that the guest settles twice",
    "x.keep({ then(a, b) { a(1); a(x.compiler); b(x.compiler); take(a, b); } }); await x.use('await', { then(a, b) { take(a, b); a(1); b(2); a(3); } });",
    shown,
  ],
];

const thenables = [
  [
    "a thenable that takes the host's resolvers",
    "await x.use('await', { then(resolve, reject) { take(resolve, reject, resolve.constructor, resolve.constructor.constructor, this, arguments); resolve(1); } });",
    shown,
  ],
  [
    "a thenable that compiles with the resolver's constructor",
    "await x.use('await', { then(resolve) { attempt(() => resolve.constructor('return globalThis')()); resolve(); } });",
    shown,
  ],
  [
    "a thenable without end",
    "let n = 0; const endless = { then(resolve) { take(resolve); if (n++ < 5) resolve(endless); else resolve(1); } }; await x.use('await', endless);",
    shown,
  ],
  [
    "a thenable getter that changes its mind",
    "let n = 0; await kit.settle(x.use('await', { get then() { take(this); return n++ === 0 ? undefined : x.compiler; } }));",
  ],
  [
    "a thenable whose then is the host's compiler",
    "const p = x.use('resolve', { then: x.compiler }); attempt(() => p.constructor); x.keep({ then: x.compiler });",
    shown,
  ],
  ["a thenable whose then is the host's eval", "x.use('resolve', { then: x.indirectEval }); x.keep({ then: x.indirectEval });"],
  [
    "a thenable function with a host receiver",
    "const f = x.fn; f.then = function (a, b) { take(this, a, b, a && a.constructor.constructor); a && a(1); }; await x.use('await', f);",
    shown,
  ],
  ["a class that is a thenable", "await x.use('await', class { static then(a) { take(a, this, a.constructor.constructor); a(1); } });", shown],
  [
    "a thenable by a proxy",
    "await x.use('await', new Proxy({}, { get: (t, key, receiver) => key === 'then' ? (a) => { take(a, receiver, a.constructor.constructor); a(1); } : undefined }));",
    shown,
  ],
  [
    "a thenable in the host's race and all",
    "await x.use('race', { then(a, b) { take(a, b, a.constructor.constructor); a(1); } }); await x.use('all', [{ then(a) { take(a, a.constructor.constructor); a(1); } }]);",
    shown,
  ],
];

const iteration = [
  [
    "what a host generator yields after a hostile send",
    "const g = x.generator(); g.next(); take(g.next(x.compiler).value, g.return(x.fn).value, g.constructor, Object.getPrototypeOf(g).constructor);",
    shown,
  ],
  [
    "throw into a host generator",
    "const g = x.generator(); g.next(); attempts(() => g.throw(x.compiler), () => g.throw(new Error('mine')), () => x.iterator.throw(x.fn));",
    shown,
  ],
  [
    "a host generator's next on another object",
    "attempts(() => x.iterator.next.call(x.generator()), () => x.iterator.next.call({}), () => x.iterator.next.call((function* () { yield 1; })()), () => x.iterator.return.call(x.fn, 1));",
  ],
  [
    "return of a host async generator with a thenable",
    "await kit.settle(x.asyncGenerator().return({ then(a, b) { take(a, b, a.constructor.constructor, this); a(1); } }));",
    shown,
  ],
  [
    "return of a running host async generator",
    "const g = x.asyncGenerator(); await g.next(); await kit.settle(g.return({ then(a) { take(a, a.constructor); a(x.compiler); } }));",
    shown,
  ],
  [
    "throw into a host async generator",
    "const g = x.asyncGenerator(); await g.next(); await kit.settle(g.throw({ then(a) { take(a); a(1); } })); await kit.settle(g.return());",
  ],
  [
    "a host async generator's constructor",
    "attempts(() => x.asyncGenerator().constructor, () => Object.getPrototypeOf(x.asyncGenerator).constructor('return 1'), () => Object.getPrototypeOf(Object.getPrototypeOf(x.asyncGenerator.prototype)));",
    shown,
  ],
  [
    "return of a guest async generator that the host iterates",
    "await kit.settle(x.use('forAwait', (async function* () { try { yield x.fn; } finally { take(new Error('here').stack); yield x.compiler; } })()));",
    shown,
  ],
  [
    "an async iterator of the guest's that returns a thenable",
    "await kit.settle(x.use('forAwait', { [Symbol.asyncIterator]() { return { next: () => ({ then(a) { take(a, a.constructor.constructor); a({ value: x.compiler, done: false }); } }), return: (v) => (take(v), { then(a) { take(a); a({}); } }) }; } }));",
    shown,
  ],
  [
    "a sync iterator with a hostile return",
    "attempt(() => x.use('mapOf', { [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }), return() { take(this, new Error('here').stack); throw x.compiler; } }; } }));",
    shown,
  ],
  [
    "an iterator whose result is a proxy",
    "attempt(() => x.use('spreadList', { [Symbol.iterator]: () => ({ n: 0, next() { return new Proxy({}, { get: (t, k) => (take(k), k === 'done' ? this.n++ > 2 : x.compiler) }); } }) }));",
    shown,
  ],
  [
    "an iterator without end that the host is not asked to finish",
    "let n = 0; for (const v of { [Symbol.iterator]: () => ({ next: () => ({ value: x.fn, done: n++ > 3 }) }) }) take(v, v.constructor);",
    shown,
  ],
  [
    "yield* of a host generator in a guest one",
    "const g = (function* () { return yield* x.generator(); })(); take(g.next().value, g.next(x.compiler).value, g.next().value);",
    shown,
  ],
  [
    "yield* of a host async generator in a guest one",
    "const g = (async function* () { return yield* x.asyncGenerator(); })(); await g.next(); await kit.settle(g.next(x.compiler)); await kit.settle(g.return({ then(a) { take(a); a(1); } }));",
    shown,
  ],
  ["for await over a host async generator, left early", "for await (const v of x.asyncGenerator()) { take(v); break; }"],
  ["for await over host promises", "for await (const v of [x.promise, x.later(() => x.fn)]) take(v, v.constructor, v.constructor.constructor);", shown],
  [
    "the host's iterator helpers, where it has them",
    "attempts(() => x.iterator.map(take), () => x.iterator.constructor, () => Object.getPrototypeOf(Object.getPrototypeOf(x.iterator)).constructor);",
    shown,
  ],
];

export const asynchronous = {
  promises: promises.map(program),
  thenables: thenables.map(program),
  "iterators, generators and async generators": iteration.map(program),
};
