import { describe, expect, it } from "vitest";
import { NIL, parse, stringify, v4, v5, v7, validate, version } from "uuid";

describe("uuid", () => {
  it("makes random ones", () => expect(v4()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/));
  it("makes different ones", () => expect(v4()).not.toBe(v4()));
  it("takes random bytes", () => expect(v4({ random: new Uint8Array(16).fill(1) })).toBe("01010101-0101-4101-8101-010101010101"));
  it("names", () => expect(v5("hello", NIL)).toBe(v5("hello", NIL)));
  it("orders by time", () => expect(version(v7())).toBe(7));
  it("validates", () => expect([validate(NIL), validate("no")]).toEqual([true, false]));
  it("parses into bytes", () => expect(parse(NIL)).toEqual(new Uint8Array(16)));
  it("goes there and back", () => expect(stringify(parse("6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b"))).toBe("6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b"));
});
