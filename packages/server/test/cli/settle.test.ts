import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { buy, historyLine, kathmandu, type OfficeLine, rowsOf, SITA_NET, WALLET } from "../support/office-line.ts";

const TWO_DAYS = ["--from", "2026-02-10", "--to", "2026-02-11"];
const REPORT = ["report", "settlement"];
const ALL_DAYS = ["--partner", WALLET, "--from", "2026-02-10", "--to", "2027-01-05"];
const misused = (stderr: string) => ({ code: 2, stdout: "", stderr: `topupd: ${stderr}\n` });

describe("topupd report settlement", () => {
  test("is a table of days in the provider's zone, with a total", async () => {
    const line = await historyLine();
    expect(await line.run(...REPORT, "--partner", WALLET, ...TWO_DAYS)).toEqual({
      code: 0,
      stderr: "",
      stdout: `DAY         SERVICE   BOUQUET ID  TOP UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10  internet  NET-3M            1  3220.50          0      0.00  3220.50
2026-02-11  internet  NET-1M            1  1130.00          0      0.00  1130.00
TOTAL                                   2  4350.50          0      0.00  4350.50
`,
    });
    const all = ["--from", "2026-02-01", "--to", "2027-01-09", "--partner", WALLET, "--by", "day"];
    expect(await line.mustRun(...REPORT, ...all)).toBe(`DAY         TOP UPS    GROSS  REVERSALS  REVERSED      NET
2026-02-10        1  3220.50          0      0.00  3220.50
2026-02-11        1  1130.00          0      0.00  1130.00
2027-01-05        1   450.00          0      0.00   450.00
TOTAL             3  4800.50          0      0.00  4800.50
`);
  });

  test("says what it comes to beside JSON and CSV", async () => {
    const line = await historyLine();
    const [code, stderr] = [0, "1 top-up of 3220.50, 0 reversals of 0.00: 3220.50 net\n"];
    const day = ["--from", "2026-02-10", "--to", "2026-02-10"];
    const row = {
      ...{ day: "2026-02-10", partner: WALLET, service: "internet", bouquetId: "NET-3M", topUps: 1 },
      ...{ gross: "3220.50", reversals: 0, reversed: "0.00", net: "3220.50" },
    };
    expect(await line.run(...REPORT, ...day, "--json")).toEqual({ code, stderr, stdout: `${JSON.stringify(row)}\n` });
    const stdout = `${Object.keys(row).join()}\r\n${Object.values(row).join()}\r\n`;
    expect(await line.run(...REPORT, ...day, "--csv")).toEqual({ code, stderr, stdout });
  });

  test("counts a reversal on the day on which it was made, which may owe less than nothing", async () => {
    const line = await historyLine();
    const before = await line.mustRun(...REPORT, ...TWO_DAYS);
    const [, , first] = await line.rows("transaction", "list");
    line.now = kathmandu("2026-03-01 12:00:00");
    await line.mustRun("transaction", "reverse", first.txnId, "--reason", "paid twice");
    line.now = kathmandu("2027-01-10 12:00:00");
    expect(await line.mustRun(...REPORT, ...TWO_DAYS)).toBe(before);
    const march = await line.run(...REPORT, "--from", "2026-03-01", "--to", "2026-03-31", "--csv");
    expect(march.stdout).toContain(`2026-03-01,${WALLET},internet,NET-3M,0,0.00,1,3220.50,-3220.50\r\n`);
    expect(march.stderr).toBe("0 top-ups of 0.00, 1 reversal of 3220.50: -3220.50 net\n");
  });

  test("of a day that is not over says so", async () => {
    const line = await historyLine();
    const { stderr } = await line.run(...REPORT, "--from", "2027-01-10", "--to", "2027-01-10");
    expect(stderr).toBe("2027-01-10 is not over yet: these numbers may still grow\n");
  });

  test("in CSV, text that others chose is neither a formula nor a second cell, nor does it move a cursor", async () => {
    const line = await historyLine();
    const names = ['=HYPERLINK("http://evil.example")', "@SUM(A1)", "-1+1", "a,b", 'say "so"', "turned\u202eround"];
    for (const [index, name] of names.entries()) {
      await line.inStore(({ store, clock }) =>
        store.partners.add(name, { author: "tester", authority: undefined, at: clock() }),
      );
      line.now = kathmandu(`2027-02-0${index + 1} 12:00:00`);
      await buy(line, { ...SITA_NET, partner: name }, "NET-1M");
    }
    const { stdout } = await line.run(...REPORT, "--from", "2027-02-01", "--to", "2027-02-09", "--csv");
    const [, ...rows] = parse(stdout) as string[][];
    expect(rows.map(([, name]) => name)).toEqual(
      names.map((name) => (/^[=@-]/.test(name) ? `'${name}` : name.replace("\u202e", "\ufffd"))),
    );
    expect(rows.every((row) => row.length === 9)).toBe(true);
  });

  test.each([
    [["--from", "2026-02-30", "--to", "2026-03-01"], '--from must be a day such as 2026-11-20, but is "2026-02-30"'],
    [["--from", "2026-02-11", "--to", "2026-02-10"], "--to is before --from: try --from 2026-02-10 --to 2026-02-11"],
    [["--from", "2026-01-01", "--to", "2027-01-02"], "--from and --to may span 366 days: ask for each year by itself"],
  ])("called wrongly with %j says what to type instead", async (flags, said) => {
    expect(await (await historyLine()).run(...REPORT, ...flags)).toEqual(misused(said));
  });
});

