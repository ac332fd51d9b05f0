import { z } from "zod";

// Prices are whole cents, so that sums stay exact.
const product = z.object({
  id: z.string().min(1),
  name: z.string().trim().min(1),
  category: z.enum(["tea", "coffee", "mugs"]),
  cents: z.number().int().positive(),
});

/** Checks a product list as it comes from the server. */
export function readProducts(input) {
  const result = z.array(product).safeParse(input);
  if (!result.success) {
    const { path, message } = result.error.issues[0];
    throw new Error(`product list: ${path.join(".")}: ${message}`);
  }
  return result.data;
}
