import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addSpans, createCalendar, isSameSecond, isTimeZone, mayTell } from "../../src/domain/calendar.ts";
import { at, days, months, RUNS, UTC } from "./builders.ts";

const kathmandu = createCalendar("Asia/Kathmandu");

const anySecond = fc.integer({ min: at("2000-01-01") / 1000, max: at("2100-01-01") / 1000 }).map((s) => s * 1000);

describe("adding calendar time", () => {
  test.each([
    ["2026-01-31", 1, "2026-02-28"],
    ["2026-01-31", 2, "2026-03-31"],
    ["2026-01-31", 3, "2026-04-30"],
    ["2028-01-31", 1, "2028-02-29"],
    ["2026-08-31", 6, "2027-02-28"],
    ["2028-02-29", 12, "2029-02-28"],
    ["2028-02-29", 48, "2032-02-29"],
    ["2026-12-31", 2, "2027-02-28"],
  ])("takes %s by %i months to %s", (start, count, end) => {
    expect(UTC.format(UTC.add(at(start), months(count)))).toBe(`${end} 00:00:00`);
  });

  test("adds months before days, and seconds last", () => {
    expect(UTC.format(UTC.add(at("2026-01-30"), { months: 1, days: 1, seconds: 0 }))).toBe("2026-03-01 00:00:00");
    expect(UTC.format(UTC.add(at("2026-01-30"), { months: 1, days: 1, seconds: 90 }))).toBe("2026-03-01 00:01:30");
  });

  test("keeps the milliseconds of the start", () => {
    expect(UTC.add(at("2026-01-15T10:00:00.123Z"), months(1))).toBe(at("2026-02-15T10:00:00.123Z"));
  });

  test("sums spans unit by unit", () => {
    const sum = addSpans({ months: 1, days: 20, seconds: 50 }, { months: 11, days: 20, seconds: 50 });
    expect(sum).toEqual({ months: 12, days: 40, seconds: 100 });
  });

  test("counts months on the provider's side of midnight", () => {
    // 00:15 on 31 January in Kathmandu is still 30 January in UTC.
    const start = at("2026-01-31T00:15:00+05:45");
    expect(kathmandu.add(start, months(1))).toBe(at("2026-02-28T00:15:00+05:45"));
    expect(kathmandu.add(start, months(2))).toBe(at("2026-03-31T00:15:00+05:45"));
    expect(UTC.add(start, months(1))).toBe(at("2026-02-28T18:30:00Z"));
  });

  test("takes the first minute of a month for the new month, though it is still the old one in UTC", () => {
    const start = at("2026-03-01T00:00:00+05:45");
    expect(kathmandu.add(start, months(1))).toBe(at("2026-04-01T00:00:00+05:45"));
    expect(kathmandu.add(start - 1000, months(1))).toBe(at("2026-03-28T23:59:59+05:45"));
  });
});

describe("a timestamp", () => {
  test("is written on the provider's wall clock", () => {
    expect(kathmandu.format(at("2026-11-20T18:20:30Z"))).toBe("2026-11-21 00:05:30");
    expect(UTC.format(at("2026-11-20T18:20:30Z"))).toBe("2026-11-20 18:20:30");
  });

  test("never shows a second that has not come yet", () => {
    expect(UTC.format(at("2026-12-31T23:59:59.999Z"))).toBe("2026-12-31 23:59:59");
    expect(UTC.format(at("1969-12-31T23:59:58.001Z"))).toBe("1969-12-31 23:59:58");
  });

  test("is read on the provider's wall clock", () => {
    expect(kathmandu.parse("2026-11-21 00:05:30")).toBe(at("2026-11-20T18:20:30Z"));
  });

  test.each(["UTC", "Asia/Kathmandu"])("is the same after it was written and read again in %s", (zone) => {
    const calendar = createCalendar(zone);
    fc.assert(
      fc.property(anySecond, (instant) => {
        expect(calendar.parse(calendar.format(instant))).toBe(instant);
      }),
      RUNS,
    );
  });

  test.each([
    "2026-02-29 00:00:00",
    "2026-02-30 00:00:00",
    "2026-04-31 00:00:00",
    "2026-00-10 00:00:00",
    "2026-13-10 00:00:00",
    "2026-01-00 00:00:00",
    "2026-01-01 24:00:00",
    "2026-01-01 23:60:00",
    "2026-01-01 23:59:60",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00Z",
    "2026-01-01 00:00:00+05:45",
    "2026-01-01 00:00:00.000",
    "2026-01-01 00:00",
    "2026-01-01",
    "2026-1-1 00:00:00",
    "26-01-01 00:00:00",
    "01-01-2026 00:00:00",
    "2026/01/01 00:00:00",
    " 2026-01-01 00:00:00",
    "2026-01-01 00:00:00\n",
    "-2026-01-01 00:00:00",
    "+002026-01-01 00:00:00",
    "now",
    "",
  ])("is refused when it is %j", (text) => {
    expect(UTC.parse(text)).toBeUndefined();
  });

  test("is of the same second whatever its milliseconds, before 1970 too", () => {
    expect(isSameSecond(at("2026-01-01T00:00:00.000Z"), at("2026-01-01T00:00:00.999Z"))).toBe(true);
    expect(isSameSecond(at("2026-01-01T00:00:00.999Z"), at("2026-01-01T00:00:01.000Z"))).toBe(false);
    expect(isSameSecond(at("1969-12-31T23:59:59.999Z"), at("1970-01-01T00:00:00.000Z"))).toBe(false);
  });

  test("may be told without its seconds, and not by others", () => {
    const meant = at("2026-01-01T10:20:30.400Z");
    expect(mayTell(at("2026-01-01T10:20:30Z"), meant)).toBe(true);
    expect(mayTell(at("2026-01-01T10:20:00Z"), meant)).toBe(true);
    for (const told of ["10:20:29", "10:20:31", "10:19:00", "10:21:00"])
      expect(mayTell(at(`2026-01-01T${told}Z`), meant)).toBe(false);
    expect(mayTell(meant, at("2026-01-01T10:20:00Z"))).toBe(false);
  });
});

describe("the span between two instants", () => {
  test("leads exactly from one to the other, in any zone", () => {
    const zones = ["UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"];
    const calendars = fc.constantFrom(...zones.map(createCalendar));
    fc.assert(
      fc.property(calendars, anySecond, anySecond, (calendar, one, other) => {
        const [start, end] = one < other ? [one, other] : [other, one];
        const span = calendar.between(start, end);
        expect(calendar.add(start, span)).toBe(end);
        expect(Math.min(span.months, span.days, span.seconds)).toBeGreaterThanOrEqual(0);
      }),
      RUNS,
    );
  });

  test("is counted in months first, then days, then seconds", () => {
    expect(UTC.between(at("2025-01-15"), at("2026-03-20T00:00:07Z"))).toEqual({ months: 14, days: 5, seconds: 7 });
    expect(UTC.between(at("2026-01-15"), at("2026-02-14"))).toEqual(days(30));
  });
});

describe("a time zone", () => {
  test.each(["UTC", "Asia/Kathmandu", "America/New_York", "Etc/GMT+5"])("may be %s", (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  test.each(["", "+05:45", "-05:00", "GMT+5", "Z", "Mars/Base", "Asia/", " UTC", "2026-01-01T00:00[UTC]"])(
    "may not be %j",
    (name) => {
      expect(isTimeZone(name)).toBe(false);
    },
  );
});
