import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { playStory, readStory } from "./domain/ledger-story.ts";

const PAGE = readFileSync(new URL("../../../docs/ledger.md", import.meta.url), "utf8");
const HEADER = "| Day | What happens | Runs to |\n|---|---|---|\n";

/** Each table of the page that tells a story: its rows, without the bars at both ends. */
const stories = PAGE.split(HEADER)
  .slice(1)
  .map((rest) => rest.split("\n\n")[0] ?? "")
  .map((table) => readStory(table.replace(/^\| | \|$/gm, "")));

describe("docs/ledger.md", () => {
  test.each(stories.map((story) => [story[0]?.join(": "), story] as const))(
    "tells truly what follows %s",
    (_, story) => {
      expect(playStory(story)).toEqual(story);
    },
  );

  test("has an example of each rule, and can be read in one sitting", () => {
    expect(stories.length).toBeGreaterThan(5);
    expect(PAGE.split("\n").filter((line) => line.startsWith("| Day ")).length).toBe(stories.length);
    for (const rule of ["top-up of", "of goodwill", "reversal of the", "file as of", "held back", "goes"])
      expect(stories.flat(2).join("\n")).toContain(rule);
    const words = PAGE.split(/[\s|]+/).filter((word) => /\w/.test(word)).length;
    expect(words).toBeLessThanOrEqual(1200);
  });
});
