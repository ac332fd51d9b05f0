// What outlives its welcome: calls that run while the sandbox is disposed of, handles that
// were kept, values that were revoked, and another sandbox's objects.
import { hostileBundle } from "./guest-kit.js";

const gone = ["SandboxDisposedError", "SandboxDeadError", "SandboxRevokedError"];

/** Says so unless a use of a sandbox that is no more throws the error for that. */
function refused(what, f, say) {
  try {
    f();
  } catch (error) {
    if (!gone.includes(error?.name)) say(`${what} throws ${error?.name}: ${error?.message}`);
    return;
  }
  say(`${what} works after the sandbox is gone`);
}

// Each ends the sandbox, by `x.end()`, from within something that the host does, and then
// tries to go on.
const during = {
  "a callback": "try { x.end(); } catch {} x.after();",
  "a callback in a callback": "try { x.calls(() => x.calls(() => x.end())); } catch {} x.after();",
  "a finally": "try { x.end(); } finally { x.after(); }",
  "a comparison of the host's sort": "try { x.use('sort', () => { x.end(); return 0; }); } finally { x.after(); }",
  "a comparison of the guest's sort": "[3, 2, 1].sort(() => { try { x.end(); } catch {} x.after(); return 0; }); x.after();",
  "a toJSON": "try { x.use('json', { toJSON() { x.end(); } }); } finally { x.after(); }",
  "a toString": "try { x.use('text', { toString() { x.end(); return ''; } }); } catch {} x.after();",
  "a getter of a host object": "Object.defineProperty(x.object, 'g', { get() { x.end(); }, configurable: true }); try { x.object.g; } catch {} x.after();",
  "a setter of a host object": "Object.defineProperty(x.object, 'g', { set() { x.end(); }, configurable: true }); try { x.object.g = 1; } catch {} x.after();",
  "a constructor": "try { new (class extends x.Thing { constructor() { super(); x.end(); } })(); } catch {} x.after();",
  "a class that the host extends": "try { x.use('super', class { constructor() { x.end(); } }); } catch {} x.after();",
  "a generator of the guest's":
    "const g = (function* () { try { x.end(); yield 1; } finally { x.after(); } })(); try { x.use('spreadList', g); } catch {} x.after();",
  "a proxy's trap": "try { x.use('reflect', new Proxy({}, { ownKeys() { x.end(); return []; } })); } catch {} x.after();",
  "a hasInstance": "try { x.use('instanceOf', class { static [Symbol.hasInstance]() { x.end(); return true; } }); } catch {} x.after();",
  "a promise's executor": "try { new Promise(() => x.end()); } catch {} x.after();",
  "a stack": "Error.prepareStackTrace = () => { x.end(); x.after(); }; try { new Error('here').stack; x.fails(); } catch {} x.after();",
  "a conversion of a key": "try { x.object[{ toString() { x.end(); return 'a'; } }]; } catch {} x.after();",
  "a replacement": "try { 'aaa'.replace(/a/g, () => { x.end(); return 'b'; }); } catch {} x.after();",
  "arguments that are converted": "try { x.fn(...[1, 2].map((n) => { if (n === 2) x.end(); return n; })); } catch {} x.after();",
};

const ends = { dispose: (sandbox) => sandbox.dispose(), revoke: (sandbox) => sandbox.revoke() };

const whileRunning = (how) =>
  Object.entries(during).map(([name, program]) => ({
    name: `${how} in ${name}`,
    quiet: true,
    drive: async ({ open, x, say }) => {
      const sandbox = await open();
      const { exports } = sandbox;
      const { add, Victim } = exports;
      const victim = new Victim();
      let ended = false;
      const running = {
        ...Object.getOwnPropertyDescriptors(x),
        end: {
          value: () => {
            ends[how](sandbox);
            ended = true;
          },
        },
        after: { value: () => ended && say("the guest called the host after its end") },
      };
      try {
        exports.run(program, Object.defineProperties({}, running));
      } catch (error) {
        if (!gone.includes(error?.name)) say(`the call ends with ${error?.name}: ${error?.message}`);
      }
      for (let i = 0; i < 20; i++) await undefined;
      if (!ended) say("the program never came to the end");
      refused("a function", () => add(1, 2), say);
      refused("a method", () => victim.twice(1), say);
      refused("a field", () => victim.n, say);
      refused("the exports", () => sandbox.exports.add, say);
      refused("a constructor", () => new Victim(), say);
    },
  }));

