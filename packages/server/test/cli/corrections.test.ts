import { describe, expect, test } from "vitest";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** The customer's newest top-up of an internet connection: of one month, for order `udf1` undefined. */
async function newestOf(line: HistoryLine, reqId: string): Promise<{ txnId: string; amount: string }> {
  const { stdout } = await line.run("transaction", "list", "--req-id", reqId, "--json");
  return JSON.parse(stdout.split("\n")[0] ?? "");
}

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd", (_, makeDatabase) => {
  test("transaction reverse takes a top-up back, once, and every command tells so", async () => {
    const line = await historyLine(() => makeDatabase());
    const { txnId } = await newestOf(line, "sita");
    const reversed = await line.run("transaction", "reverse", txnId, "--reason", "paid twice", "--as", "maya");
    expect(reversed).toEqual({
      code: 0,
      stderr: "",
      stdout: `reversed    ${txnId}
amount      1130
partner     Blue Wallet of the Trade Unions
connection  internet sita of customer 2000001
plan        Fiber 100 Mbps
before      ends 2026-06-30 10:00:00
after       ends 2026-05-31 10:00:00
`,
    });
    const again = await line.run("transaction", "reverse", txnId, "--reason", "again");
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toBe(
      "topupd: this top-up of 1130 of Blue Wallet of the Trade Unions was reversed already, 2027-01-10T06:15:00.000Z by maya: paid twice\n",
    );
    const shown = (await line.run("transaction", "show", txnId)).stdout;
    expect(shown).toContain("reversed         2027-01-10 12:00:00 by maya: paid twice");
    const reversal = "before reversal  ends 2026-06-30 10:00:00\nafter reversal   ends 2026-05-31 10:00:00\n";
    expect(shown).toContain(`plan             Fiber 100 Mbps\n${reversal}\nFiber 100 Mbps (MONTHLY) (NET-1M): it was`);
    const json = JSON.parse((await line.run("transaction", "show", txnId, "--json")).stdout);
    expect(json.reversal).toMatchObject({
      ...{ at: "2027-01-10T06:15:00.000Z", author: "maya", reason: "paid twice" },
      ...{ before: { enddate: "2026-06-30 10:00:00" }, after: { enddate: "2026-05-31 10:00:00" } },
    });
    const listed = (await line.run("transaction", "list", "--status", "reversed")).stdout;
    expect(listed).toContain("(NET-1M) by Blue Wallet of the Trade Unions, reversed\n");
    const why = (await line.run("why", "internet", "sita")).stdout;
    expect(why).toContain("Fiber 100 Mbps: ended 2026-05-31 10:00:00");
    expect(why.replaceAll(/\s+/g, " ")).toContain("it was taken back later, so it is not counted");
    expect(why).toContain(`reversal of ${txnId}`);
    expect((await line.run("check")).code).toBe(0);
  });

  test("transaction reverse changes nothing where it is another partner's, or of another amount", async () => {
    const line = await historyLine(() => makeDatabase());
    const { txnId } = await newestOf(line, "sita");
    await line.change(({ store }) => store.addPartner("bank", { author: "tester", at: 1 }));
    const reverse = (...flags: string[]) => line.run("transaction", "reverse", txnId, "--reason", "x", ...flags);
    for (const flags of [
      ["--partner", "bank"],
      ["--amount", "1130.50"],
    ]) {
      const { code, stderr } = await reverse(...flags);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          "topupd: nothing was reversed: this top-up is one of 1130 of Blue Wallet of the Trade Unions, and not what --partner or --amount say\n",
      });
    }
    const { stdout } = await reverse("--partner", "Blue Wallet of the Trade Unions", "--amount", "1130", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ txnId, status: "reversed", plan: "Fiber 100 Mbps" });
  });

  test("subscription grant gives days, and why tells of them", async () => {
    const line = await historyLine(() => makeDatabase());
    const granted = await line.run("subscription", "grant", "tv", "00077", "--days", "3", "--reason", "outage");
    expect(granted).toMatchObject({ code: 0, stderr: "" });
    expect(granted.stdout).toContain("granted     3 days");
    expect(granted.stdout).toContain("before      ends 2027-02-05 12:00:00");
    expect(granted.stdout).toContain("after       ends 2027-02-08 12:00:00");
    const why = (await line.run("why", "tv", "00077")).stdout;
    expect(why).toContain("2027-01-10 12:00:00  goodwill");
    expect(why.replaceAll(/\s+/g, " ")).toContain("was still on, and grew by 3 days");
  });

  test("subscription take-back takes days back, says how many can be, and why tells of it", async () => {
    const line = await historyLine(() => makeDatabase());
    const takeBack = (days: string, ...flags: string[]) =>
      line.run("subscription", "take-back", "tv", "00077", "--days", days, "--reason", "3 were meant", ...flags);
    expect(await takeBack("1")).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "topupd: nothing was taken back. Of 'Family TV', none can be taken back: no more are left of those that were given for nothing in its current run\n",
    });
    await line.run("subscription", "grant", "tv", "00077", "--days", "365", "--reason", "outage");
    expect(await takeBack("362", "--as", "maya")).toEqual({
      code: 0,
      stderr: "",
      stdout: `taken back  362 days
connection  tv 00077 of customer 2000001
plan        Family TV
before      ends 2028-02-05 12:00:00
after       ends 2027-02-08 12:00:00
`,
    });
    expect((await takeBack("4")).stderr).toContain("at most 3 days can be taken back");
    const why = (await line.run("why", "tv", "00077")).stdout;
    expect(why).toContain("2027-01-10 12:00:00  362 goodwill days taken back");
    expect(why.replaceAll(/\s+/g, " ")).toContain("365 days had been given, of which 362 were taken back later");
    const { stdout } = await takeBack("3", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ days: 3, after: { enddate: "2027-02-05 12:00:00" } });
    const listed = (await line.run("audit", "list", "--action", "subscription.take_back", "--author", "maya")).stdout;
    expect(listed.replaceAll(/\s+/g, " ")).toContain("by maya: 3 were meant");
    expect((await line.run("check")).code).toBe(0);
  });

  test("connection block and unblock say what has changed, and what has not", async () => {
    const line = await historyLine(() => makeDatabase());
    const set = (verb: string) => line.run("connection", verb, "internet", "sita", "--reason", "stolen");
    expect((await set("block")).stdout).toBe("internet sita of customer 2000001 is now blocked\n");
    expect((await set("block")).stdout).toBe("internet sita of customer 2000001 was already blocked\n");
    expect((await line.run("customer", "show", "sita")).stdout).toContain("inactive (blocked)");
    expect((await set("unblock")).stdout).toBe("internet sita of customer 2000001 is now unblocked\n");
  });

  test("audit list shows who did it and why, and verify holds it against what was exported", async () => {
    const line = await historyLine(() => makeDatabase());
    await line.run("connection", "block", "internet", "sita", "--reason", "stolen", "--as", "maya");
    const listed = (await line.run("audit", "list", "--author", "maya")).stdout;
    expect(listed).toContain("connection.block  production 2000001 internet sita");
    expect(listed.replaceAll(/\s+/g, " ")).toContain("by maya: stolen");
    expect(Math.max(...listed.split("\n").map((text) => text.length))).toBeLessThanOrEqual(80);
    const { stdout, stderr } = await line.run("audit", "export");
    const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    const checkpoint = `${last.seq}:${last.hash}`;
    expect(stderr).toContain(`--checkpoint ${checkpoint}`);
    expect((await line.run("audit", "verify", "--checkpoint", checkpoint)).stdout).toContain("still there (1)");
    const other = `${last.seq}:${"0".repeat(64)}`;
    expect(await line.run("audit", "verify", "--checkpoint", other)).toMatchObject({
      code: 3,
      stderr: `topupd: the audit trail is not the one of checkpoint ${last.seq}: another entry stands there\n`,
    });
    const beyond = await line.run("audit", "verify", "--checkpoint", `${last.seq + 1}:${last.hash}`);
    expect(beyond.stderr).toContain(`it ends with entry ${last.seq}`);
  });
});

