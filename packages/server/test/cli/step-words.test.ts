import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { titleOf, wordsOf } from "../../src/cli/words/step-words.ts";
import { wrap } from "../../src/cli/words/text.ts";
import type { Calendar } from "../../src/domain/calendar.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import { explainLedger } from "../../src/domain/explanation.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { anyCalendar, anyLedger } from "../domain/any-ledger.ts";
import { at, goodwill, labelOf, MONTHLY, months, QUARTERLY, RUNS, takeBack, topUp, UTC } from "../domain/builders.ts";
import { changedAt } from "../domain/two-rules.ts";

const PLAN = MONTHLY.plan;
const WITHDRAWAL: Grant = { kind: "withdrawal", at: at("2026-03-05") };

/** What is said of the last grant of a ledger, or of that at a place. */
function said(grants: readonly Grant[], calendar: Calendar = UTC, place = -1): string | undefined {
  const steps = explainLedger(PLAN, grants, calendar).map((step) => ({ ...step, transaction: undefined }));
  return steps.map((step) => wordsOf(step, { calendar })).at(place);
}

function stated(when: string, start: string, span = months(1), onTop = NO_PERIOD): Grant {
  return { kind: "statement", at: at(when), bouquet: labelOf(MONTHLY), start: at(start), span, onTop };
}

