import { describe, expect, it } from "vitest";
import { addMonths, differenceInDays, eachDayOfInterval, format, formatDistance, isValid, parse, startOfWeek } from "date-fns";

describe("date-fns", () => {
  const day = new Date(2024, 0, 31);
  it("formats", () => expect(format(day, "EEEE, do MMMM yyyy")).toBe("Wednesday, 31st January 2024"));
  it("adds months", () => expect(addMonths(day, 1)).toEqual(new Date(2024, 1, 29)));
  it("counts days", () => expect(differenceInDays(new Date(2024, 2, 1), day)).toBe(30));
  it("lists days", () => expect(eachDayOfInterval({ start: day, end: new Date(2024, 1, 2) })).toHaveLength(3));
  it("says distances", () => expect(formatDistance(day, new Date(2024, 1, 2), { addSuffix: true })).toBe("2 days ago"));
  it("parses", () => expect(parse("02/11/2014", "MM/dd/yyyy", new Date())).toEqual(new Date(2014, 1, 11)));
  it("says what is none", () => expect(isValid(new Date(Number.NaN))).toBe(false));
  it("gives dates of this realm", () => expect(startOfWeek(day)).toBeInstanceOf(Date));
});