describe("audit list of one customer", () => {
  async function importedLine() {
    const line = await historyLine(() => makeSqliteDatabase());
    // One that comes before the customer, with the same number where that is no cuid, and one that is new.
    const rows = [
      { ...SITA, cuid: "1", first_name: "Hari", last_name: "x".repeat(200), mobile: SITA.cuid, connections: {} },
      { ...SITA, last_name: "Lama" },
    ];
    line.write("file.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    expect((await line.run("import", "customers", "file.ndjson", "--as", "maya")).code).toBe(0);
    return line;
  }

  test("tells of an import what it did to that customer, and nothing of others", async () => {
    const line = await importedLine();
    const { stdout } = await line.run("audit", "list", "--cuid", SITA.cuid, "--author", "maya");
    expect(stdout).toContain("Lama");
    expect(stdout).not.toMatch(/Hari|xxx|"1"/);
  });

  test("in JSON too, with the entry's other fields as they are", async () => {
    const line = await importedLine();
    const listed = async (...flags: string[]) =>
      JSON.parse((await line.run("audit", "list", "--json", "--author", "maya", ...flags)).stdout);
    const { before, after, ...others } = await listed("--cuid", SITA.cuid);
    const { before: allBefore, after: allAfter, ...entry } = await listed();
    expect(others).toEqual(entry);
    expect(JSON.parse(before)).toEqual(JSON.parse(allBefore)[SITA.cuid]);
    expect(JSON.parse(after)).toEqual(JSON.parse(allAfter)[SITA.cuid]);
    expect(JSON.parse(after).profile.last_name).toBe("Lama");
    const added = await listed("--cuid", "1");
    expect({ before: added.before, name: JSON.parse(added.after).profile.first_name }).toEqual({
      before: null,
      name: "Hari",
    });
  });

  test("leaves what staff have done to one connection whole", async () => {
    const line = await importedLine();
    await line.run("connection", "block", "internet", "sita", "--reason", "stolen");
    const { stdout } = await line.run("audit", "list", "--cuid", SITA.cuid, "--action", "connection.block", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ before: expect.any(String), after: expect.any(String) });
  });
});

