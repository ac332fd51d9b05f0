// What tests expect of the global object, in a realm that is nothing but the language.
import "./early.js";
import { Buffer } from "buffer";
import structuredClone from "core-js-pure/actual/structured-clone";
import URL from "core-js-pure/actual/url";
import URLSearchParams from "core-js-pure/actual/url-search-params";
import { Event, EventTarget } from "event-target-shim";
import { define } from "./define.js";
import { timing } from "./loop.js";
import { processOf } from "./process.js";

// The same numbers on both sides, and each time.
let state = 0x9e3779b9;
Math.random = function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const crypto = {
  getRandomValues(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(256 * Math.random());
    return array;
  },
  randomUUID() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  },
};

// What tests print is nobody's to read here.
const console = {};
for (const name of "assert clear count countReset debug dir dirxml error group groupCollapsed groupEnd info log table time timeEnd timeLog trace warn".split(
  " ",
))
  console[name] = () => {};

const globals = {
  ...timing,
  global: globalThis,
  process: processOf(),
  Buffer,
  __dirname: "/",
  __filename: "/test.js",
  URL,
  URLSearchParams,
  structuredClone,
  Event,
  EventTarget,
  crypto,
  console,
};
for (const [name, value] of Object.entries(globals)) define(name, value);
