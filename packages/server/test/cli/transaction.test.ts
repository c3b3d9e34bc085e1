import { describe, expect, test } from "vitest";
import { readDays } from "../../src/cli/transaction-flags.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { ndjson } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const TXN_ID = "[0-9A-HJKMNP-TV-Z]{26}";

const IMPORT = { skipInvalid: false, onProgress: () => {}, onRejected: () => {} };

/** What a command prints, with each txnId by its letter, in the order in which they come. */
function withoutIds(text: string): string {
  const ids = [...new Set(text.match(new RegExp(TXN_ID, "g")) ?? [])];
  return ids.reduce((result, id, index) => result.replaceAll(id, `${"ABC"[index]}`.repeat(26)), text);
}

const rowsOf = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd transaction list", (_, makeDatabase) => {
  test("has two lines for each, newest first, in the provider's zone, within 80 columns", async () => {
    const line = await historyLine(() => makeDatabase());
    const { code, stdout, stderr } = await line.run("transaction", "list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(withoutIds(stdout)).toBe(
      [
        "TIME                 TRANSACTION                 CUID     REQID  AMOUNT",
        "2027-01-05 12:00:00  AAAAAAAAAAAAAAAAAAAAAAAAAA  2000001  00077  450",
        "  Family TV (MONTHLY) (TV-1M) by Blue Wallet of the Trade Unions",
        "2026-02-11 00:00:00  BBBBBBBBBBBBBBBBBBBBBBBBBB  2000001  sita   1130",
        "  Fiber 100 Mbps (MONTHLY) (NET-1M) by Blue Wallet of the Trade Unions",
        "2026-02-10 23:59:59  CCCCCCCCCCCCCCCCCCCCCCCCCC  2000001  sita   3220.5",
        "  Fiber 100 Mbps (QUARTERLY) (NET-3M) by Blue Wallet of the Trade Unions",
        "",
      ].join("\n"),
    );
  });

  test("finds by parts of a name, of each customer who has it, page by page", async () => {
    const line = await historyLine(() => makeDatabase());
    const all = (await line.run("transaction", "list")).stdout;
    expect((await line.run("transaction", "list", "--name", "RAI si")).stdout).toBe(all);
    const imported = (rows: readonly object[]) =>
      line.change((ports) => importCustomers(ports, "production", () => ndjson(rows), "unsaid", IMPORT));
    await imported([{ ...SITA, cuid: "7", mobile: "1", connections: {} }]);
    expect((await line.run("transaction", "list", "--name", "sita")).stdout).toBe(all);
    const page = await line.run("transaction", "list", "--name", "sita", "--limit", "2", "--json");
    const cursor = rowsOf(page.stdout)[1].txnId;
    expect(page.stderr).toBe(`There are more: add --cursor ${cursor}\n`);
    const next = await line.run("transaction", "list", "--name", "sita", "--cursor", cursor, "--json");
    expect(rowsOf(next.stdout)).toMatchObject([{ bouquetId: "NET-3M" }]);
    const failed = (said: string) => ({ code: 1, stdout: "", stderr: `topupd: ${said}\n` });
    expect(await line.run("transaction", "list", "--name", "ram")).toEqual(
      failed("no production customer has the name ram"),
    );
    const many = Array.from({ length: 19 }, (_, index) => ({ ...SITA, cuid: `9${index}`, connections: {} }));
    await imported(many);
    expect(await line.run("transaction", "list", "--name", "sita")).toEqual(
      failed("20 customers or more have the name sita: say more of it, or name one with --cuid"),
    );
  });

  test("with --json is an object a line, with both times and the amount as a decimal", async () => {
    const line = await historyLine(() => makeDatabase());
    const { stdout, stderr } = await line.run("transaction", "list", "--json", "--limit", "2");
    const rows = rowsOf(stdout);
    expect(rows).toEqual([expect.anything(), expect.anything()]);
    expect(rows[1]).toEqual({
      txnId: expect.stringMatching(TXN_ID),
      checkoutId: expect.stringMatching(/^[\w-]{64}$/),
      ...{ status: "success", partner: "Blue Wallet of the Trade Unions", environment: "production" },
      ...{ cuid: "2000001", service: "internet", reqId: "sita", bouquetId: "NET-1M", amount: "1130" },
      bouquetName: "Fiber 100 Mbps (MONTHLY)",
      ...{ txnDate: "2026-02-11 00:00:00", at: "2026-02-10T18:15:00.000Z", udf1: null, udf2: null },
    });
    expect(stderr).toBe(`There are more: add --cursor ${rows[1].txnId}\n`);
    const next = await line.run("transaction", "list", "--json", "--limit", "2", "--cursor", rows[1].txnId);
    expect(rowsOf(next.stdout)).toMatchObject([{ bouquetId: "NET-3M" }]);
    expect(next.stderr).toBe("");
  });

  test("takes days of the provider's zone, and every other filter", async () => {
    const line = await historyLine(() => makeDatabase());
    const found = async (...flags: readonly string[]) => {
      const { code, stdout, stderr } = await line.run("transaction", "list", "--json", ...flags);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return rowsOf(stdout).map(({ bouquetId }) => bouquetId);
    };
    expect(await found("--from", "2026-02-10", "--to", "2026-02-10")).toEqual(["NET-3M"]);
    expect(await found("--from", "2026-02-11", "--to", "2026-02-11")).toEqual(["NET-1M"]);
    expect(await found("--to", "2026-02-11")).toEqual(["NET-1M", "NET-3M"]);
    expect(await found("--from", "2026-02-12")).toEqual(["TV-1M"]);
    expect(await found("--partner", "Blue Wallet of the Trade Unions")).toHaveLength(3);
    expect(await found("--service", "tv")).toEqual(["TV-1M"]);
    expect(await found("--cuid", "2000001")).toHaveLength(3);
    expect(await found("--req-id", "sita")).toEqual(["NET-1M", "NET-3M"]);
    expect(await found("--udf1", "order-3")).toEqual(["TV-1M"]);
    expect(await found("--udf2", "order-3")).toEqual([]);
    expect(await found("--amount", "3220.50")).toEqual(["NET-3M"]);
    expect(await found("--status", "reversed")).toEqual([]);
    expect(await found("--environment", "trial")).toEqual([]);
  });

  test("show tells who, what and when, and the subscription before and after it", async () => {
    const line = await historyLine(() => makeDatabase());
    const listed = rowsOf((await line.run("transaction", "list", "--json", "--udf1", "order-1")).stdout);
    const { txnId, checkoutId } = listed[0];
    const shown = await line.run("transaction", "show", txnId);
    expect(shown).toEqual(await line.run("transaction", "show", checkoutId));
    expect(shown).toEqual({
      code: 0,
      stderr: "",
      stdout: `transaction  ${txnId}
checkout     ${checkoutId}
status       success
time         2026-02-10 23:59:59 (Asia/Kathmandu)
partner      Blue Wallet of the Trade Unions
customer     2000001 Sita Rai (production)
connection   internet sita
bouquet      Fiber 100 Mbps (QUARTERLY) (NET-3M)
amount       3220.5
udf1         order-1
plan         Fiber 100 Mbps
before       ends 2026-02-28 10:00:00
after        ends 2026-05-31 10:00:00

Fiber 100 Mbps (QUARTERLY) (NET-3M): the run from 2026-01-31 10:00:00 was still
on, and grew by 3 months. Now 4 months from 2026-01-31 10:00:00, which is
2026-05-31 10:00:00.
`,
    });
    const [json] = rowsOf((await line.run("transaction", "show", txnId, "--json")).stdout);
    expect(json).toMatchObject({
      ...listed[0],
      customer: { first_name: "Sita", last_name: "Rai" },
      plan: "Fiber 100 Mbps",
      before: { code: "NET-1M", enddate: "2026-02-28 10:00:00", endAt: "2026-02-28T04:15:00.000Z" },
      after: { code: "NET-3M", startdate: "2026-01-31 10:00:00", span: { months: 4, days: 0, seconds: 0 } },
    });
  });
});

