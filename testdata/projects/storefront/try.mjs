// Uses the built proxies from Node: what `make demo` shows, and fails on.
import assert from "node:assert/strict";
import * as filters from "./.sandbox/proxys/qs.filters-proxy.js";
import * as stats from "./.sandbox/proxys/lodash.stats-proxy.js";
import dayjs, { disposeLibrary as disposeDayjs } from "./.sandbox/proxys/dayjs-proxy.js";
import { addBusinessDays, disposeLibrary as disposeDateFns } from "./.sandbox/proxys/date-fns-proxy.js";
import _, { disposeLibrary as disposeLodash } from "./.sandbox/proxys/lodash-proxy.js";
import qs, { disposeLibrary as disposeQs } from "./.sandbox/proxys/qs-proxy.js";
import { disposeLibrary as disposeUuid, v4 } from "./.sandbox/proxys/uuid-proxy.js";
import { disposeLibrary as disposeZod, z } from "./.sandbox/proxys/zod-proxy.js";

const sales = [
  { product: "Assam", category: "tea", quantity: 2, cents: 850 },
  { product: "Enamel mug", category: "mugs", quantity: 1, cents: 990 },
];

const shown = {
  "lodash groups": _.mapValues(_.groupBy(sales, (sale) => sale.category), (rows) => rows.length),
  "lodash workload": stats.topSellers(sales, 1),
  "qs writes": qs.stringify({ category: ["tea", "mugs"] }, { arrayFormat: "comma", encode: false }),
  "qs workload": filters.parseFilters("?category=tea&price[min]=5").minCents,
  "dayjs adds": dayjs("2024-02-28").add(2, "day").format("YYYY-MM-DD"),
  "date-fns adds": addBusinessDays(new Date(Date.UTC(2024, 4, 3, 12)), 1).toISOString().slice(0, 10),
  "zod refuses": z.object({ cents: z.number().positive() }).safeParse({ cents: -1 }).success,
  "uuid makes": /^[0-9a-f-]{36}$/.test(v4()) ? "an id" : "nonsense",
};
for (const [what, value] of Object.entries(shown)) console.log(`${what.padEnd(16)} ${JSON.stringify(value)}`);

assert.deepStrictEqual(shown["lodash groups"], { tea: 1, mugs: 1 });
assert.deepStrictEqual(shown["lodash workload"], [{ product: "Assam", units: 2 }]);
assert.equal(shown["qs writes"], "category=tea,mugs");
assert.equal(shown["qs workload"], 500);
assert.equal(shown["dayjs adds"], "2024-03-01");
assert.equal(shown["date-fns adds"], "2024-05-06");
assert.equal(shown["zod refuses"], false);
assert.equal(shown["uuid makes"], "an id");

for (const dispose of [disposeLodash, disposeQs, disposeDayjs, disposeDateFns, disposeUuid, disposeZod]) dispose();
assert.throws(() => _.noop(), /disposed/);
