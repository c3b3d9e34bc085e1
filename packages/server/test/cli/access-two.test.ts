import { describe, expect, test } from "vitest";
import { type CommandLine, callOperation, commandLine } from "../support/command-line.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { CATALOGUE, SITA } from "../support/provider-files.ts";

/** How soon what staff change holds everywhere. */
const WITHIN_MS = 1000;

async function onSqlite(): Promise<CommandLine> {
  return commandLine();
}

async function onPostgres(): Promise<CommandLine> {
  const { url, made } = makeEmptyDatabase();
  await made;
  return commandLine({ env: { TOPUPD_DATABASE: url } });
}

/** By commands alone. @returns a production token, and its id. */
async function fill(line: CommandLine): Promise<{ token: string; id: string }> {
  await line.mustRun("partner", "add", "wallet");
  await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
  await line.mustRun("import", "customers", line.ndjson("customers.ndjson", SITA));
  return JSON.parse(
    await line.mustRun("token", "issue", "--partner", "wallet", "--environment", "production", "--json"),
  );
}

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
] as const)("two services on %s", (_, open) => {
  test("heed within a second what becomes of a partner, its addresses and its tokens, and say when these were used", async () => {
    const line = await open();
    const { token, id } = await fill(line);
    const services = [await line.start("serve"), await line.start("serve")];
    const codes = async (of: string) => {
      const answers = services.map(({ url }) =>
        callOperation(url, "get-customer-information", of, { code: SITA.cuid }),
      );
      return (await Promise.all(answers)).map(({ status, json }) => `${status} ${json.code}`);
    };
    /** The answers of both, a second later at the latest. */
    const expectSoon = async (answer: string, of = token) => {
      const until = Date.now() + WITHIN_MS;
      let seen = await codes(of);
      while (seen.some((code) => code !== answer) && Date.now() < until) seen = await codes(of);
      expect(seen).toEqual([answer, answer]);
    };

    await expectSoon("200 400aa010");
    await line.mustRun("partner", "suspend", "wallet");
    await expectSoon("403 400ac005");
    await line.mustRun("partner", "resume", "wallet");
    await expectSoon("200 400aa010");
    await line.mustRun("partner", "allow", "wallet", "--address", "203.0.113.0/24");
    await expectSoon("403 400ac007");
    await line.mustRun("partner", "allow", "wallet", "--address", "127.0.0.1");
    await expectSoon("200 400aa010");
    await line.mustRun("partner", "allow", "wallet", "--any");
    const rotated = JSON.parse(await line.mustRun("token", "rotate", id, "--overlap", "0s", "--json"));
    await expectSoon("401 400ac003");
    await expectSoon("200 400aa010", rotated.token);
    await line.mustRun("token", "revoke", rotated.id);
    await expectSoon("401 400ac004", rotated.token);

    // Whoever is asked to stop writes down what it has gathered.
    for (const { signal } of services) signal("SIGINT");
    expect(await Promise.all(services.map(({ ended }) => ended))).toEqual([0, 0]);
    const tokens = JSON.parse(await line.mustRun("token", "list", "--json"));
    const [old, renewed] = tokens.map(({ lastUsedAt }: { lastUsedAt: string }) => Date.parse(lastUsedAt));
    expect(old).toBeLessThan(renewed);
    expect(old).toBeGreaterThan(Date.parse(tokens[0].createdAt));
    expect((await line.run("check")).code).toBe(0);
  });
});
