import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { needsOf } from "../support/needs.ts";

const needs = (...paths: readonly string[]) =>
  needsOf(paths.map((path) => fileURLToPath(new URL(`../../../${path}.test.ts`, import.meta.url))));

const NOTHING = { tools: false, built: [], postgres: false };

test("one file of tests waits for nothing that it does not use", () => {
  expect(needs("server/test/domain/checkout")).toEqual(NOTHING);
  expect(needs("server/test/office/alerts")).toEqual(NOTHING);
  expect(needs("server/test/cli/serve")).toEqual({ ...NOTHING, built: ["topupd"] });
  expect(needs("server/test/console/console")).toEqual({ ...NOTHING, tools: true, built: ["topupd"] });
  expect(needs("server/test/store/postgres")).toMatchObject({ tools: true, postgres: true });
  expect(needs("server/test/domain/checkout", "server/test/store/postgres")).toMatchObject({ postgres: true });
});
