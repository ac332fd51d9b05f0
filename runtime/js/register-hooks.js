// Node's module hooks of register.js. They run on a thread of their own, where nothing of a
// library is.
import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Redirects, withSandbox } from "./plugin-redirect.js";

/** Where the application's thread has the function that gives a library's sandbox. */
export const SHARED = Symbol.for("@sandbox-lsp/runtime/register");

let redirects;

export function initialize(policy) {
  redirects = new Redirects(policy);
}

export function resolve(request, context, next) {
  const importer = context.parentURL?.startsWith("file:") ? fileURLToPath(context.parentURL) : undefined;
  const answer = redirects.answer(request, importer);
  if (answer?.error) throw new Error(answer.error);
  if (answer?.warning) process.emitWarning(answer.warning);
  if (!answer?.proxy) return next(request, context);
  return { url: pathToFileURL(answer.proxy).href, format: "module", shortCircuit: true };
}

export async function load(url, context, next) {
  const proxy = url.startsWith("file:") && redirects.isProxy(fileURLToPath(url)) ? fileURLToPath(url) : undefined;
  if (proxy === undefined) return next(url, context);
  const sandbox = (request) => `globalThis[Symbol.for(${JSON.stringify(SHARED.description)})](${JSON.stringify(request)})`;
  return { source: withSandbox(await readFile(proxy, "utf8"), proxy, sandbox), format: "module", shortCircuit: true };
}
