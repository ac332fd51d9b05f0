import { describe, expect, it } from "vitest";
import { z } from "zod";

describe("zod", () => {
  const user = z.object({ name: z.string().min(1), age: z.number().int().optional(), tags: z.array(z.string()).default([]) });
  it("parses", () => expect(user.parse({ name: "Ada", more: 1 })).toEqual({ name: "Ada", tags: [] }));
  it("refuses", () => expect(user.safeParse({ name: "" }).success).toBe(false));
  it("says where", () => expect(user.safeParse({ name: "A", age: 1.5 }).error.issues[0].path).toEqual(["age"]));
  it("throws its own error", () => expect(() => user.parse({})).toThrow(z.ZodError));
  it("transforms with a callback", () => expect(z.string().transform((text) => text.length).parse("four")).toBe(4));
  it("refines with a callback", () => expect(z.number().refine((n) => n % 2 === 0).safeParse(3).success).toBe(false));
  it("waits for a promise", async () => expect(await z.string().refine(async (text) => text !== "no").safeParseAsync("yes")).toMatchObject({ success: true, data: "yes" }));
  it("tells unions apart", () => expect(z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), a: z.number() }), z.object({ kind: z.literal("b") })]).parse({ kind: "a", a: 1 })).toEqual({ kind: "a", a: 1 }));
  it("coerces dates", () => expect(z.coerce.date().parse("2024-01-01")).toEqual(new Date("2024-01-01")));
  it("recurses", () => {
    const tree = z.object({ get children() { return z.array(tree); } });
    expect(tree.parse({ children: [{ children: [] }] })).toEqual({ children: [{ children: [] }] });
  });
});
