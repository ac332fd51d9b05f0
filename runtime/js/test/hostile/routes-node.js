// What Node's own globals lead to, beyond what was granted. Only Node can run these.
import { Console } from "node:console";
import { clearTimeout as clear, setTimeout as later } from "node:timers";

const granted = [
  "URL",
  "URLSearchParams",
  "AbortController",
  "structuredClone",
  "TextEncoder",
  "TextDecoder",
  "Intl",
  "console",
  "setTimeout",
  "clearTimeout",
  "performance",
  "crypto",
  "queueMicrotask",
  "Event",
  "EventTarget",
  "Headers",
];
// Node makes some of them when they are first asked for, and leaves things behind then.
for (const name of granted) void globalThis[name];
new Headers();

// A console such as Node's own, with streams that nobody reads and that tell on themselves.
const sink = () => ({ write() {}, on() {}, once() {}, removeListener() {}, listenerCount: () => 0 });
const capabilities = ({ secretly }) => {
  const [stdout, stderr] = [sink(), sink()].map((stream) => secretly(stream, "a stream of the process"));
  return { console: new Console({ stdout, stderr }) };
};
const options = { permissions: granted, capabilities };

const starts = [
  "URL",
  "new URL('https://a.example/?q=1')",
  "new URL('https://a.example/?q=1').searchParams",
  "new URLSearchParams('a=1').entries()",
  "new AbortController()",
  "new AbortController().signal",
  "structuredClone",
  "structuredClone({ a: [1] })",
  "structuredClone(new Error('x'))",
  "new TextEncoder().encode('a')",
  "new TextDecoder()",
  "Intl",
  "Intl.NumberFormat",
  "new Intl.NumberFormat('en').format",
  "new Intl.DateTimeFormat('en').formatToParts(0)",
  "console",
  "console.log",
  "performance",
  "performance.now",
  "crypto",
  "crypto.getRandomValues",
  "queueMicrotask",
  "new Event('a')",
  "new EventTarget()",
  "new Headers({ a: 'b' })",
  "new Headers({ a: 'b' }).entries()",
];

const walk = (start) => `
const start = ${start};
take(start);
attempts(
  () => start.constructor, () => start.constructor.constructor, () => start.__proto__.constructor, () => Object.getPrototypeOf(start).constructor.constructor,
  () => Object.getPrototypeOf(Object.getPrototypeOf(start)).constructor, () => start.toString.constructor, () => start.constructor.prototype.constructor.constructor,
);
for (const key of Reflect.ownKeys(Object.getPrototypeOf(start) || {})) attempts(() => start[key], () => start[key].constructor);
for (const key of Reflect.ownKeys(start)) attempts(() => start[key], () => Object.getOwnPropertyDescriptor(start, key));
`;

