import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyRulesStory } from "./any-rules-story.ts";
import { RUNS } from "./builders.ts";
import { PLACES } from "./rules-places.ts";
import { type RulesStep, RulesStory, type Sold } from "./rules-story.ts";

const [WEEK, MONTH] = [7, 30].map((days) => ({ months: 0, days })) as [Sold, Sold];

/** Stories that once came to something else. */
const KNOWN_TO_FAIL: readonly { readonly second: number; readonly steps: RulesStep[] }[] = [
  {
    second: 0,
    steps: [
      { kind: "sale", wait: 1, ahead: 35, sold: WEEK },
      { kind: "sale", wait: 44, ahead: 9, sold: MONTH },
      { kind: "goodwill", wait: 30, sold: MONTH },
      { kind: "sale", wait: 13, ahead: -1, sold: WEEK },
    ],
  },
  {
    second: 0,
    steps: [
      { kind: "sale", wait: 77, ahead: 45, sold: MONTH },
      { kind: "top_up", wait: 41, sold: MONTH },
      { kind: "held", wait: 37 },
    ],
  },
  {
    second: 0,
    steps: [
      { kind: "sale", wait: 24, ahead: "next", sold: MONTH },
      { kind: "move", wait: 92 },
      { kind: "longer", wait: 11, days: 30 },
    ],
  },
  {
    second: 86_399,
    steps: [
      { kind: "sale", wait: 32, ahead: 55, sold: MONTH },
      { kind: "goodwill", wait: 23, sold: MONTH },
      { kind: "sale", wait: 32, ahead: "next", sold: MONTH },
      { kind: "sale", wait: 7, ahead: "next", sold: MONTH },
      { kind: "earlier", wait: 40, days: 22 },
    ],
  },
];

const MODES = ["apart", "included", "unsaid"] as const;

describe.each(Object.entries(PLACES))("where %s", (_, place) => {
  test.each(MODES)("a customer is served as where no rules had changed, but for hours, with top-ups %s", (mode) => {
    let decided = 0;
    const property = fc.property(anyRulesStory(place), ({ second, steps }) => {
      const story = new RulesStory(place, mode, second);
      const isWhole = steps.every((step) => {
        story.play(step);
        return !story.isClose;
      });
      if (isWhole) decided += 1;
    });
    const numRuns = 60;
    fc.assert(property, { ...RUNS, numRuns, examples: KNOWN_TO_FAIL.map((story) => [story]) });
    expect(decided).toBeGreaterThan(numRuns / 4);
  });
});
