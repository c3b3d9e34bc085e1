import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { buy, historyLine, kathmandu, SITA_NET, WALLET } from "../support/office-line.ts";
import { partnersOf } from "../support/partners.ts";

const TWO_DAYS = ["--from", "2026-02-10", "--to", "2026-02-11"];
const ALL_DAYS = ["--partner", WALLET, "--from", "2026-02-10", "--to", "2027-01-05"];

test("a settlement is a table of days in the provider's zone, with a total", async () => {
  const line = await historyLine();
  expect(await line.run("report", "settlement", "--partner", WALLET, ...TWO_DAYS)).toEqual({
    ...{ code: 0, stderr: "" },
    stdout: `DAY         PARTNER                          SERVICE   BOUQUET ID  TOP UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10  ${WALLET}  internet  NET-3M            1  3220.50          0      0.00  3220.50
2026-02-11  ${WALLET}  internet  NET-1M            1  1130.00          0      0.00  1130.00
TOTAL                                                                    2  4350.50          0      0.00  4350.50
`,
  });
  const byDay = await line.mustRun("report", "settlement", ...ALL_DAYS, "--detail", "day");
  expect(byDay.split("\n")[0]).toBe(
    "DAY         PARTNER                          TOP UPS    GROSS  REVERSALS  REVERSED      NET",
  );
  expect(await line.json("report", "settlement", ...TWO_DAYS)).toMatchObject({
    total: { net: "4350.50" },
    open: false,
  });
  const today = await line.run("report", "settlement", "--from", "2027-01-10", "--to", "2027-01-10");
  expect(today.stderr).toBe("The last day is not over yet: these numbers may still grow.\n");
  const wrong = await line.run("report", "settlement", "--from", "2026-01-01", "--to", "2027-01-02");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/^topupd: --to may be 366 days after from/) });
});

test("an export in CSV has negative amounts, and no text that a spreadsheet would run", async () => {
  const line = await historyLine();
  const names = ['=HYPERLINK("http://evil.example")', "@SUM(A1)", "-1+1", "a,b", 'say "so"', "turned\u202eround"];
  for (const [index, name] of names.entries()) {
    const by = { author: "tester", authority: undefined };
    await line.inStore(({ store, clock }) => partnersOf(store).add(name, { ...by, at: clock() }));
    line.now = kathmandu(`2027-02-0${index + 1} 12:00:00`);
    await buy(line, { ...SITA_NET, partner: name }, "NET-1M");
  }
  const [newest] = await line.rows("transaction", "list");
  line.now = kathmandu("2027-02-09 12:00:00");
  await line.mustRun("transaction", "reverse", newest.txnId, "--reason", "paid twice");
  const days = ["--from", "2027-02-01", "--to", "2027-02-09"];
  const { code, stderr } = await line.run("export", "settlement", ...days, "--output", "s.csv");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "7 exported\n" });
  const [, ...rows] = parse(line.read("s.csv")) as string[][];
  expect(rows.slice(0, 6).map(([, name]) => name)).toEqual(
    names.map((name) => (/^[=@-]/.test(name) ? `'${name}` : name.replace("\u202e", "\ufffd"))),
  );
  expect(rows.map((row) => row.length)).toEqual(rows.map(() => 9));
  expect(rows[6]?.slice(4)).toEqual(["0", "0.00", "1", "1130.00", "-1130.00"]);
});

describe("topupd reconcile", () => {
  test("exits with 0 if both books say the same, and with 3 if they differ", async () => {
    const line = await historyLine();
    const ours = await line.rows("transaction", "list");
    line.write("book.csv", ["txnId,amount", ...ours.map((row) => `${row.txnId},${row.amount}`), ""].join("\n"));
    expect(await line.run("reconcile", "book.csv", ...ALL_DAYS, "--key", "txnId")).toEqual({
      ...{ code: 0, stdout: "" },
      stderr: `VERDICT  ROWS   THEIRS     OURS  DIFFERENCE
matched     3  4800.50  4800.50        0.00
TOTAL       3  4800.50  4800.50        0.00
`,
    });
    line.write("book.csv", "udf1,amount,status\norder-3,450.01,paid\norder-1,3220.50,refunded\norder-9,10,paid\n");
    const flags = [...ALL_DAYS, "--key", "udf1", "--status-column", "status"];
    const { code, stdout, stderr } = await line.run("reconcile", "book.csv", ...flags);
    expect(code).toBe(3);
    expect(stderr).toContain("theirs only: None was found of this partner in this environment.");
    expect(stderr).toMatch(/topupd: the two books differ in 4 rows\n$/);
    const [header, first, , third] = stdout.split("\n");
    expect(header?.split(/ +/)).toEqual(["VERDICT", "LINE", "KEY", "THEIRS", "OURS"]);
    expect(first).toMatch(/^amount differs {2}2 +order-3 +450\.01 +450\.00$/);
    expect(third).toMatch(/^theirs only +4 +order-9 +10\.00 +-$/);
  });

  test("says what to type if it was called wrongly (2), and why a file is none (1)", async () => {
    const line = await historyLine();
    line.write("book.csv", "udf1,amount,amount\n");
    expect(await line.run("reconcile", "book.csv", ...ALL_DAYS, "--key-column", "id")).toEqual({
      ...{ code: 2, stdout: "" },
      stderr: 'topupd: --key-column must name one column, but "id" is none or several of "udf1", "amount", "amount"\n',
    });
    line.write("empty.csv", "");
    expect(await line.run("reconcile", "empty.csv", ...ALL_DAYS)).toEqual({
      ...{ code: 1, stdout: "" },
      stderr: "topupd: the file is empty: it must begin with the names of its columns\n",
    });
  });
});
