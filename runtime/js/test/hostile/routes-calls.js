// Calls: a hostile `this`, hostile arguments, what a running function tells, and what
// compiles or imports.

const shown = { quiet: false };
const program = ([name, text, more]) => ({ name, program: text, quiet: true, ...more });

const receivers = [
  [
    "no this for a sloppy host function",
    "attempts(() => x.sloppyThis(), () => (0, x.sloppyThis)(), () => { const f = x.sloppyThis; return f(); }, () => x.sloppyThis.call(undefined), () => x.sloppyThis.apply(null));",
    shown,
  ],
  [
    "no this for a sloppy host function, by the host",
    "attempts(() => x.calls(x.sloppyThis), () => x.callsOn(x.sloppyThis), () => x.use('call', x.sloppyThis), () => x.use('sort', x.sloppyThis), () => x.use('map', x.sloppyThis), () => [1].map(x.sloppyThis)[0]);",
    shown,
  ],
  [
    "no this for a sloppy host accessor",
    "const d = { get: x.sloppyThis, configurable: true }; const o = Object.defineProperty({}, 'here', d); attempts(() => o.here, () => Reflect.get(o, 'here', undefined), () => Object.getOwnPropertyDescriptor(o, 'here').get.call(null));",
    shown,
  ],
  [
    "a bound sloppy host function",
    "attempts(() => x.sloppyThis.bind(undefined)(), () => x.sloppyThis.bind()(), () => Function.prototype.call.call(x.sloppyThis, null));",
    shown,
  ],
  [
    "a primitive this",
    "attempts(() => x.sloppyThis.call(1).constructor.constructor, () => x.receiver.call('text'), () => x.sloppyThis.call(x.symbol).constructor.constructor);",
    shown,
  ],
  [
    "the guest's global object as this",
    "attempts(() => x.sloppyThis.call(globalThis), () => x.receiver.call(globalThis), () => x.keep(globalThis), () => x.calls((g) => g, globalThis), () => x.callsOn(function () { return this; }, globalThis));",
    shown,
  ],
  [
    "a host's private method on others",
    "for (const self of [{}, Object.create(x.instance), new Proxy(x.instance, {}), x.Thing, x.Thing.prototype, null, 1]) attempts(() => x.instance.isThing.call(self, x.instance), () => x.instance.isThing.call(x.instance, self));",
  ],
  [
    "a host method on the membrane's own",
    "attempts(() => x.instance.method.call(x.fn, x.fn), () => x.fn.call(x.Thing.prototype), () => x.instance.fails.call(x.promise));",
  ],
  [
    "a hostile this for the host's natives",
    "attempts(() => x.map.get.call(new Proxy(x.map, {}), 'k'), () => x.map.get.call(x.set, 'k'), () => x.date.getTime.call(x.map), () => x.bytes.subarray.call(x.view), () => Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.call(x.map));",
  ],
  [
    "a newTarget of the guest's",
    "attempts(() => Reflect.construct(x.Thing, [], Object.defineProperty(function () {}.bind(), 'prototype', { get() { take(this); return x.fn; } })), () => Reflect.construct(x.Thing, [], new Proxy(x.Thing, { get: (t, k) => { take(k); return x.compiler; } })), () => Reflect.construct(x.Thing, [], x.compiler).constructor.constructor);",
    shown,
  ],
  [
    "super of a host class to the guest's object",
    "class C extends x.Thing { method() { return super.method(x.compiler); } get accessor() { return super.constructor.constructor; } } const c = new C(); attempts(() => c.method()('return globalThis')(), () => c.accessor, () => c.isThing(c), () => Object.getPrototypeOf(C).constructor);",
    shown,
  ],
];

const running = [
  [
    "arguments of a running host function",
    "x.callsSecretly(() => attempts(() => x.sloppyCall.arguments, () => x.sloppyCall.arguments && x.sloppyCall.arguments[0]));",
    shown,
  ],
  [
    "arguments by descriptor of a running host function",
    "x.callsSecretly(() => attempts(() => Object.getOwnPropertyDescriptor(x.sloppyCall, 'arguments'), () => Object.getOwnPropertyDescriptor(x.sloppyCall, 'arguments').value[0], () => Object.getOwnPropertyDescriptors(x.sloppyCall), () => ({ ...Object.getOwnPropertyDescriptors(x.sloppyCall) }).arguments.value[0]));",
    shown,
  ],
  [
    "caller of a running host function",
    "x.callsSecretly(() => attempts(() => x.sloppyCall.caller, () => x.sloppyCall.caller.arguments, () => x.sloppyCall.caller.arguments[1], () => Reflect.get(x.sloppyCall, 'caller').arguments[1]));",
    shown,
  ],
  [
    "caller by descriptor, and its caller",
    "x.callsSecretly(() => attempts(() => Object.getOwnPropertyDescriptor(x.sloppyCall, 'caller').value, () => Reflect.get(x.sloppyCall, 'caller', {}), () => x.sloppyCall.caller.caller, () => Object.getOwnPropertyDescriptor(x.sloppyCall.caller, 'arguments').value[1]));",
    shown,
  ],
  [
    "arguments and caller through Function.prototype",
    "x.callsSecretly(() => { for (const key of ['arguments', 'caller']) { const d = Object.getOwnPropertyDescriptor(Function.prototype, key); attempts(() => d.get.call(x.sloppyCall), () => Reflect.get(Function.prototype, key, x.sloppyCall), () => d.value); } });",
  ],
  [
    "arguments after a function ended",
    "x.callsSecretly(() => attempt(() => x.sloppyCall.arguments)); attempts(() => x.sloppyCall.arguments, () => x.sloppyCall.caller);",
    shown,
  ],
  [
    "caller of a guest function that the host calls",
    "function sloppy() { return sloppy.caller; } attempts(() => x.calls(sloppy), () => x.sloppyCall(1, sloppy), () => x.use('call', sloppy), () => x.use('map', sloppy));",
  ],
  [
    "arguments.callee of the host's",
    "attempts(() => x.args.callee, () => x.args.callee.caller, () => Object.getOwnPropertyDescriptor(x.args, 'callee').get.constructor, () => x.args.constructor.constructor);",
    shown,
  ],
  [
    "arguments.callee of a guest function that the host calls",
    "attempts(() => x.calls(function () { return arguments.callee; }), () => x.calls(function () { return arguments.callee.caller; }), () => x.sloppyCall(1, function () { return arguments.callee.caller; }));",
  ],
  [
    "arguments that the host shares with its parameters",
    "x.calls(function (a) { arguments[0] = x.compiler; take(a, arguments); }, x.fn); attempt(() => { x.args[0] = x.compiler; return x.args[0]('return globalThis')(); });",
    shown,
  ],
  [
    "every own property of every host function, while it runs",
    "x.callsSecretly(() => { for (const key of Reflect.ownKeys(x)) if (typeof x[key] === 'function') for (const own of Reflect.ownKeys(x[key])) attempts(() => x[key][own], () => { const v = x[key][own]; return v && v[0]; }); });",
    shown,
  ],
];

