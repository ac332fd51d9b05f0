// What polyfills look at while they load.
import { AbortController, AbortSignal } from "abortcontroller-polyfill/dist/cjs-ponyfill.js";
import "fast-text-encoding";
import { define } from "./define.js";

const navigator = { userAgent: "Node.js/22", language: "en-US", languages: ["en-US"], hardwareConcurrency: 1, platform: "linux" };
for (const [name, value] of Object.entries({ AbortController, AbortSignal, navigator })) define(name, value);
