import { join } from "node:path";
import { expect, test } from "vitest";
import { measurePages } from "../../../../bench/pages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** It starts ten programs. */
const LONGEST_MS = 180_000;

test(
  "the bench of the console's pages gets an answer from each page",
  async () => {
    const figures = await measurePages(join(temporaryFolder(), "desk"), 100, 1);
    const pages = new Set(figures.map(({ measured }) => measured.slice(0, measured.indexOf(":"))));
    expect(pages.size).toBeGreaterThan(10);
  },
  LONGEST_MS,
);
