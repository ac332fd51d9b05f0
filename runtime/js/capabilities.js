// Puts the granted host globals into a guest, and nothing else.
import { narrow, rulesOf } from "./attenuation.js";
import { hostHas, hostNames, hostValue } from "./denials.js";
import { SandboxError } from "./errors.js";
import { isObject } from "./links.js";
import { guestStack } from "./mirrors.js";

const CRYPTO_QUOTA = 65536; // bytes, as the Web Crypto specification has it

/**
 * What a policy grants: names, each with its rules where it is narrowed.
 *
 * @param {(string | { name: string, allow?: string[] })[]} permissions
 */
export function grantsOf(permissions) {
  if (!Array.isArray(permissions)) throw new SandboxError("permissions: a list of names is needed; [] grants none");
  return permissions.map((permission) => {
    if (typeof permission === "string") return { name: permission };
    if (typeof permission?.name === "string") return { name: permission.name, allow: permission.allow };
    throw new SandboxError("a permission is neither a name nor an object with a name");
  });
}

/**
 * Defines the granted globals. A name that the host does not have stays undefined,
 * and one that the guest has of its own (`JSON`, `Function`) stays the guest's. They
 * are defined on the guest's global object, or on the one that is given.
 *
 * @param {string[]} [had] of an image: what stands for each of them there. Nothing is
 *   defined then, and the answer differs if the image is of other values.
 * @returns {string[]} what stands for each
 */
export function grant(membrane, engine, grants, capabilities, sandbox, { global = membrane.guest.globalThis, had } = {}) {
  return grants.map(({ name, allow }, i) => {
    if (had ? had[i] === OWN : engine.own(global, name) !== undefined) return OWN;
    const value = hostValue(name, capabilities);
    const allowed = allow === undefined ? undefined : rulesOf(name, allow);
    if (value === undefined || (value === null && allowed)) return ABSENT;
    const gate = { revoked: false };
    const known = [];
    const know = (value, define) => {
      membrane.granting(gate, had ? () => isObject(value) && membrane.toRef(value) : define);
      known.push(membrane.mark(value));
    };
    if (name === "crypto") {
      const parts = cryptoParts(value);
      if (had) for (const part of parts) know(part);
      else {
        const facade = membrane.granting(gate, () => cryptoFacade(engine, parts));
        engine.help(membrane.guest.define, [[global], name, [facade]]);
        engine.free(facade);
        known.push(...parts.map((part) => membrane.mark(part)));
      }
      membrane.granted(value, undefined, gate);
    } else {
      const shown = allowed === undefined ? host(name, value, sandbox) : narrow(name, value, allowed);
      know(shown, () => engine.help(membrane.guest.define, [[global], name, shown], false, 1));
      membrane.granted(value, shown, gate);
      membrane.share(value);
      // Whichever way the guest comes to the whole of it, it finds what it was granted.
      if (allowed !== undefined) membrane.distort(value, shown);
      const answer = (...args) => answerLocale(...args);
      if (name === "Intl") know(answer, () => engine.help(membrane.guest.localize, [answer]));
    }
    return known.join();
  });
}

const OWN = "the guest's";
const ABSENT = "absent";

/**
 * Lets a guest have whatever the host has, and reports what it takes: a name is granted at
 * its first use.
 */
export function grantOnUse(membrane, engine, capabilities, sandbox) {
  const global = membrane.guest.globalThis;
  const taken = engine.evaluateRef("({ __proto__: null })", "sandbox-taken.js");
  const take = (name, stack) => {
    sandbox.denials.report(name, guestStack(stack));
    sandbox.run(() => grant(membrane, engine, [{ name }], capabilities, sandbox, { global: taken }));
  };
  for (const name of hostNames(capabilities)) {
    if (engine.own(global, name) !== undefined || !hostHas(name, capabilities)) continue;
    engine.help(membrane.guest.onUse, [[global], [taken], name, membrane.allow(take)], false, 2);
  }
}

// These run text as code when they are given text.
const timers = new Set(["setTimeout", "setInterval", "setImmediate"]);
const CONSOLE = [
  "assert",
  "clear",
  "count",
  "countReset",
  "debug",
  "dir",
  "dirxml",
  "error",
  "group",
  "groupCollapsed",
  "groupEnd",
  "info",
  "log",
  "table",
  "time",
  "timeEnd",
  "timeLog",
  "timeStamp",
  "trace",
  "warn",
];

