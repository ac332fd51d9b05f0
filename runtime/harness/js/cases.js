// What tests came to, case by case, as the program outside is told.
import { progress } from "./loop.js";

let tell = () => {};
let file = "";

/** Where cases go from now on. */
export function tellTo(listener) {
  tell = listener;
}

/** The test file that is being loaded. */
export const currentFile = () => file;

export function setFile(name) {
  file = name;
}

const LONGEST = 20_000;

/** A text of a value that may be anybody's; never throws. */
export function textOf(read) {
  try {
    const text = String(read());
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  } catch {
    return "";
  }
}

/** What is known of something thrown. */
export function errorOf(thrown) {
  const isError = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  if (!isError) return { name: "", message: textOf(() => thrown), stack: "" };
  const error = { name: textOf(() => thrown.name ?? ""), message: textOf(() => thrown.message ?? thrown), stack: textOf(() => thrown.stack ?? "") };
  for (const side of ["actual", "expected"]) {
    let has = false;
    try {
      has = side in thrown;
    } catch {}
    if (has) error[side] = shown(() => thrown[side]);
  }
  return error;
}

/** A value as a reader of a report wants to see it. */
export function shown(read) {
  return textOf(() => show(read(), 0, new Set()));
}

function show(value, depth, seen) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "symbol") return value.toString();
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.has(value)) return "[circular]";
  const brand = Object.prototype.toString.call(value).slice(8, -1);
  if (brand === "Date") return `Date ${Number.isNaN(+value) ? "invalid" : Date.prototype.toISOString.call(value)}`;
  if (brand === "RegExp") return RegExp.prototype.toString.call(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (depth > 3) return Array.isArray(value) ? "[…]" : "{…}";
  seen.add(value);
  const inner = (part) => show(part, depth + 1, seen);
  let text;
  if (Array.isArray(value)) {
    const parts = Array.from({ length: Math.min(value.length, 50) }, (_, i) => (i in value ? inner(value[i]) : "<hole>"));
    if (value.length > 50) parts.push("…");
    text = `[${parts.join(", ")}]`;
  } else {
    const proto = Object.getPrototypeOf(value);
    const name = proto === null ? "null-prototype " : proto === Object.prototype ? "" : `${textOf(() => proto.constructor?.name ?? "") || brand} `;
    const entries = value instanceof Map ? Array.from(value, ([k, v]) => `${inner(k)} => ${inner(v)}`) : value instanceof Set ? Array.from(value, inner) : [];
    const keys = Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
    for (const key of keys.slice(0, 50)) entries.push(`${typeof key === "symbol" ? `[${key.toString()}]` : key}: ${inner(value[key])}`);
    if (keys.length > 50) entries.push("…");
    text = `${name}{${entries.length > 0 ? ` ${entries.join(", ")} ` : ""}}`;
  }
  seen.delete(value);
  return text;
}

/**
 * Tells of one case.
 *
 * @param {{ name: string[], status: "passed" | "failed" | "skipped" | "todo", error?: object, ms?: number, file?: string }} found
 */
export function addCase({ name, status, error, ms = 0, file: of = file }) {
  progress();
  tell(JSON.stringify({ file: of, name: name.map((part) => textOf(() => part)), status, error, ms }));
}
