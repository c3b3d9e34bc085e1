import { describe, expect, test } from "vitest";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { ndjson } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const TXN_ID = /[0-9A-HJKMNP-TV-Z]{26}/g;

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd why", (_, makeDatabase) => {
  test("explains the end of a subscription, grant by grant, within 80 columns", async () => {
    const line = await historyLine(() => makeDatabase());
    const { code, stdout, stderr } = await line.run("why", "internet", "sita");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(TXN_ID, "TXNID")).toBe(EXPLAINED);
    expect(Math.max(...stdout.split("\n").map((text) => text.length))).toBeLessThanOrEqual(80);
  });

  test("prints the same as JSON", async () => {
    const line = await historyLine(() => makeDatabase());
    const json = JSON.parse((await line.run("why", "internet", "sita", "--json")).stdout);
    expect(json).toMatchObject({
      ...{ environment: "production", cuid: "2000001", first_name: "Sita", service: "internet", reqId: "sita" },
      plans: [{ plan: "Fiber 100 Mbps", subscription: { enddate: "2026-06-30 10:00:00" } }],
    });
    const { steps } = json.plans[0];
    expect(steps.map(({ effect }: { effect: string }) => effect)).toEqual(["stated", "continued", "continued"]);
    expect(steps[0]).toMatchObject({ kind: "statement", txnId: null, before: null });
    expect(steps[1]).toMatchObject({ kind: "top_up", at: "2026-02-10T18:14:59.000Z", before: steps[0].after });
    expect(steps[2].after).toEqual(json.plans[0].subscription);
  });

  test("needs no service where the id is one connection's only, and asks for it where it is not", async () => {
    const line = await historyLine(() => makeDatabase());
    expect(await line.run("why", "sita")).toEqual(await line.run("why", "internet", "sita"));
    const options = { skipInvalid: false, onProgress: () => {}, onRejected: () => {} };
    const connections = { tv: [{ stb: "5", status: "active" }], iptv: [{ username: "5", status: "active" }] };
    const rows = [{ ...SITA, cuid: "7", connections }];
    await line.change((ports) => importCustomers(ports, "production", () => ndjson(rows), "unsaid", options));
    expect(await line.run("why", "5")).toEqual({
      code: 1,
      stdout: "",
      stderr: `topupd: there are several connections 5: say which, with SERVICE
  tv 5 --environment production --cuid 7, Sita Rai
  iptv 5 --environment production --cuid 7, Sita Rai
`,
    });
    expect((await line.run("why", "iptv", "5")).stdout).toContain("iptv 5 of customer 7");
    expect((await line.run("why", "nobody")).stderr).toBe(
      "topupd: there is no connection nobody: if it is gone, name its customer with --cuid\n",
    );
  });

  test("asks which is meant where several have the connection, and says when there is none", async () => {
    const line = await historyLine(() => makeDatabase());
    const options = { skipInvalid: false, onProgress: () => {}, onRejected: () => {} };
    const rows = [{ ...SITA, cuid: "7", first_name: "Ram" }];
    await line.change((ports) => importCustomers(ports, "production", () => ndjson(rows), "unsaid", options));
    expect(await line.run("why", "internet", "sita")).toEqual({
      code: 1,
      stdout: "",
      stderr: `topupd: there are several connections internet sita: say which, with --cuid
  internet sita --environment production --cuid 2000001, Sita Rai
  internet sita --environment production --cuid 7, Ram Rai
`,
    });
    expect((await line.run("why", "internet", "sita", "--cuid", "7")).stdout).toContain("of customer 7, Ram Rai");
    expect((await line.run("why", "tv", "sita")).stderr).toBe(
      "topupd: there is no tv connection sita: if it is gone, name its customer with --cuid\n",
    );
  });
});

describe("topupd why, called wrongly", () => {
  test.each([
    [["00077", "tv"], /SERVICE must be tv, internet, iptv, but is "00077": try topupd why tv 00077/],
    [["radio", "sita"], /SERVICE must be tv, internet, iptv, but is "radio": try topupd why internet maya\.rai/],
    [["internet"], /missing required argument 'REQID'[\s\S]*Usage: topupd why \[SERVICE\] \[REQID\]/],
    [[], /missing required argument 'REQID'/],
  ])("%j says what to type instead", async (words, said) => {
    const line = await historyLine(makeSqliteDatabase);
    const { code, stdout, stderr } = await line.run("why", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(said);
  });
});

const EXPLAINED = `internet sita of customer 2000001, Sita Rai (production)

Fiber 100 Mbps: ended 2026-06-30 10:00:00

  2026-02-01 08:00:00  import
    By the provider's records: Fiber 100 Mbps (MONTHLY) (NET-1M) from
    2026-01-31 10:00:00 to 2026-02-28 10:00:00. Now 1 month from
    2026-01-31 10:00:00, which is 2026-02-28 10:00:00 (2026-02 has no day 31, so
    its last day counts).

  2026-02-10 23:59:59  top-up TXNID by Blue Wallet of the
  Trade Unions, 3220.5
    Fiber 100 Mbps (QUARTERLY) (NET-3M): the run from 2026-01-31 10:00:00 was
    still on, and grew by 3 months. Now 4 months from 2026-01-31 10:00:00, which
    is 2026-05-31 10:00:00.

  2026-02-11 00:00:00  top-up TXNID by Blue Wallet of the
  Trade Unions, 1130
    Fiber 100 Mbps (MONTHLY) (NET-1M): the run from 2026-01-31 10:00:00 was
    still on, and grew by 1 month. Now 5 months from 2026-01-31 10:00:00, which
    is 2026-06-30 10:00:00 (2026-06 has no day 31, so its last day counts).

Times are those of Asia/Kathmandu.
`;
