import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { historyLine, type OfficeLine, WALLET } from "../support/office-line.ts";
import { SITA } from "../support/provider-files.ts";

const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const SITA_TV = ["tv", "00077"];

async function endOf(line: OfficeLine, reqId: string): Promise<string | undefined> {
  const { connections } = await line.json("customer", "show", reqId);
  return connections.find((each: { reqId: string }) => each.reqId === reqId).subscriptions[0]?.end;
}

describe("topupd transaction reverse", () => {
  test("takes a top-up back, for good, and says what that did", async () => {
    const line = await historyLine();
    const [tv] = await line.rows("transaction", "list");
    const reverse = (...words: string[]) => line.run("transaction", "reverse", tv.txnId, ...words);
    expect(await reverse("--reason", "paid twice")).toEqual({
      code: 0,
      stderr: "",
      stdout: `reversed    ${tv.txnId}
amount      450.00
partner     ${WALLET}
connection  tv 00077 of customer 2000001
plan        Family TV
before      ends 2027-02-05 12:00:00
after       none
`,
    });
    expect(await reverse("--reason", "once more")).toEqual(
      failed(`this top-up of 450.00 of ${WALLET} was reversed already, 2027-01-10 12:00:00 by somebody: paid twice`),
    );
    const [entry] = await line.rows("audit", "list", "--action", "transaction.reverse");
    expect(entry).toMatchObject({ author: "somebody", reason: "paid twice" });
    expect(entry.subject).toContain(tv.txnId);
  });

  test("takes a checkoutId as well, and does nothing where it is not the one that was meant", async () => {
    const line = await historyLine();
    await line.mustRun("partner", "add", "bank");
    const [tv] = await line.rows("transaction", "list");
    for (const meant of ["--amount=450.01", "--partner=bank"])
      expect(await line.run("transaction", "reverse", tv.txnId, "--reason", "x", meant)).toEqual(
        failed(`nothing was reversed: this is a top-up of 450.00 of ${WALLET}`),
      );
    expect((await line.run("transaction", "reverse", "nothing", "--reason", "x")).stderr).toContain(
      "there is no top-up with this txnId or checkoutId",
    );
    const json = await line.json("transaction", "reverse", tv.checkoutId, "--reason", "x", "--amount", "450");
    expect(json).toMatchObject({ status: "reversed", plan: "Family TV", after: null });
  });

  test("says where the end has not moved", async () => {
    const line = await historyLine();
    await line.mustRun("subscription", "goodwill", "internet", "sita", "--days", "3", "--reason", "outage");
    const [, month] = await line.rows("transaction", "list");
    const { stderr } = await line.run("transaction", "reverse", month.txnId, "--reason", "paid twice");
    expect(stderr).toMatch(/^The end has not moved: /);
  });

  test("wants a reason that a list shows whole", async () => {
    const line = await historyLine();
    for (const reason of ["", " ", "two\nlines", "x".repeat(201)])
      expect(await line.run("transaction", "reverse", "x", "--reason", reason)).toEqual({
        ...{ code: 2, stdout: "" },
        stderr: "topupd: --reason must be one line of 1 to 200 characters\n",
      });
  });
});