const compiling = [
  [
    "import() of the host's modules",
    "for (const name of ['fs', 'process', './other', 'data:text/javascript,export default globalThis', 'https://a.example/x.js']) { await kit.settle((async () => import(name))()); }",
    { async: true },
  ],
  [
    "import() through the guest's compilers",
    "for (const f of [Function, (async () => {}).constructor]) await kit.settle((async () => f(\"return import('fs')\")())()); await kit.settle((async () => (0, eval)(\"import('fs')\"))());",
    { async: true },
  ],
  [
    "import() through the host's compilers",
    "await kit.settle((async () => x.compiler(\"return import('fs')\")())()); await kit.settle((async () => x.indirectEval(\"import('fs')\"))()); await kit.settle((async () => x.asyncFunction.constructor(\"return import('fs')\")())());",
    { async: true },
  ],
  [
    "import.meta and require",
    "attempts(() => (0, eval)('import.meta'), () => Function('return require')(), () => Function('return module')(), () => Function('return process')(), () => globalThis.require, () => globalThis.process, () => globalThis.module);",
  ],
  [
    "the guest's Function and eval",
    "attempts(() => Function('return globalThis')(), () => (0, eval)('globalThis'), () => Function('return this')(), () => new Function('a', 'return a.constructor.constructor')(x.fn), () => (() => {}).constructor('return globalThis')());",
  ],
  [
    "a guest that compiles in every context it has",
    "for (const C of [Function, (function* () {}).constructor, (async () => {}).constructor, (async function* () {}).constructor]) attempts(() => C('return globalThis')(), () => C('yield globalThis')().next(), () => C.call(x.fn, 'return globalThis')(), () => Reflect.construct(C, ['return globalThis'], x.Thing)());",
  ],
  [
    "names of the host's own scope",
    "for (const name of ['sandbox', 'membrane', 'engine', 'cross', 'guest', 'marshaller', 'host_call', 'half', '__SANDBOX__', 'WebAssembly', 'document', 'window', 'self', 'Deno', 'Bun', 'fetch', 'XMLHttpRequest', 'Worker', 'importScripts', 'ungranted']) attempts(() => (0, eval)(name), () => globalThis[name]);",
  ],
  ["every global of the guest's", "for (const key of Reflect.ownKeys(globalThis)) if (key !== '__SANDBOXED_LIB__') take(globalThis[key]);"],
  [
    "the host's compilers as callbacks of the guest's natives",
    "attempts(() => ['return globalThis'].map(x.compiler)[0](), () => ['globalThis'].map(x.indirectEval)[0], () => Array.from(['return globalThis'], x.compiler)[0](), () => 'globalThis'.replace('globalThis', x.indirectEval), () => JSON.parse('\"return globalThis\"', x.compiler), () => Reflect.apply(x.compiler, x, ['return globalThis'])());",
    shown,
  ],
  [
    "the host's compilers as accessors and methods",
    "const o = { f: x.compiler, e: x.indirectEval, [Symbol.toPrimitive]: x.indirectEval }; attempts(() => o.f('return globalThis')(), () => o.e('globalThis'), () => '' + o, () => new o.f('return globalThis')(), () => Reflect.construct(Object, ['return globalThis'], x.compiler));",
    shown,
  ],
  [
    "compilers that the host bound or wrapped",
    "attempts(() => x.calls(Function.prototype.bind, x.compiler), () => x.callsOn(Function.prototype.bind, x.compiler, null)('return globalThis')(), () => x.callsOn(Function.prototype.call, x.compiler, null, 'return globalThis')(), () => x.calls((f) => f('return globalThis')(), x.compiler));",
    shown,
  ],
];

export const calls = {
  "callbacks and methods with a hostile this": receivers.map(program),
  "arguments and callers of what runs": running.map(program),
  "import, Function and eval": compiling.map(program),
};
