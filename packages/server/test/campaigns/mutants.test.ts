import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MUTANTS } from "../../campaign/mutants/table.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

test("each planted fault has its place in the source, once", () => {
  const lost = MUTANTS.filter(({ file, from, to }) => {
    return from === to || readFileSync(`${ROOT}${file}`, "utf8").split(from).length !== 2;
  });
  expect(lost.map(({ fault }) => fault)).toEqual([]);
});