const kept = [
  {
    name: "a function that the guest keeps is the host's to call, until the end",
    quiet: true,
    drive: async ({ open, x, kept, say }) => {
      const sandbox = await open();
      sandbox.exports.run(
        "x.keep(() => 1); x.keep({ f: () => 2 }); x.keep(class { m() { return 3; } }); x.keep(function* () { yield 4; }); x.keep(new Proxy({}, {}));",
        x,
      );
      const [f, o, C, g, p] = kept;
      const [inner, instance, running] = [o.f, new C(), g()];
      if (f() !== 1 || inner() !== 2 || instance.m() !== 3 || running.next().value !== 4) say("what was kept does not work");
      sandbox.dispose();
      const uses = {
        f,
        inner,
        m: () => instance.m(),
        C: () => new C(),
        next: () => running.next(),
        g,
        p: () => p.a,
        keys: () => Reflect.ownKeys(instance),
        proto: () => Object.getPrototypeOf(instance),
        define: () => Object.defineProperty(instance, "a", { value: 1 }),
      };
      for (const [name, use] of Object.entries(uses)) refused(name, use, say);
    },
  },
  {
    name: "host objects that the guest keeps are live in its next call, and dead with it",
    quiet: true,
    drive: async ({ open, x, say }) => {
      const sandbox = await open();
      sandbox.exports.run("globalThis.kept = [x, x.fn, x.instance, x.object]; x.calls(function () { globalThis.kept.push(arguments, this); }, x.given);", x);
      sandbox.exports.run("take(globalThis.kept[1](1, 2), globalThis.kept[2].method(5), globalThis.kept[3].a);", x);
      const [two, five, one] = sandbox.exports.collect();
      if (two !== 2 || five !== 5 || one !== 1) say(`what it kept gives ${two}, ${five}, ${one}`);
    },
  },
  {
    name: "a promise of a disposed guest is rejected, and its late reaction not run",
    quiet: true,
    drive: async ({ open, x, say }) => {
      const sandbox = await open();
      let release;
      const gate = new Promise((resolve) => {
        release = resolve;
      });
      const running = sandbox.exports.runAsync("await x.gate; x.after();", { ...x, gate, after: () => say("a disposed guest went on") });
      sandbox.dispose();
      release();
      const outcome = await running.then(
        () => "it was fulfilled",
        (error) => (gone.includes(error?.name) ? undefined : `it was rejected with ${error?.name}`),
      );
      for (let i = 0; i < 20; i++) await undefined;
      return outcome;
    },
  },
  {
    name: "a revoked argument does nothing more, whatever the guest kept of it",
    quiet: true,
    drive: async ({ open, x, say }) => {
      const sandbox = await open();
      let reached = 0;
      const target = { secretive: () => ++reached, n: 1 };
      sandbox.exports.run("globalThis.kept = [x.target, x.target.secretive, x.target.secretive.bind(null), new Proxy(x.target, {}), () => x.target.n];", {
        ...x,
        target,
      });
      sandbox.revoke(target);
      sandbox.exports.run(
        `const [t, f, bound, proxy, read] = globalThis.kept;
         for (const use of [() => t.secretive(), () => t.n, () => { t.n = 2; }, () => proxy.n, () => read(), () => Reflect.ownKeys(t), () => Object.defineProperty(t, "z", { value: 1 }), () => Object.getPrototypeOf(t), () => x.arrow(t)]) {
           let threw = false;
           try { use(); } catch (error) { threw = true; kit.takeError(error); }
           take(threw ? "refused" : "worked: " + use);
         }`,
        { ...x },
      );
      for (const value of sandbox.exports.collect()) if (typeof value === "string" && value.startsWith("worked: ") && !value.includes("x.arrow")) say(value);
      if (reached > 0) say("a method of a revoked object was called through it");
      if (target.n !== 1 || "z" in target) say("a revoked object was written to");
    },
  },
  {
    name: "a revoked function is not called",
    quiet: true,
    drive: async ({ open, x, say }) => {
      const sandbox = await open();
      const f = () => say("a revoked function was called");
      sandbox.exports.run("globalThis.kept = [x.f, x.f.bind(null), new Proxy(x.f, {})];", { ...x, f });
      sandbox.revoke(f);
      sandbox.exports.run(
        "const [f, bound, proxy] = globalThis.kept; attempts(() => f(), () => bound(), () => proxy(), () => f.call(null), () => Reflect.apply(f, null, []), () => [1].map(f), () => f.name);",
        x,
      );
      if (sandbox.exports.add(1, 2) !== 3) say("revoking one value ended the sandbox");
    },
  },
];

