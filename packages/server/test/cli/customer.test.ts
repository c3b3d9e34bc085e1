import { describe, expect, test } from "vitest";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { ndjson } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

async function importRows({ change }: HistoryLine, ...rows: readonly object[]): Promise<void> {
  const options = { skipInvalid: false, onProgress: () => {}, onRejected: () => {} };
  await change((ports) => importCustomers(ports, "production", () => ndjson(rows), "unsaid", options));
}

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd customer show", (_, makeDatabase) => {
  test("tells of connections, subscriptions and top-ups, within 80 columns", async () => {
    const line = await historyLine(() => makeDatabase());
    const { code, stdout, stderr } = await line.run("customer", "show", SITA.mobile);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [about = "", history = ""] = stdout.split("3 top-ups:\n\n");
    expect(about).toBe(`customer  2000001 Sita Rai (production)
mobile    9800000101
status    active

tv 00077  active
  Family TV (MONTHLY) (TV-1M)
    since 2027-01-05 12:00:00, ends 2027-02-05 12:00:00

internet sita  inactive
  Fiber 100 Mbps (MONTHLY) (NET-1M)
    since 2026-01-31 10:00:00, ended 2026-06-30 10:00:00

`);
    expect(history).toBe((await line.run("transaction", "list")).stdout);
    expect(Math.max(...stdout.split("\n").map((text) => text.length))).toBeLessThanOrEqual(80);
    expect(await line.run("customer", "show", "00077")).toEqual({ code, stdout, stderr });
  });

  test("prints the same as JSON", async () => {
    const line = await historyLine(() => makeDatabase());
    const found = JSON.parse((await line.run("customer", "show", "sita", "--json")).stdout);
    expect(found).toMatchObject({
      ...{ environment: "production", cuid: "2000001", first_name: "Sita", mobile: "9800000101", status: "active" },
      connections: [
        { service: "tv", reqId: "00077", status: "active", blocked: false, segment: null },
        { service: "internet", reqId: "sita", status: "inactive", subscriptions: [{ plan: "Fiber 100 Mbps" }] },
      ],
      transactions: [{ bouquetId: "TV-1M" }, { bouquetId: "NET-1M" }, { bouquetId: "NET-3M" }],
      hasMore: false,
    });
    expect(found.connections[1].subscriptions[0]).toMatchObject({ enddate: "2026-06-30 10:00:00" });
  });

  test("of a code that fits several lists them, each with the command that shows it", async () => {
    const line = await historyLine(() => makeDatabase());
    await importRows(line, { ...SITA, cuid: SITA.mobile, first_name: "Ram\u202e31m", connections: {} });
    expect(await line.run("customer", "show", SITA.mobile)).toEqual({
      code: 1,
      stdout: "",
      stderr: `topupd: 9800000101 fits several customers: say which
  topupd customer show 2000001 --by-cuid  (Sita Rai)
  topupd customer show 9800000101 --by-cuid  (Ram\ufffd31m Rai)
`,
    });
    const one = await line.run("customer", "show", SITA.mobile, "--by-cuid");
    expect(one.stdout).toContain("customer  9800000101 Ram\ufffd31m Rai (production)");
    expect(one.stdout).toContain("No top-ups.");
  });

  test("finds by parts of a name, and of several lists them", async () => {
    const line = await historyLine(() => makeDatabase());
    const bySita = await line.run("customer", "show", SITA.cuid);
    for (const name of ["SITA RAI", "rai sit", "ai"]) expect(await line.run("customer", "show", name)).toEqual(bySita);
    await importRows(line, { ...SITA, cuid: "7", first_name: "Ram", mobile: "1", connections: {} });
    expect(await line.run("customer", "show", "rai")).toEqual({
      code: 1,
      stdout: "",
      stderr: `topupd: rai fits several customers: say which
  topupd customer show 2000001 --by-cuid  (Sita Rai)
  topupd customer show 7 --by-cuid  (Ram Rai)
`,
    });
    expect((await line.run("customer", "show", "ram rai")).stdout).toContain("customer  7 Ram Rai");
    // A username is found as such, and no name is looked for then.
    expect((await line.run("customer", "show", "sita")).stdout).toBe(bySita.stdout);
    expect((await line.run("customer", "show", "rai", "--by-cuid")).stderr).toBe(
      "topupd: no production customer has the code rai\n",
    );
  });

  test("of nobody says where else there is one", async () => {
    const line = await historyLine(() => makeDatabase());
    const said = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
    expect(await line.run("customer", "show", "1000001")).toEqual(
      said("no production customer has the code 1000001, but a trial one has: add --environment trial"),
    );
    expect(await line.run("customer", "show", "nobody")).toEqual(
      said("no production customer has the code or name nobody"),
    );
    expect((await line.run("customer", "show", "1000001", "--environment", "trial")).code).toBe(0);
  });
});
