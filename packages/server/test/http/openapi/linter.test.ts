import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openApiDocument } from "../../../src/faces/staff-api/openapi.ts";
import { ROUTES } from "../../../src/faces/staff-api/routes.ts";
import { documentOf } from "../../support/contract.ts";
import { temporaryFolder } from "../../support/service.ts";
import { tool } from "../../support/tools.ts";

const REDOCLY = tool("@redocly/cli/bin/cli.js");

/** Lints with the strictest preset. */
async function lint(document: unknown): Promise<readonly { readonly ruleId: string }[]> {
  const folder = temporaryFolder();
  const path = join(folder, "openapi.json");
  writeFileSync(path, JSON.stringify(document));
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [REDOCLY, "lint", path, "--extends", "recommended-strict", "--format", "json", "--max-problems", "1000"],
    { cwd: folder, env },
  ).catch((error: { readonly stdout: string }) => error);
  return JSON.parse(stdout.slice(stdout.indexOf("{"))).problems;
}

test.each(["v1.0.1", "v1.0.0"])(
  "the document of %s passes an independent linter without a warning",
  async (version) => {
    expect(await lint(documentOf(version))).toEqual([]);
  },
);

test("the document of the staff API passes it too", async () => {
  expect(await lint(openApiDocument(ROUTES, { version: "1.0.0", prefix: "/api/v1" }))).toEqual([]);
});

test("the linter finds errors", async () => {
  const { security, ...unsecured } = documentOf("v1.0.1");
  expect(security).toBeDefined();
  expect((await lint(unsecured)).map(({ ruleId }) => ruleId)).toContain("security-defined");
});
