import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { by } from "../support/by.ts";
import { historyLine } from "../support/history-line.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WALLET = "Blue Wallet of the Trade Unions";
const TWO_DAYS = ["--from", "2026-02-10", "--to", "2026-02-11"];

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd report settlement", (_, makeDatabase) => {
  test("is a table of days in the provider's zone, with a total", async () => {
    const line = await historyLine(makeDatabase);
    expect(await line.run("report", "settlement", "--partner", WALLET, ...TWO_DAYS)).toEqual({
      code: 0,
      stderr: "",
      stdout: `DAY         SERVICE   BOUQUET  TOP-UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10  internet  NET-3M         1  3220.50          0      0.00  3220.50
2026-02-11  internet  NET-1M         1  1130.00          0      0.00  1130.00
TOTAL                                2  4350.50          0      0.00  4350.50
`,
    });
  });

  test("names the partners where it is of all of them, and says what it comes to beside JSON and CSV", async () => {
    const line = await historyLine(makeDatabase);
    const total = "1 top-up of 3220.50, 0 reversals of 0.00: 3220.50 net\n";
    const day = ["--from", "2026-02-10", "--to", "2026-02-10"];
    expect(await line.run("report", "settlement", ...day, "--json")).toEqual({
      code: 0,
      stderr: total,
      stdout: `${JSON.stringify({
        ...{ day: "2026-02-10", partner: WALLET, service: "internet", bouquetId: "NET-3M", topUps: 1 },
        ...{ gross: "3220.50", reversals: 0, reversed: "0.00", net: "3220.50" },
      })}\n`,
    });
    expect(await line.run("report", "settlement", ...day, "--csv")).toEqual({
      code: 0,
      stderr: total,
      stdout: `day,partner,service,bouquetId,topUps,gross,reversals,reversed,net
2026-02-10,${WALLET},internet,NET-3M,1,3220.50,0,0.00,3220.50
`,
    });
    expect((await line.run("report", "settlement", ...day)).stdout).toBe(
      `DAY         PARTNER                          SERVICE   BOUQUET  TOP-UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10  ${WALLET}  internet  NET-3M         1  3220.50          0      0.00  3220.50
TOTAL                                                                 1  3220.50          0      0.00  3220.50
`,
    );
  });

  test("counts a reversal on the day on which it was made, which may owe less than nothing", async () => {
    const line = await historyLine(makeDatabase);
    const before = await line.run("report", "settlement", ...TWO_DAYS);
    await line.setTime("2026-03-01 12:00:00");
    await line.change(async ({ store, clock }) => {
      const [first] = await store.search.listTransactions(
        { environment: "production", udf1: "order-1" },
        { before: undefined, limit: 1 },
      );
      await store.corrections.reverse(first?.checkoutId ?? "", { ...by(clock()), reason: "paid twice" });
    });
    await line.setTime("2027-01-10 12:00:00");
    expect(await line.run("report", "settlement", ...TWO_DAYS)).toEqual(before);
    const { stdout } = await line.run(
      "report",
      "settlement",
      "--from",
      "2026-02-10",
      "--to",
      "2026-03-01",
      "--by",
      "day",
    );
    expect(stdout).toContain(`2026-03-01  ${WALLET}        0     0.00          1   3220.50  -3220.50\n`);
    expect(stdout).toMatch(/^TOTAL +2 +4350\.50 +1 +3220\.50 +1130\.00$/m);
    const march = ["--from", "2026-03-01", "--to", "2026-03-31", "--csv"];
    const csv = await line.run("report", "settlement", ...march);
    expect(csv.stdout).toContain(`2026-03-01,${WALLET},internet,NET-3M,0,0.00,1,3220.50,-3220.50\n`);
    expect(csv.stderr).toBe("0 top-ups of 0.00, 1 reversal of 3220.50: -3220.50 net\n");
  });

  test("is as fine as is asked", async () => {
    const line = await historyLine(makeDatabase);
    const all = ["--from", "2026-02-01", "--to", "2027-01-09", "--partner", WALLET];
    const { stdout } = await line.run("report", "settlement", ...all, "--by", "day");
    expect(stdout).toBe(`DAY         TOP-UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10        1  3220.50          0      0.00  3220.50
2026-02-11        1  1130.00          0      0.00  1130.00
2027-01-05        1   450.00          0      0.00   450.00
TOTAL             3  4800.50          0      0.00  4800.50
`);
    const services = await line.run("report", "settlement", ...all, "--by", "service", "--csv");
    expect(services.stdout).toContain(`2027-01-05,${WALLET},tv,,1,450.00,0,0.00,450.00\n`);
  });

  test("of a day that is not over says so", async () => {
    const line = await historyLine(makeDatabase);
    const { code, stdout, stderr } = await line.run(
      "report",
      "settlement",
      "--from",
      "2027-01-10",
      "--to",
      "2027-01-10",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "2027-01-10 is not over yet: these numbers may still grow\n" });
    expect(stdout).toBe(`DAY    PARTNER  TOP-UPS  GROSS  REVERSALS  REVERSED   NET
TOTAL                 0   0.00          0      0.00  0.00
`);
  });

  test("in CSV, text that others chose is neither a formula nor a second cell, nor does it move a cursor", async () => {
    const line = await historyLine(makeDatabase);
    const names = [
      '=HYPERLINK("http://evil.example")',
      "@SUM(A1)",
      "-1+1",
      "+1",
      "a,b",
      'say "so"',
      "turned\u202eround",
    ];
    await line.change(async ({ store }) => {
      const [partner] = await store.listPartners();
      expect(partner?.name).toBe(WALLET);
      for (const name of names) await store.addPartner(name, by(0));
    });
    for (const [index, name] of names.entries()) {
      await line.database.tamper(`UPDATE top_up SET partner_id = ${index + 2}`);
      const { stdout } = await line.run("report", "settlement", ...TWO_DAYS, "--csv");
      const [, row, , ...more] = parse(stdout) as string[][];
      expect(more).toEqual([]);
      expect(row).toHaveLength(9);
      expect(row?.[1]).toBe(/^[=@+-]/.test(name) ? `'${name}` : name.replace("\u202e", "\ufffd"));
    }
  });
});