test("a reason may be written in a script that joins its letters by marks of no width", async () => {
  const line = await historyLine(() => makeSqliteDatabase());
  const reason = "दुई पटक भुक्तानी गर्\u200dयो";
  await line.run("connection", "block", "internet", "sita", "--reason", reason);
  expect(JSON.parse((await line.run("audit", "list", "--limit", "1", "--json")).stdout)).toMatchObject({ reason });
});

describe("corrections, called wrongly", () => {
  test.each([
    [["subscription", "grant", "internet", "sita", "--days", "0", "--reason", "x"], /--days must be a whole number/],
    [["subscription", "grant", "internet", "sita", "--days", "1.5", "--reason", "x"], /--days must be a whole number/],
    [
      ["subscription", "take-back", "internet", "sita", "--days", "-3", "--reason", "x"],
      /--days must be a whole number/,
    ],
    [
      ["subscription", "grant", "sita", "internet", "--days", "1", "--reason", "x"],
      /try topupd subscription grant internet sita/,
    ],
    [["connection", "block", "internet", "sita", "--reason", " "], /--reason must be one line/],
    [["transaction", "reverse", "x", "--reason", "a\nb"], /--reason must be one line/],
    [["transaction", "reverse", "x"], /required option '--reason <TEXT>' not specified/],
    [["audit", "verify", "--checkpoint", "7"], /--checkpoint must be a number, a colon and 64/],
    [["audit", "list", "--limit", "0"], /--limit must be a whole number from 1 to 1000/],
  ])("%s", async (words, said) => {
    const line = await historyLine(() => makeSqliteDatabase());
    expect(await line.run(...words)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(said) });
  });
});