// Two sandboxes: one was granted something that the other one was not.
const rich = { permissions: ["vault"] };
const otherWalks = {
  "a function": "x.other.add",
  "a class": "x.other.Victim",
  "an instance": "x.other.victim",
  "a method": "x.other.victim.twice",
  data: "x.other.data",
  "its exports": "x.other.exports",
  "an error": "(() => { try { x.other.failing(); } catch (e) { return e; } })()",
  "a promise": "x.other.promised(1)",
  "what its function returns": "x.other.echo({})",
  "what its function throws": "(() => { try { x.other.poke(() => { throw x.other.Victim; }); } catch (e) { return e; } })()",
};

const others = [
  ...Object.entries(otherWalks).map(([name, expression]) => ({
    name: `walks from another sandbox's ${name.replace("its ", "")}`,
    quiet: true,
    drive: async ({ open, exports, x, secretly }) => {
      const vault = secretly(() => 1, "a capability of another sandbox");
      const { exports: a } = await open(hostileBundle, { ...rich, capabilities: { vault } });
      const other = {
        add: a.add,
        Victim: a.Victim,
        victim: new a.Victim(),
        data: a.data(),
        exports: a,
        failing: a.failing,
        promised: a.promised,
        echo: a.echo,
        poke: a.poke,
      };
      exports.run(
        `const start = ${expression};
         take(start);
         const compile = (F) => { take(F); attempts(() => take(F("return vault")()), () => take(F("return globalThis")().vault), () => take(new F("return vault")()), () => take(F.call(null, "return vault")())); };
         attempts(
           () => compile(start.constructor), () => compile(start.constructor.constructor), () => compile(Object.getPrototypeOf(start).constructor.constructor),
           () => compile(start.toString.constructor), () => compile(start.run.constructor), () => compile(Object.getPrototypeOf(start.runAsync).constructor),
           () => start.run("x.arrow(vault)", x), () => start.collect.constructor("return vault")(),
         );`.replace('() => start.run("x.arrow(vault)", x), ', ""),
        { ...x, other },
      );
    },
  })),
  {
    name: "one sandbox's realm is not another's to pollute",
    quiet: true,
    drive: async ({ open, exports, x, say }) => {
      const { exports: a } = await open();
      exports.run(
        "for (const v of [x.victim, x.Victim, x.add, x.data(), x.list, new x.Victim()]) { let p = v; for (let i = 0; i < 4 && p; i++) { p = Object.getPrototypeOf(p); attempt(() => { if (p) p.polluted = 1; }); attempt(() => { if (p) p.twice = () => 'mine'; }); } }",
        { ...x, victim: new a.Victim(), Victim: a.Victim, add: a.add, data: a.data, list: a.data().list },
      );
      a.run("take({}.polluted, [].polluted, (() => 1).polluted, new Map().polluted);", x);
      for (const value of a.collect()) if (value !== undefined) say("one sandbox's realm was polluted by another");
      if (new a.Victim().twice(2) !== 4) say("one sandbox's class was changed by another");
    },
  },
  {
    name: "one host object in two sandboxes gives neither the other's values",
    quiet: true,
    drive: async ({ open, exports, x, say }) => {
      const { exports: a } = await open();
      const shared = { n: 1, put: undefined };
      a.run("x.shared.put = { mine: () => globalThis }; x.shared.n = 2;", { ...x, shared });
      exports.run(
        "take(x.shared.n); attempts(() => x.shared.put.mine.constructor('return globalThis')(), () => x.shared.put.constructor.constructor, () => { x.shared.put = 1; });",
        { ...x, shared },
      );
      if (shared.n !== 2 || shared.put !== 1) say(`the shared object is { n: ${shared.n}, put: ${typeof shared.put} }`);
    },
  },
  {
    name: "a disposed sandbox's values are dead in another",
    quiet: true,
    drive: async ({ open, exports, x, say }) => {
      const other = await open();
      const { echo, Victim } = other.exports;
      const victim = new Victim();
      exports.run("globalThis.kept = [x.echo, x.victim];", { ...x, echo, victim });
      other.dispose();
      exports.run(
        "const [echo, victim] = globalThis.kept; for (const use of [() => echo(1), () => victim.twice(1), () => victim.n]) { let ok = true; try { use(); } catch { ok = false; } take(ok ? 'worked' : 'refused'); }",
        x,
      );
      for (const value of exports.collect()) if (value === "worked") say("a disposed sandbox's value worked in another");
    },
  },
];

export const life = {
  "disposal while it runs": whileRunning("dispose"),
  "revocation while it runs": whileRunning("revoke"),
  "handles that were kept": kept,
  "another sandbox's objects": others,
};
