import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar, DAY_MS } from "../../src/domain/calendar.ts";
import { explainLedger } from "../../src/domain/explanation.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { anyCalendar, anyLedger } from "./any-ledger.ts";
import { at, labelOf, MONTHLY, months, QUARTERLY, RUNS, topUp, UTC } from "./builders.ts";

const PLAN = MONTHLY.plan;

function stated(when: string, start: string, count = 1, onTop = NO_PERIOD): Grant {
  return { kind: "statement", at: at(when), bouquet: labelOf(MONTHLY), start: at(start), span: months(count), onTop };
}

function effectsOf(...grants: readonly Grant[]) {
  return explainLedger(PLAN, grants, UTC).map(({ effect }) => effect);
}

describe("the explanation of any ledger", () => {
  test("has a step for each grant, and ends where the fold ends", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        const steps = explainLedger(PLAN, ledger, calendar);
        expect(steps.map(({ grant }) => grant)).toEqual(ledger);
        for (const [index, { before, after }] of steps.entries()) {
          expect(before).toEqual(foldGrants(PLAN, ledger.slice(0, index), calendar));
          expect(after).toEqual(foldGrants(PLAN, ledger.slice(0, index + 1), calendar));
        }
      }),
      RUNS,
    );
  });

  test("says of every top-up truly whether the run went on", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        for (const { grant, before, after, effect } of explainLedger(PLAN, ledger, calendar)) {
          if (grant.kind !== "top_up") continue;
          const isOn = before !== undefined && before.end > grant.at;
          expect(effect).toBe(before === undefined ? "first_run" : isOn ? "continued" : "new_run");
          expect(after?.start).toBe(isOn ? before.start : grant.at);
        }
      }),
      RUNS,
    );
  });

  test("says that a month's last day was taken exactly where months were counted to another day", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        for (const { after, oddities } of explainLedger(PLAN, ledger, calendar)) {
          if (after === undefined) continue;
          const byMonths = calendar.add(after.start, months(after.span.months));
          const [day, wanted] = [byMonths, after.start].map((instant) => calendar.format(instant).slice(8, 10));
          const nextDay = calendar.format(byMonths + DAY_MS).slice(8, 10);
          expect(oddities.clamped).toBe(day === wanted ? undefined : byMonths);
          if (oddities.clamped !== undefined) expect(nextDay).toBe("01");
        }
      }),
      RUNS,
    );
  });
});

describe("a step", () => {
  test("is a first run, goes on with it, or begins a new one", () => {
    expect(effectsOf(topUp("2026-01-31"), topUp("2026-02-10", QUARTERLY), topUp("2026-09-01"))).toEqual([
      "first_run",
      "continued",
      "new_run",
    ]);
  });

  test("that comes at the very end begins a new run", () => {
    expect(effectsOf(topUp("2026-01-01"), topUp("2026-02-01"))).toEqual(["first_run", "new_run"]);
  });

  test("of an import states a subscription, states it anew, or does so while a top-up has a part in it", () => {
    const apart = stated("2026-01-20", "2026-01-01", 1, { months: 1, days: 0 });
    expect(effectsOf(stated("2026-01-02", "2026-01-01"), stated("2026-01-03", "2026-01-02"))).toEqual([
      "stated",
      "restated",
    ]);
    expect(effectsOf(stated("2026-01-02", "2026-01-01"), topUp("2026-01-10"), apart)).toEqual([
      "stated",
      "continued",
      "restated_topped_up",
    ]);
  });

  test("takes back what there was, or nothing", () => {
    const withdrawal: Grant = { kind: "withdrawal", at: at("2026-01-05") };
    expect(effectsOf(topUp("2026-01-01"), withdrawal, withdrawal, topUp("2026-01-06"))).toEqual([
      "first_run",
      "withdrawn",
      "nothing",
      "first_run",
    ]);
  });

  test("that is the first left of a pruned ledger is its opening, and no first run", () => {
    const [first, second] = explainLedger(PLAN, [topUp("2026-01-01"), topUp("2026-01-02")], UTC, true);
    expect([first?.effect, second?.effect]).toEqual(["opening", "continued"]);
  });

  test("tells where a month has no such day, and only there", () => {
    const steps = explainLedger(PLAN, [topUp("2026-01-31"), topUp("2026-02-01")], UTC);
    expect(steps.map(({ oddities }) => oddities.clamped)).toEqual([at("2026-02-28"), undefined]);
  });

  test("tells where clocks skip the time at which the run would end", () => {
    // In Berlin, 29 March 2026 has no half past two.
    const berlin = createCalendar("Europe/Berlin");
    const fourWeeks = { ...MONTHLY, period: { months: 0, days: 28 } };
    const ledger = [topUp(at("2026-03-01T02:30:00+01:00"), fourWeeks), topUp("2026-03-02", fourWeeks)];
    const [skipped, next] = explainLedger(PLAN, ledger, berlin);
    expect(next?.oddities.shifted).toBeUndefined();
    expect(berlin.format(skipped?.oddities.shifted ?? 0)).toBe("2026-03-29 03:30:00");
  });
});
