// What takes more than one sandbox, or a library of its own.
const pair = (name, run) => ({ group: "sandboxes", name, run });
const library = (expression) => `var __SANDBOXED_LIB__ = (() => { "use strict"; return (${expression}); })();`;

export const pairRows = [
  pair("one host object given to two sandboxes", async ({ open, check }) => {
    const source = library("{ put: (o, k, v) => { o[k] = v; return o; }, get: (o, k) => o[k], wrap: (o) => ({ o }) }");
    const [a, b] = [(await open(source)).exports, (await open(source)).exports];
    const shared = { n: 0, list: [], at: new Date(0), f: () => 1 };
    await check("each gives it back as itself", true, () => a.put(shared, "a", 1) === shared && b.put(shared, "b", 2) === shared);
    await check("each sees what the other wrote", "2,1", () => [a.get(shared, "b"), b.get(shared, "a")].join());
    await check("inside data it is still itself", true, () => a.wrap(shared).o === shared && b.wrap(a.wrap(shared).o).o === shared);
    a.put(shared, "own", {});
    await check("what one sandbox put there goes on to the other", true, () => b.get(shared, "own") === shared.own);
  }),
  pair("a value of one sandbox given to another", async ({ open, check, K }) => {
    const a = (
      await open(
        library(
          "{ Box: class Box { #v; constructor(v) { this.#v = v; } read() { return this.#v; } write(v) { this.#v = v; } }, f: (x) => x, e: new TypeError('a'), at: new Date(3), data: { deep: [1] }, re: /a/g, p: Promise.resolve(4), gen: function* () { yield 1; yield 2; }, sym: Symbol('a') }",
        ),
      )
    ).exports;
    const b = (
      await open(
        library(
          "{ id: (x) => x, read: (box) => box.read(), write: (box, v) => box.write(v), isError: (e) => e instanceof TypeError && e.message, time: (d) => d.getTime(), deep: (o) => o.deep[0], make: (C, v) => new C(v), sub: (C) => class extends C { read() { return 'sub ' + super.read(); } }, await: async (p) => (await p) + 1, spread: (g) => [...g()].join(), fail: (e) => { throw e; } }",
        ),
      )
    ).exports;
    const box = new a.Box(1);
    await check("methods work", 1, () => b.read(box));
    b.write(box, 5);
    await check("what the other wrote is there", 5, () => box.read());
    for (const key of ["Box", "f", "e", "at", "data", "re", "p", "sym"]) {
      const value = a[key];
      await check(`${key} comes back as itself`, true, () => b.id(value) === value);
    }
    await check("an error is an error", "a", () => b.isError(a.e));
    await check("it is thrown as itself", true, () => {
      const { e } = a;
      try {
        b.fail(e);
      } catch (thrown) {
        return thrown === e;
      }
      return false;
    });
    await check("a date is a date", 3, () => b.time(a.at));
    await check("data is data", 1, () => b.deep(a.data));
    await check("a class is constructed", 7, () => b.make(a.Box, 7).read());
    await check("what it made is an instance", true, () => b.make(a.Box, 7) instanceof a.Box);
    await check("a class is extended", "sub 8", () => new (b.sub(a.Box))(8).read());
    await check("a promise is awaited", 5, () => b.await(a.p));
    await check("a generator is spread", "1,2", () => b.spread(a.gen));
    await check("functions of both call each other", "guest", () => b.id(a.f)(a.f(b.id("guest"))));
    await check("the observations are the same", K.observe([1, { a: new Date(2) }]), () => K.observe(b.id(a.f([1, { a: new Date(2) }]))));
  }),
  pair("a sandbox that is gone, seen from another", async ({ open, check, K }) => {
    const gone = await open(library("{ f: () => 1, C: class { m() { return 2; } }, data: { a: [1] }, at: new Date(5) }"));
    const b = (
      await open(
        library(
          "{ call: (f) => f(), m: (o) => o.m(), read: (d) => d.a[0], time: (d) => d.getTime(), caught: (f) => { try { f(); return 'answered'; } catch (e) { return e instanceof Error ? e.name : 'other'; } } }",
        ),
      )
    ).exports;
    const { f, data, at } = gone.exports;
    const object = new gone.exports.C();
    await check("before", "1,2,1,5", () => [b.call(f), b.m(object), b.read(data), b.time(at)].join());
    gone.dispose();
    const refused = (body) => {
      try {
        return `answered ${body()}`;
      } catch (error) {
        return K.isRefusal(error) ? "refused" : `threw ${error?.name}`;
      }
    };
    await check("its functions are refused", "refused", () => refused(() => b.call(f)));
    await check("its instances are refused", "refused", () => refused(() => b.m(object)));
    await check("its data stays", "1,5", () => [b.read(data), b.time(at)].join());
    await check("the other sandbox can catch that", "refused", () => (/Sandbox|Error/.test(b.caught(f)) ? "refused" : "answered"));
    await check("and goes on", 3, () => b.call(() => 3));
  }),
  pair("live exports", async ({ open, check }) => {
    const sandbox = await open(
      library("(() => { let n = 1; const lib = { get n() { return n; }, bump: () => { n++; }, add: () => { lib.late = 'late'; } }; return lib; })()"),
    );
    const { exports } = sandbox;
    await check("at first", 1, () => exports.n);
    exports.bump();
    await check("after a change", 2, () => exports.n);
    await check("through value()", 2, () => sandbox.value("n"));
    exports.add();
    await check("what was added late", "late", () => exports.late);
    await check("the exports are one object", true, () => sandbox.exports === exports);
  }),
  pair("a host override of a method is kept", async ({ open, check }) => {
    const sandbox = await open(
      library("{ api: { real: () => 'real', via() { return this.real(); } }, C: class { m() { return 'm'; } via() { return this.m(); } } }"),
    );
    const { api, C } = sandbox.exports;
    api.real = () => "mock";
    await check("on an object of functions", "mock,mock", () => [sandbox.exports.api.real(), sandbox.exports.api.via()].join());
    C.prototype.m = () => "mocked";
    await check("on a class", "mocked,mocked", () => [new C().m(), new C().via()].join());
    const one = new C();
    one.m = () => "own";
    await check("on an instance", "own,mocked", () => [one.via(), new C().via()].join());
  }),
  pair("createInstance, fn, cls and callable", async ({ open, check }) => {
    const sandbox = await open(
      library(
        "Object.assign(function lib(x) { return 'called ' + x; }, { core: { Node: class Node { constructor(x) { this.x = x; } } }, f: (x) => x, Thing: class Thing {} })",
      ),
    );
    await check("a class at a path", 3, () => sandbox.createInstance("core.Node", [3]).x);
    await check("it is an instance", true, () => sandbox.createInstance(["core", "Node"], [3]) instanceof sandbox.exports.core.Node);
    await check("a function", true, () => sandbox.fn("f") === sandbox.exports.f);
    await check("a class", true, () => new (sandbox.cls("Thing"))() instanceof sandbox.exports.Thing);
    await check("a callable", "called a", () => sandbox.callable()("a"));
  }),
];
