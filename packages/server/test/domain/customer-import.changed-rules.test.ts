import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyRulesStory } from "./any-rules-story.ts";
import { RUNS } from "./builders.ts";
import { PLACES } from "./rules-places.ts";
import { RulesStory } from "./rules-story.ts";

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
    fc.assert(property, { ...RUNS, numRuns });
    expect(decided).toBeGreaterThan(numRuns / 4);
  });
});
