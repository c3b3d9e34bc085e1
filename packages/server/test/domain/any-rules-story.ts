import fc from "fast-check";
import type { Place } from "./rules-places.ts";
import { type RulesStep, SOLD, type Sold } from "./rules-story.ts";

/* Stories as fast-check makes them up. */

const NOON = 43_200;
const LAST_SECOND = 86_399;

const anyWait = fc.nat({ max: 45 });
const step = <T extends object>(kind: fc.Arbitrary<RulesStep["kind"]>, more: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record({ kind, wait: anyWait, ...more }) as unknown as fc.Arbitrary<RulesStep>;

function anyRulesStep(sold: readonly Sold[]): fc.Arbitrary<RulesStep> {
  const anySold = fc.constantFrom(...sold);
  const anyDays = fc.constantFrom(...sold.filter(({ days }) => days > 0));
  const ahead = fc.oneof(fc.integer({ min: -10, max: 60 }), fc.constant("next" as const));
  return fc.oneof(
    step(fc.constant("top_up"), { sold: anySold }),
    step(fc.constantFrom("goodwill", "take_back"), { sold: anyDays }),
    step(fc.constant("reversal"), { which: fc.nat({ max: 3 }) }),
    step(fc.constant("sale"), { ahead, sold: anySold }),
    step(fc.constant("sale"), { ahead, sold: anySold }),
    step(fc.constantFrom("again", "held"), {}),
    step(fc.constant("move"), {}),
    step(fc.constantFrom("longer", "earlier"), { days: fc.integer({ min: 1, max: 30 }) }),
  );
}

/** Of months, no story is told where the rules differ by a day: what is left of one is then another number of days. */
export function anyRulesStory({ zone }: Place) {
  const sold = zone === "Pacific/Apia" ? SOLD.filter(({ months }) => months === 0) : SOLD;
  return fc.record({
    second: fc.constantFrom(0, 0, NOON, LAST_SECOND),
    steps: fc.array(anyRulesStep(sold), { minLength: 1, maxLength: 9 }),
  });
}
