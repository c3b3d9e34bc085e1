import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { playStory, readStory } from "../domain/ledger-story.ts";

const PAGE = readFileSync(new URL("../../../../docs/ledger.md", import.meta.url), "utf8");
const HEADER = "| Day | What happens | Runs to |\n|---|---|---|\n";

/** Rows of each table that tells a story, without the bars at both ends. */
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

  test("has examples of all entries and of rows that are held back", () => {
    expect(PAGE.split("\n").filter((line) => line.startsWith("| Day ")).length).toBe(stories.length);
    const told = stories.flat(2).join("\n");
    const rules = ["top-up of", "of goodwill", "reversal of the", "file as of", "held back", "goodwill unclear"];
    expect(rules.filter((rule) => !told.includes(rule))).toEqual([]);
  });
});