describe("a grant in words", () => {
  test("that was the first of its plan", () => {
    expect(said([topUp("2026-01-10")])).toBe(
      "Fiber 100 (MONTHLY) (NET-1M): there was no subscription, so a run of 1 month began. Now 1 month from 2026-01-10 00:00:00, which is 2026-02-10 00:00:00.",
    );
  });

  test("that went on with a run, from a day that some months have not", () => {
    expect(said([topUp("2026-01-31"), topUp("2026-02-10", QUARTERLY), topUp("2026-02-11")])).toBe(
      "Fiber 100 (MONTHLY) (NET-1M): the run from 2026-01-31 00:00:00 was still on, and grew by 1 month. Now 5 months from 2026-01-31 00:00:00, which is 2026-06-30 00:00:00 (2026-06 has no day 31, so its last day counts).",
    );
  });

  test("that came when the run had ended", () => {
    expect(said([topUp("2026-01-10"), topUp("2026-04-01")])).toBe(
      "Fiber 100 (MONTHLY) (NET-1M): the run before it had ended 2026-02-10 00:00:00, so a new run of 1 month began. Now 1 month from 2026-04-01 00:00:00, which is 2026-05-01 00:00:00.",
    );
  });

  test("that states what the provider's records say, with a span to the second", () => {
    expect(said([stated("2026-01-15", "2026-01-10", { months: 1, days: 15, seconds: 30 })])).toBe(
      "By the provider's records: Fiber 100 (MONTHLY) (NET-1M) from 2026-01-10 00:00:00 to 2026-02-25 00:00:30. Now 1 month, 15 days and 30 seconds from 2026-01-10 00:00:00, which is 2026-02-25 00:00:30.",
    );
  });

  test("that states it anew, with top-ups on top that the records do not hold", () => {
    const apart = stated("2026-01-20", "2026-01-10", months(1), { months: 1, days: 0 });
    expect(said([stated("2026-01-15", "2026-01-10"), topUp("2026-01-16"), apart])).toBe(
      "By the provider's records: Fiber 100 (MONTHLY) (NET-1M) from 2026-01-10 00:00:00 to 2026-02-10 00:00:00, in place of what there was before; 1 month granted here, which they do not hold, came on top. Now 2 months from 2026-01-10 00:00:00, which is 2026-03-10 00:00:00.",
    );
  });

  test("that was counted by rules which its zone has no more", () => {
    const calendar = changedAt(at("2027-01-01"));
    const stays = stated("2026-11-02", "2026-11-01T03:00:00Z", months(1));
    const grants = [stays, ...Array.from({ length: 6 }, () => topUp("2026-11-03"))];
    expect(said(grants, calendar)).toMatch(
      /Now 7 months from 2026-11-01 00:00:00, which is 2027-06-01 01:00:00 \(2027-06-01 00:00:00 by the rules that the zone had then\)\.$/,
    );
    expect(said(grants, calendar, 0)).toMatch(
      / to 2026-12-01 00:00:00\. Now 1 month .* which is 2026-12-01 00:00:00\.$/,
    );
    const long = stated("2026-11-02", "2026-11-01T03:00:00Z", months(7));
    expect(said([long], calendar)).toContain("from 2026-11-01 00:00:00 to 2027-06-01 01:00:00.");
  });

  test("that states it anew, with goodwill on top", () => {
    const given = stated("2026-01-20", "2026-01-10", months(1), { months: 0, days: 3 });
    expect(said([stated("2026-01-15", "2026-01-10"), goodwill("2026-01-16", 3), given])).toContain(
      "; 3 days granted here, which they do not hold, came on top. Now 1 month and 3 days from",
    );
  });

  test("that takes the subscription back, or finds none", () => {
    expect(said([topUp("2026-03-01"), WITHDRAWAL])).toBe(
      "The subscription was taken back: it would have ended 2026-04-01 00:00:00.",
    );
    expect(said([WITHDRAWAL])).toBe("The subscription was taken back, but there was none.");
  });

  test("that was given for nothing, and taken back in part or wholly", () => {
    const given = [topUp("2026-01-10"), goodwill("2026-01-11", 10)];
    const back = [...given, takeBack("2026-01-12", 7)];
    expect(said(back)).toBe(
      "Of the days given for nothing, the last 7 days are not counted any more. Now 1 month and 3 days from 2026-01-10 00:00:00, which is 2026-02-13 00:00:00.",
    );
    expect(said(back, UTC, 1)).toBe(
      "Fiber 100 (MONTHLY) (NET-1M): the run from 2026-01-10 00:00:00 was still on, and grew by 3 days. 10 days had been given, of which 7 were taken back later. Now 1 month and 3 days from 2026-01-10 00:00:00, which is 2026-02-13 00:00:00.",
    );
    expect(said([...back, takeBack("2026-01-13", 3)], UTC, 1)).toBe(
      "Fiber 100 (MONTHLY) (NET-1M): it was taken back later, so it is not counted. Now 1 month from 2026-01-10 00:00:00, which is 2026-02-10 00:00:00.",
    );
  });

  test("that ends at a time which clocks skip", () => {
    const fourWeeks = { ...MONTHLY, period: { months: 0, days: 28 } };
    expect(said([topUp(at("2026-03-01T02:30:00+01:00"), fourWeeks)], createCalendar("Europe/Berlin"))).toMatch(
      /Now 28 days from 2026-03-01 02:30:00, which is 2026-03-29 03:30:00 \(clocks are changed then, and skip 02:30:00\)\.$/,
    );
  });

  test("names the end of every subscription that it leaves, whatever the ledger, on lines of 80 columns", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        for (const step of explainLedger(PLAN, ledger, calendar)) {
          const words = wordsOf({ ...step, transaction: undefined }, { calendar });
          if (step.after !== undefined) expect(words).toContain(`, which is ${calendar.format(step.after.end)}`);
          expect(words).not.toMatch(/undefined|NaN/);
          const lines = wrap(words, "    ").split("\n");
          expect(lines.every((line) => line.length <= 80)).toBe(true);
          expect(
            lines
              .map((line) => line.trim())
              .filter((line) => line !== "")
              .join(" "),
          ).toBe(words);
        }
      }),
      RUNS,
    );
  });
});

test("the title of days that were taken back tells how many", () => {
  const step = explainLedger(PLAN, [goodwill("2026-01-10", 3), takeBack("2026-01-11", 1)], UTC)[1];
  if (step === undefined) throw new Error("there is no step");
  const showing = { calendar: UTC, currencyExponent: 2, partnerNames: new Map() };
  expect(titleOf({ ...step, transaction: undefined }, showing)).toBe("2026-01-11 00:00:00  1 goodwill day taken back");
});

test("the title of a top-up whose record is missing sends the operator to topupd check", () => {
  const [step] = explainLedger(PLAN, [topUp("2026-01-10")], UTC);
  if (step === undefined) throw new Error("there is no step");
  const showing = { calendar: UTC, currencyExponent: 2, partnerNames: new Map() };
  expect(titleOf({ ...step, transaction: undefined }, showing)).toBe(
    "2026-01-10 00:00:00  top-up that is not on record: see topupd check",
  );
});
