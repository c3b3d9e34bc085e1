import fc from "fast-check";
import { zoneRulesOf } from "../src/domain/zone-rules.ts";
import { UTC } from "../test/domain/builders.ts";
import { calendarOf } from "../test/domain/rules-places.ts";
import { AFTER, BEFORE } from "../test/domain/two-rules.ts";
import { type Habits, LENGTHS, type TimeStep, TimeStory } from "./paid-time-story.ts";

/*
 * Whatever is sold, topped up, given, taken back, moved and imported in between, a customer is served for just the time
 * that was paid for or given: each stretch begins where the former ends, or at once where that is over. That one
 * sentence is the model. It knows nothing of ledgers, of words and of what lies on top of them, nor of the rules of zones:
 * each story is told in UTC, and where these change in between.
 */

export interface PaidTimeOptions {
  readonly seed: number;
  /** How many random stories are told of each kind of provider, and a third as many where rules change. */
  readonly rounds: number;
}

const ALL = ["sale", "top_up", "goodwill", "take_back", "reversal", "correction", "move"] as const;
const WITHOUT_MOVE = ["sale", "top_up", "goodwill", "take_back", "reversal", "correction"] as const;

const WITHOUT_GOODWILL = ["sale", "top_up", "reversal", "correction", "move"] as const;
/** Records that are corrected while goodwill lies on top: where there is no top-up, all on top is goodwill. */
const GOODWILL_ALONE = ["sale", "goodwill", "take_back", "correction", "correction", "move"] as const;

const HABITS: readonly Habits[] = (["at once", "nightly"] as const).flatMap((imported): Habits[] => [
  { topUps: "apart", books: false, record: "run", imported, kinds: ALL },
  { topUps: "apart", books: false, record: "sale", imported, kinds: ALL },
  { topUps: "included", books: true, record: "run", imported, kinds: WITHOUT_GOODWILL },
  { topUps: "included", books: true, record: "run", imported, kinds: ALL, favours: "by goodwill" },
  { topUps: "included", books: true, record: "sale", imported, kinds: WITHOUT_MOVE, favours: "by anything" },
  { topUps: "unsaid", books: false, record: "run", imported, kinds: WITHOUT_MOVE, favours: "by anything" },
  { topUps: "unsaid", books: false, record: "sale", imported, kinds: WITHOUT_MOVE, favours: "by anything" },
  { topUps: "unsaid", books: true, record: "run", imported, kinds: WITHOUT_MOVE, favours: "by anything" },
  { topUps: "apart", books: false, record: "run", imported, kinds: GOODWILL_ALONE },
  { topUps: "included", books: true, record: "run", imported, kinds: GOODWILL_ALONE, favours: "by goodwill" },
  { topUps: "unsaid", books: false, record: "run", imported, kinds: GOODWILL_ALONE, favours: "by anything" },
]);

/** Winter time is given up, kept after all, and given up again: with hours more or less, the days are the same. */
const CHANGING = calendarOf({
  ...{ zone: AFTER, from: "2026-01-01" },
  rules: [
    ["1970-01-01", zoneRulesOf(BEFORE)],
    ["2026-02-10T12:34:56Z", zoneRulesOf(AFTER)],
    ["2026-05-11T12:34:56Z", zoneRulesOf(BEFORE)],
    ["2026-06-21T12:34:56Z", zoneRulesOf(AFTER)],
  ],
});
const TOLD = [UTC, CHANGING].flatMap((calendar) => HABITS.map((habits) => [habits, calendar] as const));

/** All in steps of two days: so the single day that still leaves no gap between two records decides nothing. */
const anyWait = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 40 }).map((steps) => 2 * steps),
);
const anyDays = fc.constantFrom(...LENGTHS);

const anyCorrection: fc.Arbitrary<TimeStep> = fc.record({
  kind: fc.constant("correction" as const),
  wait: anyWait,
  mistake: fc.constantFrom("start" as const, "end" as const, "both" as const),
  days: fc.integer({ min: 1, max: 15 }).map((steps) => 2 * steps),
});

function anySteps(kinds: Habits["kinds"]): fc.Arbitrary<TimeStep[]> {
  const anyStep = fc.constantFrom(...kinds).chain((kind): fc.Arbitrary<TimeStep> => {
    if (kind === "move") return fc.record({ kind: fc.constant(kind), wait: anyWait });
    if (kind === "reversal") return fc.record({ kind: fc.constant(kind), wait: anyWait, which: fc.nat({ max: 5 }) });
    if (kind === "correction") return anyCorrection;
    return fc.record({ kind: fc.constant(kind), wait: anyWait, days: anyDays });
  });
  return fc.array(anyStep, { minLength: 1, maxLength: 9 });
}

/** @throws Error with the shortest story that was found in which the customer is served for another time. */
export function paidTime({ seed, rounds }: PaidTimeOptions): string {
  let [told, undecided] = [0, 0];
  for (const [habits, calendar] of TOLD) {
    const property = fc.property(anySteps(habits.kinds), (steps) => {
      const story = new TimeStory(habits, calendar);
      for (const step of steps) story.play(step);
      const { shown, owed, most, isAmbiguous } = story.finish();
      told += 1;
      if (isAmbiguous) undecided += 1;
      else if (shown < owed || shown > most)
        throw new Error(
          `served to day ${shown}, and owed to day ${owed} (${JSON.stringify({ ...habits, kinds: undefined, zone: calendar.timeZone })})`,
        );
    });
    const numRuns = calendar === UTC ? rounds : Math.ceil(rounds / 3);
    fc.assert(property, { seed, numRuns, endOnFailure: false });
  }
  return `${told} stories, ${undecided} of which no file could tell all`;
}