/** What the guest gets in place of a host's value. */
function host(name, value, sandbox) {
  if (timers.has(name)) return startTimer(name, value, sandbox);
  if (/^clear(?:Timeout|Interval|Immediate)$/.test(name)) return (timer) => stopTimer(value, timer, sandbox);
  if (name === "queueMicrotask") {
    return (callback) => {
      if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
      value(() => sandbox.refusal() || callback());
    };
  }
  if (name === "console") return consoleFacade(value);
  // A global function such as fetch insists on the global object as its receiver; a
  // class is itself.
  return typeof value === "function" && !Object.hasOwn(value, "prototype") ? value.bind(globalThis) : value;
}

// In Node a timer leads to the application's other timers, so the guest holds a token.
const tokens = new WeakMap(); // token -> timer

function startTimer(name, start, sandbox) {
  const stop = globalThis[name.replace("set", "clear")];
  return (callback, ...rest) => {
    if (typeof callback !== "function") throw new TypeError(`${name} takes a function here, not text to run`);
    const run = (...args) => {
      if (sandbox.refusal()) return;
      if (name !== "setInterval") sandbox.ended(timer);
      callback(...args);
    };
    const timer = Reflect.apply(start, globalThis, [run, ...rest]);
    // A sandbox that is no more calls nothing, and holds no process open.
    sandbox.atEnd(timer, () => stop?.(timer));
    if (typeof timer !== "object") return timer;
    const token = {
      ref() {
        timer.ref?.();
        return token;
      },
      unref() {
        timer.unref?.();
        return token;
      },
      hasRef: () => timer.hasRef?.() ?? true,
      refresh() {
        timer.refresh?.();
        return token;
      },
    };
    tokens.set(token, timer);
    return token;
  };
}

function stopTimer(stop, token, sandbox) {
  const timer = tokens.get(token) ?? token;
  sandbox.ended(timer);
  Reflect.apply(stop, globalThis, [timer]);
}

/** What a method of the language says of locales: of a text, a number, or a date's time. */
function answerLocale(method, value, ...args) {
  const last = args.findLastIndex((arg) => arg !== undefined);
  const given = args.slice(0, last + 1);
  if (method.startsWith("date.")) return new Date(value)[method.slice("date.".length)](...given);
  return value[method](...given);
}

// Node's console leads to the process's streams.
function consoleFacade(console) {
  const facade = {};
  for (const method of CONSOLE) {
    if (typeof console[method] !== "function") continue;
    facade[method] = (...args) => Reflect.apply(console[method], console, args);
  }
  return facade;
}

// `crypto` reaches far (keys, subtle), so the guest gets random numbers only. The
// two functions that make them stay in the closure.
const cryptoSource = `(bytes, uuid) => {
"use strict";
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const typed = getPrototypeOf(Uint8Array.prototype);
const tagOf = getOwnPropertyDescriptor(typed, Symbol.toStringTag).get;
const lengthOf = getOwnPropertyDescriptor(typed, "byteLength").get;
const bufferOf = getOwnPropertyDescriptor(typed, "buffer").get;
const offsetOf = getOwnPropertyDescriptor(typed, "byteOffset").get;
const { set } = Uint8Array.prototype;
const Bytes = Uint8Array, Exception = DOMException;
const integers = { __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array };
const facade = {
  __proto__: null,
  getRandomValues(array) {
    let tag;
    try { tag = apply(tagOf, array, []); } catch {}
    if (tag === undefined || !(tag in integers)) throw new Exception("getRandomValues takes an integer typed array", "TypeMismatchError");
    const length = apply(lengthOf, array, []);
    if (length > ${CRYPTO_QUOTA}) throw new Exception("getRandomValues gives at most ${CRYPTO_QUOTA} bytes at once", "QuotaExceededError");
    apply(set, new Bytes(apply(bufferOf, array, []), apply(offsetOf, array, []), length), [bytes(length)]);
    return array;
  },
};
if (uuid) facade.randomUUID = function randomUUID() { return uuid(); };
return facade;
}`;

/** What the guest's facade asks the host for; without randomUUID there is no second one. */
function cryptoParts(crypto) {
  const bytes = (length) => crypto.getRandomValues(new Uint8Array(Math.min(length, CRYPTO_QUOTA)));
  const uuid = () => crypto.randomUUID();
  return typeof crypto.randomUUID === "function" ? [bytes, uuid] : [bytes];
}

function cryptoFacade(engine, parts) {
  const make = engine.evaluateRef(cryptoSource.replaceAll("\n", " "), "sandbox-crypto.js");
  const facade = engine.help(make, [...parts], true);
  engine.free(make);
  return facade;
}
