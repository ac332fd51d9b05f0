// What a page asks of its libraries: the same calls, whether they are sandboxed or not. It
// is of the shop's sources in the tests, beside its main.js.
import { addBusinessDays, differenceInCalendarDays, format, isBefore } from "date-fns";
import dayjs from "dayjs";
import _ from "lodash";
import qs from "qs";
import { summarise, topSellers } from "sandbox-workload/lodash/stats";
import { parseFilters } from "sandbox-workload/qs/filters";
import { NIL, v4, v5, validate } from "uuid";
import { z } from "zod";
import friend from "../node_modules/friend/index.js";

const sales = [
  { product: "Assam", category: "tea", quantity: 2, cents: 850 },
  { product: "Sencha", category: "tea", quantity: 3, cents: 1200 },
  { product: "Enamel mug", category: "mugs", quantity: 1, cents: 990 },
];
const day = new Date(2024, 4, 3, 12);
const user = z.object({ name: z.string().min(2), age: z.number().int().optional(), tags: z.array(z.string()).default([]) });

const calls = {
  groups: () => _.mapValues(_.groupBy(sales, "category"), "length"),
  chain: () => _(sales).filter({ category: "tea" }).map("product").sort().value(),
  callback: () => _.sortBy(sales, (sale) => -sale.cents * sale.quantity).map((sale) => sale.product),
  identity: () => _.identity(sales) === sales && _.first(sales) === sales[0],
  merge: () => _.merge({ a: { b: [1, { c: 2 }] } }, { a: { b: [3, { d: 4 }] } }),
  words: () => [_.startCase("fooBar baz"), _.kebabCase("Foo Bar"), _.padStart("7", 3, "0")],
  curry: () => _.curry((a, b, c) => [a, b, c])(1)(2)(3),
  addDays: () => addBusinessDays(day, 3).toISOString(),
  days: () => [differenceInCalendarDays(day, new Date(2024, 0, 1)), isBefore(day, new Date(2025, 0, 1)), format(day, "EEEE d MMMM yyyy")],
  dayjs: () => [dayjs(day).add(2, "month").format("YYYY-MM-DD"), dayjs("no day").isValid(), dayjs(day).isSame(dayjs(day), "day")],
  parse: () => qs.parse("a[b]=1&a[c][]=2&d=x%20y"),
  stringify: () => qs.stringify({ a: [1, 2], b: { c: "d" } }, { encode: false, filter: (_prefix, value) => (value === 2 ? 3 : value) }),
  valid: () => user.parse({ name: "Ada", age: 36, tags: ["x"] }),
  invalid: () => user.safeParse({ name: "A", age: 1.5 }).error.issues,
  thrown: () => {
    try {
      user.parse({});
      return "nothing";
    } catch (error) {
      return [error instanceof Error, error.name, error.issues.length];
    }
  },
  uuid: () => [v5("shop", NIL), validate(v4()), new Set([v4(), v4()]).size],
  workloads: () => [summarise(sales), topSellers(sales, 2), parseFilters("?category=tea&price[min]=5&sort=name")],
  // A package of node_modules, which imports lodash itself.
  friend: () => friend(["b", "a"]),
};

globalThis.results = JSON.stringify(Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, call()])));

// A template is a function that the library makes, inside of its sandbox, from a text; which
// the page's policy lets no script of its own do.
function attempt(call) {
  try {
    return call();
  } catch (error) {
    return error.name;
  }
}
globalThis.inside = attempt(() => _.template("<%= [typeof document, typeof fetch, typeof localStorage, typeof Array] %>")());
globalThis.sameLibrary = friend.lodash === _;
