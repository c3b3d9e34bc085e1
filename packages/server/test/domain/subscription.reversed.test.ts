import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldGrants, foldSteps } from "../../src/domain/fold.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { anyCalendar, anyTopUp, ledgerOf } from "./any-ledger.ts";
import { at, fold, goodwill, labelOf, MONTHLY, months, QUARTERLY, RUNS, reversal, topUp, UTC } from "./builders.ts";

const PLAN = MONTHLY.plan;

/** A ledger in which each top-up has a checkoutId of its own. */
const anyTopUps = ledgerOf(anyTopUp).map((ledger) =>
  ledger.map((grant, index) => (grant.kind === "top_up" ? { ...grant, checkoutId: String(index) } : grant)),
);

function statement(when: string, start: string, count: number, onTop = NO_PERIOD): Grant {
  return { kind: "statement", at: at(when), bouquet: labelOf(MONTHLY), start: at(start), span: months(count), onTop };
}

describe("a reversal", () => {
  test("of the only top-up leaves no subscription", () => {
    expect(foldGrants(PLAN, [topUp("2026-01-31", MONTHLY, "a"), reversal("2026-02-01", "a")], UTC)).toBeUndefined();
  });

  test("takes back exactly one grant, and counts the others from where they began", () => {
    const [first, second] = [topUp("2026-01-31", MONTHLY, "a"), topUp("2026-02-03", QUARTERLY, "b")];
    expect(fold([first, second, reversal("2026-02-04", "b")])).toEqual(fold([first]));
    expect(fold([first, second, reversal("2026-02-04", "a")])).toEqual(fold([second]));
    expect(fold([second])).toMatchObject({ start: at("2026-02-03"), end: at("2026-05-03") });
  });

  test("leaves the label of the top-up before it", () => {
    const ledger = [
      topUp("2026-01-31", MONTHLY, "a"),
      topUp("2026-02-03", QUARTERLY, "b"),
      reversal("2026-02-04", "b"),
    ];
    expect(fold(ledger).bouquet).toEqual(labelOf(MONTHLY));
  });

  test("is followed by top-ups as any other past is", () => {
    const ledger = [topUp("2026-01-01", MONTHLY, "a"), reversal("2026-01-05", "a"), topUp("2026-01-10", MONTHLY, "b")];
    expect(fold(ledger)).toEqual(fold([topUp("2026-01-10", MONTHLY, "b")]));
  });

  test("leaves goodwill as it is", () => {
    const ledger = [topUp("2026-01-01", MONTHLY, "a"), goodwill("2026-01-05", 3), reversal("2026-01-06", "a")];
    expect(fold(ledger)).toMatchObject({ start: at("2026-01-05"), end: at("2026-01-08") });
  });

  test("takes what a later statement had laid on top with it", () => {
    const onTop = { months: 4, days: 0 };
    const ledger = [
      statement("2025-12-01", "2026-01-01", 1),
      topUp("2026-01-05", MONTHLY, "a"),
      topUp("2026-01-06", QUARTERLY, "b"),
      statement("2026-01-20", "2026-01-01", 2, onTop),
    ];
    expect(fold(ledger)).toMatchObject({ end: at("2026-07-01"), onTop });
    const reversed = fold([...ledger, reversal("2026-01-21", "b")]);
    expect(reversed).toMatchObject({ end: at("2026-04-01"), onTop: { months: 1, days: 0 } });
    const both = fold([...ledger, reversal("2026-01-21", "b"), reversal("2026-01-22", "a")]);
    expect(both).toMatchObject({ end: at("2026-03-01"), onTop: NO_PERIOD, grantedEnd: undefined });
  });

  test("takes nothing from a statement that came after it", () => {
    const onTop = { months: 1, days: 0 };
    const ledger = [
      statement("2025-12-01", "2026-01-01", 1),
      topUp("2026-01-05", MONTHLY, "a"),
      topUp("2026-01-06", QUARTERLY, "b"),
      reversal("2026-01-07", "b"),
      statement("2026-01-20", "2026-01-01", 2, onTop),
    ];
    expect(fold(ledger)).toMatchObject({ end: at("2026-04-01"), onTop });
    expect(fold([...ledger, reversal("2026-01-21", "a")])).toMatchObject({
      end: at("2026-03-01"),
      onTop: NO_PERIOD,
    });
  });

  test("leaves a statement that holds the top-up by the provider's own word", () => {
    const ledger = [topUp("2026-01-05", MONTHLY, "a"), statement("2026-01-20", "2026-01-05", 1)];
    expect(fold([...ledger, reversal("2026-01-21", "a")])).toMatchObject({ end: at("2026-02-05") });
  });
});

describe("any ledger of top-ups with reversals", () => {
  const anyReversed = anyTopUps.chain((ledger) =>
    fc.tuple(fc.constant(ledger), fc.subarray(ledger.map((_, index) => String(index)))),
  );

  test("folds to what it were without the top-ups that were taken back, whenever that was", () => {
    fc.assert(
      fc.property(anyReversed, anyCalendar, fc.nat(), ([ledger, checkoutIds], calendar, seed) => {
        const kept = ledger.filter((grant) => grant.kind !== "top_up" || !checkoutIds.includes(grant.checkoutId));
        const last = ledger.length - 1;
        const placeOf = (checkoutId: string) => Math.min(last, Number(checkoutId) + (seed % ledger.length));
        const mixed = ledger.flatMap((grant, index): Grant[] => [
          grant,
          ...checkoutIds.filter((each) => placeOf(each) === index).map((each) => reversal(grant.at, each)),
        ]);
        expect(foldGrants(PLAN, mixed, calendar)).toEqual(foldGrants(PLAN, kept, calendar));
      }),
      RUNS,
    );
  });

  test("has a step for each entry, each beginning where the one before it ended", () => {
    fc.assert(
      fc.property(anyReversed, anyCalendar, ([ledger, checkoutIds], calendar) => {
        const end = (ledger.at(-1) as Grant).at;
        const reversals = checkoutIds.map((checkoutId) => ({ kind: "reversal", at: end, checkoutId }) as const);
        const steps = foldSteps(PLAN, [...ledger, ...reversals], calendar);
        expect(steps).toHaveLength(ledger.length + reversals.length);
        expect(steps.filter(({ counts }) => !counts)).toHaveLength(2 * reversals.length);
        for (const [index, { before, after, counts }] of steps.entries()) {
          expect(before).toEqual(steps[index - 1]?.after);
          if (!counts) expect(after).toEqual(before);
        }
      }),
      RUNS,
    );
  });
});
