import { describe, expect, test } from "vitest";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { ndjson } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const expectAllGood = { skipInvalid: false, onProgress: () => {}, onRejected: () => expect.unreachable() };

/** The provider's records hold the connection no longer whose subscription has lapsed. */
function withdraw(line: HistoryLine): Promise<unknown> {
  const row = { ...SITA, connections: { tv: [{ stb: "00077", status: "inactive" }] } };
  return line.change((ports) => importCustomers(ports, "production", () => ndjson([row]), "unsaid", expectAllGood));
}

const SUMS = `ledger entries     3
top-ups            2
retired checkouts  0

YEAR  PARTNER                          ENVIRONMENT  STATUS   TOP-UPS  AMOUNT
2026  Blue Wallet of the Trade Unions  production   success  2        4350.5
`;

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd prune", (_, makeDatabase) => {
  test("says what would go, and then what has gone, and every list says that it is not all", async () => {
    const line = await historyLine(() => makeDatabase());
    await withdraw(line);
    const listed = (await line.run("transaction", "list")).stdout;
    expect(await line.run("prune", "--older-than", "6m", "--dry-run")).toEqual({
      code: 0,
      stdout: `would go           what may go from before 2026-07-10 00:00:00 (Asia/Kathmandu)\n${SUMS}`,
      stderr: "Nothing was changed. Without --dry-run, this goes for good.\n",
    });
    expect(await line.run("transaction", "list")).toEqual({ code: 0, stdout: listed, stderr: "" });

    expect(await line.run("prune", "--older-than", "6m", "--as", "maya", "--reason", "books")).toEqual({
      code: 0,
      stdout: `gone               what may go from before 2026-07-10 00:00:00 (Asia/Kathmandu)\n${SUMS}`,
      stderr: "Backups and exports that were made before still hold what has gone.\n",
    });
    const [all, young] = [
      await line.run("transaction", "list", "--json"),
      await line.run("transaction", "list", "--from", "2026-07-10", "--json"),
    ];
    expect(all.stdout).toBe(young.stdout);
    expect(all.stdout.split("\n")).toHaveLength(2);
    expect(young.stderr).toBe("");
    expect(all.stderr).toBe(
      "History from before 2026-07-10 was let go (topupd prune): what is shown of it is not all there was.\n",
    );
    const days = ["--from", "2026-02-01", "--to", "2026-02-28"];
    expect((await line.run("report", "settlement", ...days)).stderr).toBe(all.stderr);
    line.write("theirs.csv", "orderId,amt\n");
    const columns = [
      "--partner",
      "Blue Wallet of the Trade Unions",
      "--key-column",
      "orderId",
      "--amount-column",
      "amt",
    ];
    expect((await line.run("reconcile", "theirs.csv", ...columns, ...days)).stderr).toContain(all.stderr);
    const why = (await line.run("why", "internet", "sita", "--cuid", SITA.cuid)).stdout.replaceAll(/\s+/g, " ");
    expect(why).toContain("The subscription was taken back. What there was before it was let go.");
    expect((await line.run("audit", "list", "--author", "maya")).stdout).toContain("history.prune  horizon");
    expect(await line.run("check")).toMatchObject({ code: 0, stderr: "" });
  });

  test("refuses to go by a clock that what is on record speaks against, until somebody says that it is right", async () => {
    const line = await historyLine(() => makeDatabase());
    await line.setTime("2028-01-10 12:00:00");
    const refused = {
      code: 1,
      stdout: "",
      stderr:
        "topupd: the clock of this machine says 2028-01-10 12:00:00, and the newest record is of 2027-01-10 12:00:00 (Asia/Kathmandu). The clock may be ahead. If it is right, and the service truly lay idle since, add --clock-is-right; otherwise set it right first. Nothing was changed: what is let go never comes back.\n",
    };
    expect(await line.run("prune", "--older-than", "7y", "--dry-run")).toEqual(refused);
    expect(await line.run("prune", "--older-than", "7y")).toEqual(refused);
    expect((await line.run("audit", "list")).stdout).not.toContain("history.prune");
    expect(await line.run("prune", "--older-than", "7y", "--clock-is-right")).toMatchObject({ code: 0 });
    expect((await line.run("audit", "list")).stdout).toContain("history.prune");
    await line.setTime("2027-01-10 12:00:00");
    expect((await line.run("prune", "--older-than", "7y")).stderr).toContain("The clock may be behind.");
  });

  test("with --json tells the same, and a second run finds nothing", async () => {
    const line = await historyLine(() => makeDatabase());
    await withdraw(line);
    const run = async () => JSON.parse((await line.run("prune", "--older-than", "6m", "--json")).stdout);
    const told = { before: "2026-07-09T18:15:00.000Z", dryRun: false, retiredCheckouts: 0 };
    const sum = { year: "2026", partner: "Blue Wallet of the Trade Unions", environment: "production" };
    expect(await run()).toEqual({
      ...{ ...told, ledgerEntries: 3 },
      topUps: [{ ...sum, status: "success", topUps: 2, amount: "4350.5" }],
    });
    expect(await run()).toEqual({ ...told, ledgerEntries: 0, topUps: [] });
  });
});

describe("topupd prune, called wrongly", () => {
  test.each([
    ["7", /--older-than must be an age such as 7y, 18m or 400d, but is "7"/],
    ["1w", /--older-than must be an age such as 7y, 18m or 400d/],
    ["30d", /--older-than must be at least 31 days, but is "30d"/],
  ])("--older-than %s", async (age, said) => {
    const line = await historyLine(() => makeSqliteDatabase());
    const refused = { code: 2, stdout: "", stderr: expect.stringMatching(said) };
    expect(await line.run("prune", "--older-than", age)).toMatchObject(refused);
  });
});