describe("topupd transaction, called wrongly", () => {
  test.each([
    [["--from", "2026-02-30"], '--from must be a day such as 2026-11-20, but is "2026-02-30"'],
    [["--to", "yesterday"], '--to must be a day such as 2026-11-20, but is "yesterday"'],
    [["--from", "2026-02-11", "--to", "2026-02-10"], "--to is before --from: try --from 2026-02-10 --to 2026-02-11"],
    [["--limit", "0"], '--limit must be a whole number from 1 to 1000, but is "0"'],
    [["--limit", "1001"], '--limit must be a whole number from 1 to 1000, but is "1001"'],
    [["--cursor", "2"], '--cursor must be the txnId of the last top-up that was listed, but is "2"'],
    [["--amount", "1,130"], '--amount must be a plain number with up to 2 decimals, such as 1130, but is "1,130"'],
  ])("list %j says what to type instead", async (flags, said) => {
    const line = await historyLine(makeSqliteDatabase);
    expect(await line.run("transaction", "list", ...flags)).toEqual({
      code: 2,
      stdout: "",
      stderr: `topupd: ${said}\n`,
    });
  });

  test("list takes a day that the zone has left out as one without top-ups", async () => {
    const line = await historyLine(makeSqliteDatabase);
    expect((await line.run("transaction", "list", "--from", "2026-02-12", "--to", "2026-02-12")).code).toBe(0);
    expect(readDays({ from: "2011-12-30", to: "2011-12-30" }, createCalendar("Pacific/Apia"))).toEqual({
      from: Date.parse("2011-12-30T10:00:00Z"),
      until: Date.parse("2011-12-30T10:00:00Z"),
    });
  });

  test("list of a partner that is not there, and show of no top-up, fail", async () => {
    const line = await historyLine(makeSqliteDatabase);
    expect(await line.run("transaction", "list", "--partner", "bank")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no partner named bank: topupd partner list shows those that there are\n",
    });
    expect(await line.run("transaction", "show", "order-1")).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "topupd: there is no top-up with this txnId or checkoutId: topupd transaction list finds one by what else is known\n",
    });
  });
});