const tricks = [
  [
    "a console's streams",
    "attempts(() => console._stdout, () => console._stderr, () => console._stdout.constructor, () => console.Console, () => new console.Console({ write: take }), () => console.constructor, () => Reflect.ownKeys(console).map((key) => take(console[key])).length);",
  ],
  [
    "a timer's neighbours",
    "const t = setTimeout(() => {}, 77777); for (let at = t, i = 0; at && i < 6; i++) { take(at, at._onTimeout, at._idleNext, at._idlePrev); at = i < 3 ? at._idleNext : at._idlePrev; } attempts(() => t.constructor, () => Reflect.ownKeys(t).map((key) => take(t[key])).length); clearTimeout(t);",
  ],
  [
    "text for a timer to run",
    "attempts(() => setTimeout('globalThis.__hostile__()', 0), () => setTimeout({ toString: () => 'globalThis.__hostile__()' }, 0), () => setTimeout.call(null, x.compiler, 0, 'globalThis.__hostile__()')); await new Promise((done) => setTimeout(done, 5));",
  ],
  [
    "a timer's callback and its this",
    "await new Promise((done) => setTimeout(function (...all) { take(this, this && this._onTimeout, this && this._idlePrev, this && this._idleNext, ...all); done(); }, 0, x.fn));",
  ],
  [
    "an event's target and path",
    "const c = new AbortController(); c.signal.addEventListener('abort', function (e) { take(this, e, e.target, e.currentTarget, e.composedPath(), e.constructor.constructor, new Error('here').stack); }); c.abort(x.fn); take(c.signal.reason);",
  ],
  [
    "a listener that is an object",
    "const t = new EventTarget(); t.addEventListener('a', { get handleEvent() { take(this, new Error('here').stack); return (e) => take(e, e.constructor.constructor); } }); t.dispatchEvent(new Event('a'));",
  ],
  [
    "inspection by the host's symbols",
    "const custom = Symbol.for('nodejs.util.inspect.custom'); for (const v of [new URL('a:b'), new URLSearchParams('a'), new AbortController(), new Event('a'), new Headers()]) attempt(() => v[custom](2, { stylize: (...all) => take(...all), depth: 2 }, (...all) => take(...all)));",
  ],
  [
    "console.log of a hostile value",
    "attempts(() => console.log(new Proxy({}, { get: (t, k) => { take(k, new Error('here').stack); } })), () => console.log('%o %s', { [Symbol.for('nodejs.util.inspect.custom')](...all) { take(this, ...all); for (const a of all) take(a && a.constructor, a && a.stylize); return ''; } }, { toString() { take(new Error('here').stack); return ''; } }));",
  ],
  [
    "structuredClone of what cannot be cloned",
    "attempts(() => structuredClone(() => 1), () => structuredClone(x.fn), () => structuredClone(x.compiler), () => structuredClone({ get a() { take(new Error('here').stack); return 1; } }), () => structuredClone(new Proxy({}, { ownKeys: () => { throw x.fn; } })));",
  ],
  [
    "prepareStackTrace of the host",
    "attempt(() => { Error.prepareStackTrace = (e, sites) => take(sites); structuredClone(() => 1); }); Error.prepareStackTrace = undefined;",
  ],
  [
    "crypto beyond random numbers",
    "attempts(() => crypto.subtle, () => crypto.webcrypto, () => crypto.constructor, () => crypto.getRandomValues(new Float64Array(1)), () => crypto.getRandomValues(new Uint8Array(65537)), () => crypto.getRandomValues({ length: 4 }), () => crypto.getRandomValues.constructor, () => Reflect.ownKeys(crypto));",
  ],
  [
    "writes to what is granted",
    "for (const v of [URL, URL.prototype, Object.getPrototypeOf(new Headers()), Intl, Intl.NumberFormat.prototype, AbortController.prototype, EventTarget.prototype, performance, console]) attempts(() => { v.polluted = 1; }, () => { Object.getPrototypeOf(v).polluted = 1; }, () => Object.defineProperty(v, 'polluted', { get: take }), () => Object.setPrototypeOf(v, { polluted: 1 })); attempts(() => delete URL.prototype.href, () => { console.log = take; }, () => { Intl.NumberFormat = take; });",
  ],
];

const pool = {
  name: "the rest of a pooled Buffer",
  quiet: true,
  drive: ({ exports, x, say }) => {
    const neighbour = Buffer.from("the neighbour's secret");
    const mine = Buffer.from("mine");
    exports.run(
      "let text = ''; for (const b of new Uint8Array(x.mine.buffer)) text += String.fromCharCode(b); take(text.includes(\"the neighbour's secret\"), x.mine.length);",
      { ...x, mine },
    );
    const [found, length] = exports.collect();
    if (length !== mine.length) say(`the guest saw ${length} bytes of ${mine.length}`);
    return found && neighbour.length > 0 ? "the guest read another Buffer of the same pool" : undefined;
  },
};

const neighbours = {
  name: "the application's timers beside its own",
  quiet: true,
  options,
  drive: ({ exports, x, secretly }) => {
    const timer = later(
      secretly(() => {}, "a timer of the application"),
      77777,
    );
    secretly(timer, "a timer of the application");
    try {
      exports.run(tricks[1][1], x);
      exports.collect();
    } finally {
      clear(timer);
    }
  },
};

const watched = {
  name: "granted classes are what they were",
  quiet: true,
  options,
  drive: ({ exports, x, say }) => {
    const before = new Map(
      [URL, URL.prototype, Headers.prototype, Intl, Intl.NumberFormat.prototype, AbortController.prototype, EventTarget.prototype, performance, console].map(
        (o) => [o, Reflect.ownKeys(o).length],
      ),
    );
    const { log } = console;
    exports.run(tricks.at(-1)[1], x);
    for (const [o, n] of before) if (Reflect.ownKeys(o).length !== n || "polluted" in o) say(`${o[Symbol.toStringTag] ?? o.name} was changed`);
    if (console.log !== log) say("console.log was replaced");
    for (const o of before.keys()) delete o.polluted;
    console.log = log;
  },
};

/** Cases by route. */
export const nodeRoutes = {
  "walks from granted globals": starts.map((start) => ({ name: start, program: walk(start), options })),
  "more than was granted": [
    ...tricks.map(([name, program]) => ({ name, program, async: program.includes("await "), quiet: true, options })),
    neighbours,
    watched,
    pool,
  ],
};