describe("topupd subscription", () => {
  test("goodwill gives days, and reverse-goodwill takes back those that were given last", async () => {
    const line = await historyLine();
    const grant = ["subscription", "goodwill", ...SITA_TV, "--reason", "outage", "--days"];
    expect(await line.mustRun(...grant, "3")).toBe(`granted     3 days
connection  tv 00077 of customer 2000001
plan        Family TV
before      ends 2027-02-05 12:00:00
after       ends 2027-02-08 12:00:00
`);
    expect(await line.json(...grant, "1")).toMatchObject({
      plan: "Family TV",
      days: 1,
      after: { end: "2027-02-09 12:00:00" },
    });
    const reverse = ["subscription", "reverse-goodwill", ...SITA_TV, "--reason", "typo"];
    expect(await line.mustRun(...reverse)).toMatch(/^reversed +1 day\n[\s\S]*after +ends 2027-02-08 12:00:00\n$/);
    await line.mustRun(...reverse);
    expect(await endOf(line, "00077")).toBe("2027-02-05 12:00:00");
    expect(await line.run(...reverse)).toEqual(
      failed("there is no goodwill that is not reversed yet: topupd why shows the entries"),
    );
    expect((await line.rows("audit", "list", "--limit", "2")).map(({ action }) => action)).toEqual([
      "subscription.reverse_goodwill",
      "subscription.reverse_goodwill",
    ]);
  });

  test.each([
    [["internet", "nobody", "--days", "1"], "there is no internet connection nobody"],
    [
      [...SITA_TV, "--days", "1", "--plan", "Sport"],
      "there is no subscription of the plan Sport to give days to: it has Family TV",
    ],
    [[...SITA_TV, "--days", "1", "--cuid", "7"], "there is no tv connection 00077 of customer 7"],
  ])("grant to %j says why not", async (words, said) => {
    const line = await historyLine();
    expect(await line.run("subscription", "goodwill", ...words, "--reason", "x")).toEqual(failed(said));
  });

  test("grant whose answer was lost says that it may have been done", async () => {
    const line = await historyLine();
    line.wrapStore = (store) => ({
      ...store,
      engine: { ...store.engine, transact: async () => Promise.reject(new StoreUnavailable("it was lost")) },
    });
    const { code, stderr } = await line.run(
      "subscription",
      "goodwill",
      ...SITA_TV,
      "--days",
      "3",
      "--reason",
      "outage",
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "topupd: it was lost. It may have been done all the same: look with topupd audit list\n",
    });
  });
});

describe("topupd connection", () => {
  test("block and unblock say what holds, and leave one entry for each change", async () => {
    const line = await historyLine();
    const block = (verb: string) => line.run("connection", verb, ...SITA_TV, "--reason", "as the customer asks");
    const said = async (verb: string) => (await block(verb)).stdout;
    expect(await said("block")).toBe("tv 00077 of customer 2000001 is now blocked\n");
    expect(await said("block")).toBe("tv 00077 of customer 2000001 was already blocked\n");
    const blocked = /Blocked \d{4}-\d\d-\d\d [\d:]+ by \S+: as the customer asks\n/;
    const shown = await line.mustRun("customer", "show", "00077");
    expect(shown).toContain("tv 00077  blocked\n");
    expect(shown).toMatch(blocked);
    expect(await line.mustRun("why", "tv", "00077")).toMatch(blocked);
    expect(await said("unblock")).toBe("tv 00077 of customer 2000001 is now unblocked\n");
    expect(await line.mustRun("why", "tv", "00077")).not.toContain("Blocked");
    expect(await line.rows("audit", "list", "--limit", "2")).toMatchObject([
      { action: "connection.unblock", reason: "as the customer asks" },
      { action: "connection.block", before: { blocked: false }, after: { blocked: true } },
    ]);
    const json = await line.json("connection", "block", ...SITA_TV, "--reason", "x");
    expect(json).toMatchObject({ cuid: "2000001", service: "tv", blocked: true, changed: true });
  });

  test("unblock lifts no block of the provider's own records", async () => {
    const line = await historyLine();
    const connections = {
      internet: [{ username: "sita", status: "blocked" }],
      tv: [{ stb: "00077", status: "active" }],
    };
    const asOf = ["--as-of", "2027-01-10 11:00:00"];
    await line.mustRun("import", "customers", line.ndjson("c.ndjson", { ...SITA, connections }), ...asOf);
    const { code, stderr } = await line.run("connection", "unblock", "internet", "sita", "--reason", "x");
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the provider's own records say"),
    });
    const blocked = "Blocked by the provider's records: correct them, and import them.\n";
    expect(await line.mustRun("customer", "show", "sita")).toContain(`sita  blocked\n  ${blocked}`);
    expect(await line.mustRun("why", "internet", "sita")).toContain(`\n${blocked}`);
  });
});
