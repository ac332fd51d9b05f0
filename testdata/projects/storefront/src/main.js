import { summarise, topSellers } from "sandbox-workload/lodash/stats";
import { parseFilters } from "sandbox-workload/qs/filters";
import { readProducts } from "./catalogue/products.js";
import { applyFilters, shelves } from "./catalogue/shelves.js";
import { catalogueLink } from "./links.js";
import { dueText, placeOrder } from "./orders.js";

const products = readProducts([
  { id: "t1", name: "Assam", category: "tea", cents: 850 },
  { id: "t2", name: "Sencha", category: "tea", cents: 1200 },
  { id: "c1", name: "Yirgacheffe", category: "coffee", cents: 1450 },
  { id: "m1", name: "Enamel mug", category: "mugs", cents: 990 },
]);

const filters = parseFilters(location.search);
const order = placeOrder([
  { product: products[0], quantity: 2 },
  { product: products[3], quantity: 1 },
]);
const sales = order.lines.map(({ name, category, quantity, cents }) => ({ product: name, category, quantity, cents }));

const line = (text) => {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
};

document.querySelector("#shop").replaceChildren(
  ...shelves(applyFilters(products, filters)).map(({ title, items }) => line(`${title}: ${items.map((p) => p.name).join(", ")}`)),
  line(`Order ${order.id} ${dueText(order)}`),
  line(`Best: ${topSellers(sales, 1).map((s) => s.product).join(", ")}`),
  line(`By category: ${JSON.stringify(summarise(sales))}`),
  line(`Share: ${catalogueLink(filters)}`),
);
