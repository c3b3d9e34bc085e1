import { describe, expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import { countPrunable, readRetentionAge, startOfRetention } from "../../src/domain/pruning.ts";
import { restate } from "../../src/domain/restatement.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { at, goodwill, labelOf, MONTHLY, months, reversal, topUp, UTC } from "./builders.ts";

const statement = (when: string, start: string, count = 1): Grant => {
  return {
    kind: "statement",
    at: at(when),
    bouquet: labelOf(MONTHLY),
    start: at(start),
    span: months(count),
    onTop: NO_PERIOD,
  };
};
const withdrawal = (when: string): Grant => ({ kind: "withdrawal", at: at(when) });
const of = (id: string, when: string) => topUp(when, MONTHLY, id);
const countBefore = (before: string, ...ledger: readonly Grant[]) =>
  countPrunable(MONTHLY.plan, ledger, at(before), UTC);

describe("of a plan's ledger", () => {
  test("the runs before the last that began before the day may go, and that run stays whole", () => {
    const ledger = [of("a", "2019-01-01"), of("b", "2019-03-01"), of("c", "2019-03-20"), of("d", "2025-01-01")];
    expect(countBefore("2020-01-01", ...ledger)).toBe(1);
    expect(countBefore("2025-01-02", ...ledger)).toBe(3);
    expect(countBefore("2025-01-01", ...ledger)).toBe(1);
  });

  test("a run that has lapsed long ago stays, so that the connection is known to have lapsed", () => {
    expect(countBefore("2026-01-01", of("a", "2015-01-01"))).toBe(0);
    expect(countBefore("2026-01-01", of("a", "2015-01-01"), of("b", "2015-01-20"))).toBe(0);
  });

  test("nothing goes that is younger than the day, though it be recorded before what is older", () => {
    expect(countBefore("2020-01-01", of("a", "2021-01-01"), of("b", "2019-01-01"), of("c", "2019-06-01"))).toBe(0);
  });

  test("a top-up that was taken back stays with its reversal", () => {
    const ledger = [of("a", "2018-01-01"), of("b", "2018-06-01"), reversal("2021-01-01", "a"), of("c", "2022-01-01")];
    expect(countBefore("2020-01-01", ...ledger)).toBe(0);
    expect(countBefore("2023-01-01", ...ledger, statement("2023-02-01", "2023-01-20"))).toBe(4);
  });

  test("what was taken back since the provider's last word stays, so that no copy from before brings it back", () => {
    const ledger = [of("a", "2018-01-01"), of("b", "2018-01-10"), reversal("2018-01-11", "b"), of("c", "2018-06-01")];
    const copy = { plan: MONTHLY.plan, bouquet: labelOf(MONTHLY), start: at("2018-01-01"), span: months(2) };
    const restated = (grants: readonly Grant[]) =>
      restate(grants, { ...copy, end: at("2018-03-01") }, at("2020-01-01"), UTC, "unsaid");
    expect(restated(ledger)).toBeUndefined();
    expect(restated(ledger.slice(3))).toBeDefined();
    expect(countBefore("2020-01-01", ...ledger)).toBe(0);
  });

  test("a run that was over before records, or before another, stays as long as it may still be found to last into that", () => {
    const ledger = [of("a", "2018-01-01"), statement("2018-02-05", "2018-02-05")];
    expect(countBefore("2018-03-03", ...ledger)).toBe(0);
    expect(countBefore("2018-03-05", ...ledger)).toBe(1);
    expect(countBefore("2018-03-05", ...ledger, statement("2018-03-01", "2018-01-20"))).toBe(0);
    expect(countBefore("2018-03-03", of("a", "2018-01-01"), of("b", "2018-02-05"))).toBe(0);
    expect(countBefore("2018-03-05", of("a", "2018-01-01"), of("b", "2018-02-05"))).toBe(1);
  });

  test("a run does not begin with a top-up that was taken back", () => {
    const ledger = [of("a", "2018-01-01"), of("b", "2018-06-01"), reversal("2018-06-02", "b"), of("c", "2018-06-03")];
    expect(countBefore("2020-01-01", ...ledger)).toBe(0);
    expect(countBefore("2020-01-01", ...ledger, withdrawal("2019-06-01"))).toBe(4);
  });

  test("the provider's last word stays, and all after it", () => {
    const ledger = [statement("2018-01-01", "2018-01-01"), of("a", "2018-06-01"), of("b", "2019-01-01")];
    expect(countBefore("2020-01-01", ...ledger)).toBe(0);
    expect(countBefore("2020-01-01", ...ledger, statement("2019-05-01", "2019-05-01"))).toBe(3);
  });

  test("a statement is no beginning while a top-up has a part in the run that it restates", () => {
    const ledger = [of("a", "2018-01-01"), statement("2018-01-10", "2018-01-01", 3)];
    expect(countBefore("2020-01-01", ...ledger)).toBe(0);
    expect(countBefore("2020-01-01", statement("2017-12-01", "2018-01-01"), ...ledger.slice(1))).toBe(1);
  });

  test("with a withdrawal, all before it may go", () => {
    expect(countBefore("2020-01-01", of("a", "2018-01-01"), goodwill("2018-01-05", 3), withdrawal("2018-02-01"))).toBe(
      2,
    );
  });

  test("goodwill that began a run hides what was before it, however young it is", () => {
    expect(countBefore("2020-01-01", of("a", "2018-01-01"), goodwill("2026-01-05", 3))).toBe(1);
  });
});

describe("an age", () => {
  const start = (text: string, now: string, zone = "Asia/Kathmandu") => {
    const calendar = createCalendar(zone);
    const age = readRetentionAge(text);
    const found = age && startOfRetention(age, at(now), calendar);
    return found === undefined ? undefined : calendar.format(found);
  };

  test.each([
    ["7y", "2026-11-20T12:00:00Z", "2019-11-20 00:00:00"],
    ["18m", "2026-11-20T12:00:00Z", "2025-05-20 00:00:00"],
    ["400d", "2026-11-20T12:00:00Z", "2025-10-16 00:00:00"],
    ["6m", "2026-08-31T12:00:00Z", "2026-02-28 00:00:00"],
    ["4y", "2028-02-29T12:00:00Z", "2024-02-29 00:00:00"],
    // In the provider's zone it is the next day already.
    ["31d", "2026-11-20T20:00:00Z", "2026-10-21 00:00:00"],
  ])("%s at %s is the start of a day of the provider's zone", (age, now, expected) => {
    expect(start(age, now)).toBe(expected);
  });

  test.each(["100y", "1200m", "36525d"])("is a hundred years at most: %s", (text) => {
    expect(start(text, "2026-11-20T12:00:00Z")).toBe("1926-11-20 00:00:00");
  });

  test("is at least 31 days", () => {
    expect(start("30d", "2026-11-20T12:00:00Z")).toBeUndefined();
    expect(start("1m", "2026-03-20T12:00:00Z")).toBeUndefined();
    expect(start("1m", "2026-04-20T12:00:00Z")).toBe("2026-03-20 00:00:00");
  });

  test.each(["", "7", "y", "0y", "-1y", "7Y", "1.5y", "7 y", "7w", "101y", "1201m", "36526d", "99999d"])(
    "is not %j",
    (text) => {
      expect(readRetentionAge(text)).toBeUndefined();
    },
  );
});
