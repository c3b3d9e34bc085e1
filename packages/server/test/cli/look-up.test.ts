import { describe, expect, test } from "vitest";
import { historyLine, type OfficeLine, SITA_NET, WALLET } from "../support/office-line.ts";
import { SITA } from "../support/provider-files.ts";

const TXN_ID = /[0-9A-HJKMNP-TV-Z]{26}/g;
const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

async function importMore(line: OfficeLine, ...rows: readonly object[]): Promise<void> {
  const asOf = new Date(line.now - 60_000).toISOString();
  await line.mustRun("import", "customers", line.ndjson("more.ndjson", ...rows), "--as-of", asOf);
}

describe("topupd customer show", () => {
  test("tells of connections, subscriptions and top-ups, within 80 columns", async () => {
    const line = await historyLine();
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
    expect(history).toBe(await line.mustRun("transaction", "list"));
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    const json = await line.json("customer", "show", "00077");
    expect(json).toMatchObject({
      ...{ environment: "production", cuid: "2000001", firstName: "Sita", mobile: "9800000101", status: "active" },
      connections: [
        { service: "tv", reqId: "00077", status: "active", blockedByStaff: null, segment: null },
        { service: "internet", status: "inactive", subscriptions: [{ end: "2026-06-30 10:00:00", running: false }] },
      ],
    });
  });

  test("of a code or a name that fits several lists them, each with the command that shows it", async () => {
    const line = await historyLine();
    await importMore(line, { ...SITA, cuid: SITA.mobile, first_name: "Ram\u202e31m", connections: {} });
    const one = (of: string) =>
      failed(`${of} fits several customers: give the customer id of one with --by-cuid
  2000001  Sita Rai
  9800000101  Ram\ufffd31m Rai`);
    expect(await line.run("customer", "show", SITA.mobile)).toEqual(one(SITA.mobile));
    expect(await line.run("customer", "show", "rai")).toEqual(one("rai"));
    const shown = await line.mustRun("customer", "show", SITA.mobile, "--by-cuid");
    expect(shown).toContain("customer  9800000101 Ram\ufffd31m Rai (production)");
    expect(shown).toContain("No top-ups.");
    // A username is found as such, and no name is looked for then.
    expect(await line.mustRun("customer", "show", "sita")).toContain("customer  2000001");
  });

  test("finds by parts of a name, and of nobody says where else there is one", async () => {
    const line = await historyLine();
    const sita = await line.mustRun("customer", "show", SITA.cuid);
    for (const name of ["SITA RAI", "rai sit", "ai"]) expect(await line.mustRun("customer", "show", name)).toBe(sita);
    expect(await line.run("customer", "show", "1000001")).toEqual(
      failed("no production customer has the code 1000001, but a trial one has: add --environment trial"),
    );
    expect(await line.run("customer", "show", "nobody")).toEqual(
      failed("no production customer has the code or name nobody"),
    );
    expect(await line.run("customer", "show", "rai", "--by-cuid")).toEqual(
      failed("no production customer has the cuid rai"),
    );
    expect((await line.run("customer", "show", "1000001", "--environment", "trial")).code).toBe(0);
  });
});

