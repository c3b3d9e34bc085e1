import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SRC = new URL("../src/", import.meta.url);

test("the package knows no word of topupd", () => {
  const files = readdirSync(SRC);
  expect(files.length).toBeGreaterThan(2);
  const words = /topupd|top-?up|customer|subscription|bouquet|\bplans?\b|checkout|partner|provider|\btargets?\b/i;
  expect(files.filter((name) => words.test(readFileSync(new URL(name, SRC), "utf8")))).toEqual([]);
});
