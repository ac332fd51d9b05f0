import { describe, expect, it } from "vitest";
import dayjs from "dayjs";

describe("dayjs", () => {
  const day = dayjs("2024-02-29T12:30:00Z");
  it("formats", () => expect(day.format("YYYY-MM-DD HH:mm:ss")).toBe("2024-02-29 12:30:00"));
  it("adds months to the end of one", () => expect(day.add(1, "year").format("YYYY-MM-DD")).toBe("2025-02-28"));
  it("subtracts", () => expect(day.subtract(1, "month").date()).toBe(29));
  it("counts differences", () => expect(dayjs("2024-03-31").diff("2024-01-01", "day")).toBe(90));
  it("begins and ends", () => expect([day.startOf("month").date(), day.endOf("month").date()]).toEqual([1, 29]));
  it("takes a date", () => expect(dayjs(new Date(0)).valueOf()).toBe(0));
  it("gives a date", () => expect(day.toDate()).toEqual(new Date("2024-02-29T12:30:00Z")));
  it("compares", () => expect(day.isBefore(dayjs("2024-03-01"))).toBe(true));
  it("knows its own", () => expect([dayjs.isDayjs(day), dayjs.isDayjs(new Date())]).toEqual([true, false]));
  it("says what is none", () => expect(dayjs("never").isValid()).toBe(false));
});