describe("topupd report settlement, called wrongly", () => {
  test.each([
    [["--from", "2026-02-30", "--to", "2026-03-01"], '--from must be a day such as 2026-11-20, but is "2026-02-30"'],
    [["--from", "2026-02-11", "--to", "2026-02-10"], "--to is before --from: try --from 2026-02-10 --to 2026-02-11"],
    [["--from", "2026-01-01", "--to", "2027-01-02"], "--from and --to may span 366 days: ask for each year by itself"],
  ])("%j says what to type instead", async (flags, said) => {
    const line = await historyLine(makeSqliteDatabase);
    expect(await line.run("report", "settlement", ...flags)).toEqual({
      code: 2,
      stdout: "",
      stderr: `topupd: ${said}\n`,
    });
  });

  test("takes neither a report without days nor CSV and JSON at once", async () => {
    const line = await historyLine(makeSqliteDatabase);
    const without = await line.run("report", "settlement", "--from", "2026-02-10");
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("'--to <DAY>' not specified") });
    const both = await line.run("report", "settlement", ...TWO_DAYS, "--csv", "--json");
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be used with option '--json'") });
  });

  test("fails for a partner that is not there", async () => {
    const line = await historyLine(makeSqliteDatabase);
    expect(await line.run("report", "settlement", ...TWO_DAYS, "--partner", "bank")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no partner named bank: topupd partner list shows those that there are\n",
    });
  });
});

test("on PostgreSQL, a day of which something is not written yet is told to grow, and no earlier one", async () => {
  const database = makePostgresDatabase();
  const line = await historyLine(() => database);
  // From the moment on in which nothing of the day before can be begun any more. Of PostgreSQL's own clock only counts how
  // long ago something was begun there.
  await line.setTime("2099-01-10 00:00:30");
  const report = async (day: string) =>
    (await line.run("report", "settlement", "--from", day, "--to", day, "--partner", WALLET)).stderr;
  await withClient(database.url, async (other) => {
    await other.query("BEGIN");
    expect(await report("2099-01-09")).toBe("");
    // Another program's, which has tables of its own in the same database.
    await other.query("CREATE TABLE elsewhere ()");
    expect(await report("2099-01-09")).toBe("");
    // As a commit does that waits for a standby: from its first write on, it holds the lock.
    await other.query("DELETE FROM top_up WHERE false");
    expect(await report("2099-01-09")).toBe(
      "2099-01-09 may still grow: PostgreSQL has not finished what was begun before its end; it may wait for a synchronous standby (pg_stat_activity: backend_xid, wait_event). Ask again once it has.\n",
    );
    expect(await report("2099-01-08")).toBe("");
    expect(await report("2026-02-10")).toBe("");
    await other.query("COMMIT");
    expect(await report("2099-01-09")).toBe("");
  });
});