describe("topupd transaction list", () => {
  test("is a table of two lines for each, newest first, within 80 columns", async () => {
    const line = await historyLine();
    const { stdout } = await line.run("transaction", "list");
    expect(
      stdout.replace(TXN_ID, "x".repeat(26)),
    ).toBe(`TIME                 TRANSACTION                 CUID     REQID  AMOUNT
2027-01-05 12:00:00  xxxxxxxxxxxxxxxxxxxxxxxxxx  2000001  00077  450.00
  Family TV (MONTHLY) (TV-1M) by ${WALLET}
2026-02-11 00:00:00  xxxxxxxxxxxxxxxxxxxxxxxxxx  2000001  sita   1130.00
  Fiber 100 Mbps (MONTHLY) (NET-1M) by ${WALLET}
2026-02-10 23:59:59  xxxxxxxxxxxxxxxxxxxxxxxxxx  2000001  sita   3220.50
  Fiber 100 Mbps (QUARTERLY) (NET-3M) by Blue Wallet of the Trade Unions
`);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  test("goes on page by page", async () => {
    const line = await historyLine();
    const first = await line.run("transaction", "list", "--name", "rai", "--limit", "2", "--json");
    const cursor = /--cursor (\S+)\n$/.exec(first.stderr)?.[1] ?? "";
    const [next] = await line.rows("transaction", "list", "--name", "rai", "--limit", "2", "--cursor", cursor);
    expect(next).toMatchObject({
      bouquetId: "NET-3M",
      txnDate: "2026-02-10 23:59:59",
      amount: "3220.50",
      udf1: "order-1",
    });
    expect(await line.run("transaction", "list", "--name", "nobody")).toEqual(
      failed("no production customer has the name nobody"),
    );
  });
});

describe("topupd transaction show", () => {
  test("tells what a top-up did, and of a reversed one what the reversal did", async () => {
    const line = await historyLine();
    const [, month, quarter] = await line.rows("transaction", "list");
    const shown = await line.mustRun("transaction", "show", month.checkoutId);
    expect(shown).toMatch(/^transaction {2}[0-9A-Z]{26}\ncheckout /);
    expect(shown).toContain("\nbouquet      Fiber 100 Mbps (MONTHLY) (NET-1M)\namount       1130.00\n");
    expect(shown).toMatch(/\nbefore +ends 2026-05-31 10:00:00\nafter +ends 2026-06-30 10:00:00\n$/);
    await line.mustRun("transaction", "reverse", quarter.txnId, "--reason", "paid twice");
    const reversed = await line.mustRun("transaction", "show", quarter.txnId);
    expect(reversed).toContain("\nreversed         2027-01-10 12:00:00 by somebody: paid twice\n");
    expect(reversed).toMatch(
      /\nbefore reversal +ends 2026-06-30 10:00:00\nafter reversal +ends 2026-03-31 10:00:00\n$/,
    );
    expect(await line.json("transaction", "show", quarter.txnId)).toMatchObject({
      ...{ status: "reversed", plan: "Fiber 100 Mbps", customer: { firstName: "Sita", lastName: "Rai" } },
      ...{ before: { end: "2026-02-28 10:00:00" }, after: { end: "2026-05-31 10:00:00" } },
      reversal: { author: "somebody", reason: "paid twice", after: { end: "2026-03-31 10:00:00" } },
    });
    expect(await line.run("transaction", "show", "nothing")).toEqual(
      failed("there is no top-up with this txnId or checkoutId: search for it in the list of top-ups"),
    );
  });
});

describe("topupd why", () => {
  test("explains the end of a subscription, entry by entry", async () => {
    const line = await historyLine();
    const { code, stdout, stderr } = await line.run("why", "internet", "sita");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(TXN_ID, "TXNID")).toBe(EXPLAINED);
    expect(await line.mustRun("why", "sita")).toBe(stdout);
    const { plans } = await line.json("why", "sita");
    expect(plans).toMatchObject([{ reqId: "sita", plan: "Fiber 100 Mbps", run: { end: "2026-06-30 10:00:00" } }]);
    expect(plans[0].entries[1]).toMatchObject({ seq: 2, at: "2026-02-10T18:14:59.000Z", amount: "3220.50" });
  });

  test("tells of goodwill, reversals and imports in the words of staff", async () => {
    const line = await historyLine();
    await line.mustRun("subscription", "goodwill", "internet", "sita", "--days", "3", "--reason", "outage");
    await line.mustRun("subscription", "reverse-goodwill", "internet", "sita", "--reason", "4 were meant");
    const [, month] = await line.rows("transaction", "list");
    await line.mustRun("transaction", "reverse", month.txnId, "--reason", "paid twice");
    await importMore(line, {
      ...SITA,
      connections: {
        internet: [{ username: "sita", status: "active", subscriptions: [] }],
        tv: [{ stb: "00077", status: "active" }],
      },
    });
    const words = (await line.mustRun("why", "sita")).replace(/\s+/g, " ");
    expect(words).toContain("goodwill by somebody: outage, reversed since");
    expect(words).toContain("the run before it had ended 2026-06-30 10:00:00, so a new run of 3 days began.");
    expect(words).toContain(
      "reversal by somebody: 4 were meant The goodwill of 2027-01-10 12:00:00 is not counted any more.",
    );
    expect(words).toContain("The top-up of 2026-02-11 00:00:00 is not counted any more. Now 4 months from 2026-01-31");
    expect(words).toContain("By the provider's records as of 2027-01-10 11:59:00: there is none. Nothing is left.");
    expect(words).toContain("Fiber 100 Mbps: no subscription any more");
  });

  test("asks which is meant where several have the connection, and says when there is none", async () => {
    const line = await historyLine();
    const connections = { tv: [{ stb: "5", status: "active" }], iptv: [{ username: "5", status: "active" }] };
    await importMore(line, { ...SITA, cuid: "7", connections });
    expect(await line.run("why", "5")).toEqual(
      failed(`there are several connections 5: say which
  tv 5 --environment production --cuid 7, Sita Rai
  iptv 5 --environment production --cuid 7, Sita Rai`),
    );
    expect(await line.mustRun("why", "iptv", "5")).toMatch(/^iptv 5 of customer 7, .*\n\nThere never was a sub/);
    expect(await line.run("why", "tv", "sita")).toEqual(
      failed("there is no tv connection sita: if it is gone, name its customer with --cuid"),
    );
    expect(await line.run("why", SITA_NET.reqId, "--cuid", "8")).toEqual(
      failed("there is no connection sita of customer 8"),
    );
  });
});

const EXPLAINED = `internet sita of customer 2000001, Sita Rai (production)

Fiber 100 Mbps: ended 2026-06-30 10:00:00

  2026-02-01 08:00:00  import
    By the provider's records as of 2026-02-01 07:59:00: Fiber 100 Mbps (MONTHLY) (NET-1M) from 2026-01-31 10:00:00 to 2026-02-28 10:00:00.
    Now 1 month from 2026-01-31 10:00:00, which is 2026-02-28 10:00:00 (2026-02 has no day 31, so its last day counts).

  2026-02-10 23:59:59  top-up TXNID by ${WALLET}, 3220.50
    Fiber 100 Mbps (QUARTERLY) (NET-3M): the run from 2026-01-31 10:00:00 was still on, and grew by 3 months.
    Now 4 months from 2026-01-31 10:00:00, which is 2026-05-31 10:00:00.

  2026-02-11 00:00:00  top-up TXNID by ${WALLET}, 1130.00
    Fiber 100 Mbps (MONTHLY) (NET-1M): the run from 2026-01-31 10:00:00 was still on, and grew by 1 month.
    Now 5 months from 2026-01-31 10:00:00, which is 2026-06-30 10:00:00 (2026-06 has no day 31, so its last day counts).

Times are those of Asia/Kathmandu.
`;