/** Verdict and key of each answer. */
async function compared(line: OfficeLine, ...flags: readonly string[]) {
  const { code, stdout, stderr } = await line.run("reconcile", "book.csv", "--json", ...flags);
  return { code, stderr, answers: rowsOf(stdout).map(({ verdict, key }) => `${verdict} ${key}`) };
}

describe("topupd reconcile", () => {
  test("finds two books that say the same, by whichever key", async () => {
    const line = await historyLine();
    const ours = (await line.rows("transaction", "list")).reverse();
    for (const key of ["checkoutId", "txnId"]) {
      line.write("book.csv", [`${key},amount`, ...ours.map((row) => `${row[key]},${row.amount}`), ""].join("\n"));
      expect(await compared(line, ...ALL_DAYS, "--key", key)).toEqual({
        code: 0,
        answers: [],
        stderr: `VERDICT  ROWS   THEIRS     OURS  DIFFERENCE
matched     3  4800.50  4800.50        0.00
TOTAL       3  4800.50  4800.50        0.00
`,
      });
    }
  });

  test("tells each difference, in the order of the file, and what to do", async () => {
    const line = await historyLine();
    line.write("book.csv", "udf1,amount,status\norder-3,450.01,paid\norder-1,3220.50,refunded\norder-9,10,paid\n");
    const flags = [...ALL_DAYS, "--key", "udf1", "--status-column", "status"];
    const { code, answers, stderr } = await compared(line, ...flags);
    expect({ code, answers }).toEqual({
      code: 3,
      answers: ["amount_differs order-3", "status_differs order-1", "theirs_only order-9", "ours_only null"],
    });
    expect(stderr).toContain("theirs only: None was found of this partner in this environment.");
    expect(stderr).toMatch(/topupd: the two books differ in 4 rows\n$/);
    const table = await line.run("reconcile", "book.csv", ...flags);
    const [header, first, , third] = table.stdout.split("\n");
    expect(header?.split(/ +/)).toEqual(["VERDICT", "LINE", "KEY", "THEIRS", "OURS"]);
    expect(first).toMatch(/^amount differs {2}2 +order-3 +450\.01 +450\.00$/);
    expect(third).toMatch(/^theirs only +4 +order-9 +10\.00 +-$/);
  });

  test("has each row answered that cannot be read, with its line and what is wrong", async () => {
    const line = await historyLine();
    const rows = ['order-1,"3,220.50",paid', "order-3,450,lent", ",450,paid", '"a\r\nb",450.001,paid', "x,1,paid,more"];
    line.write("book.csv", `\ufeffudf1,amount,state\r\n${rows.join("\r\n")}\r\n`);
    const { stdout } = await line.run(
      "reconcile",
      "book.csv",
      "--json",
      ...ALL_DAYS,
      "--key",
      "udf1",
      "--status-column",
      "state",
    );
    const noAmount = (text: string) => `amount is ${JSON.stringify(text)}, and no amount such as 1130 or 1130.50`;
    expect(rowsOf(stdout).map(({ verdict, line: at, problem }) => [verdict, at, problem])).toEqual([
      ["unreadable", 2, noAmount("3,220.50")],
      ["unreadable", 3, 'state is "lent", a word of which nothing says what it means'],
      ["unreadable", 4, "udf1 is empty"],
      ["unreadable", 5, noAmount("450.001")],
      ["unreadable", 7, "it has 4 cells, and the header has 3"],
      ["ours_only", null, null],
    ]);
  });

  test("takes the partner's own words, delimiter and columns", async () => {
    const line = await historyLine();
    line.write("book.csv", "id;sum;state\norder-1;3220.50;GETAN\norder-3;450;storno\nx;1;nichts\n");
    const words = ["--success-values", "getan,ok", "--reversed-values", "Storno", "--failed-values", "nichts"];
    const columns = ["--key-column", "id", "--amount-column", "sum", "--status-column", "state", "--delimiter", ";"];
    const { answers, stderr } = await compared(line, ...ALL_DAYS, "--key", "udf1", ...columns, ...words);
    expect(answers).toEqual(["status_differs order-3", "ours_only null"]);
    expect(stderr).toMatch(/^matched +2 /m);
  });

  test("refuses a file that is no CSV, and does not half read it", async () => {
    const line = await historyLine();
    for (const [content, said] of [
      ["", "the file is empty: it must begin with the names of its columns"],
      ['udf1,amount\n"x,2\ny,3\n', "no CSV: Quote Not Closed"],
    ] as const) {
      line.write("book.csv", content);
      const run = await line.run("reconcile", "book.csv", ...ALL_DAYS, "--key", "udf1");
      expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(said) });
    }
  });

  test.each([
    [["--key-column", "id"], '--key-column: the file must have one column "id", but has "udf1", "amount", "amount"'],
    [
      ["--key-column", "udf1"],
      '--amount-column: the file must have one column "amount", but has "udf1", "amount", "amount"',
    ],
    [["--failed-values", "Paid"], '"paid" cannot mean both success and failed'],
  ])("called wrongly with %j says what to type instead", async (flags, said) => {
    const line = await historyLine();
    line.write("book.csv", "udf1,amount,amount\n");
    expect(await line.run("reconcile", "book.csv", ...ALL_DAYS, ...flags)).toEqual(misused(said));
  });
});
