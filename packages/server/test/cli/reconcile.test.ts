import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { VERDICTS } from "../../src/domain/reconciliation.ts";
import { by } from "../support/by.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { tableRows } from "../support/markdown.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WALLET = "Blue Wallet of the Trade Unions";
const ALL_DAYS = ["--partner", WALLET, "--from", "2026-02-10", "--to", "2027-01-05"];
/** Of the two top-ups of February, but not of the third one in the next year. */
const FEBRUARY = ["--partner", WALLET, "--from", "2026-02-10", "--to", "2026-02-11"];

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the test expects of them
const rowsOf = (stdout: string): Record<string, any>[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** The top-ups, oldest first: of 3220.50, 1130 and 450. */
async function historyOf(line: HistoryLine) {
  const rows = rowsOf((await line.run("transaction", "list", "--json")).stdout).reverse();
  return rows as unknown as [Row, Row, Row];
}
type Row = { readonly checkoutId: string; readonly txnId: string };

/** Verdict, line and key of each answer. */
async function found(line: HistoryLine, ...flags: readonly string[]) {
  const { code, stdout, stderr } = await line.run("reconcile", "book.csv", "--json", ...flags);
  return { code, stderr, answers: rowsOf(stdout).map(({ verdict, line, key }) => [verdict, line, key]) };
}

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, topupd reconcile", (_, makeDatabase) => {
  test("of a book that agrees prints nothing but a summary, and ends well, whatever the key is", async () => {
    const line = await historyLine(makeDatabase);
    const [a, b, c] = await historyOf(line);
    const summary = `VERDICT         ROWS   THEIRS     OURS  DIFFERENCE
matched            3  4800.50  4800.50        0.00
TOTAL              3  4800.50  4800.50        0.00
`;
    for (const key of ["checkoutId", "txnId"] as const) {
      line.write("book.csv", `${key},amount\n${a[key]},3220.5\n${b[key]},1130.00\n${c[key]},450\n`);
      const run = await line.run("reconcile", "book.csv", ...ALL_DAYS, "--key", key);
      expect(run).toEqual({ code: 0, stdout: "", stderr: summary });
    }
    line.write("book.csv", "our reference,paid\norder-3,450\norder-1,3220.50\n");
    const columns = ["--key", "udf1", "--key-column", "our reference", "--amount-column", "paid"];
    const { code, answers } = await found(line, ...ALL_DAYS, ...columns);
    // The one without a reference cannot be in any book that goes by it.
    expect({ code, answers }).toEqual({ code: 3, answers: [["ours_only", null, null]] });
  });

  test("answers each row in the order of the file, and then what it lacks, oldest first", async () => {
    const line = await historyLine(makeDatabase);
    const [a, b, c] = await historyOf(line);
    const unknown = `${a.checkoutId.slice(0, -1)}-`;
    const book = ["orderId,state,paid", `${unknown},OK,10`, `${c.checkoutId},Refunded,450`, `${unknown}?,failed,1`];
    line.write("book.csv", `${book.join("\n")}\n`);
    const columns = ["--key-column", "orderId", "--amount-column", "paid", "--status-column", "state"];
    const run = await line.run("reconcile", "book.csv", ...ALL_DAYS, ...columns);
    expect(run).toEqual({
      code: 3,
      stdout: `VERDICT             LINE              THEIRS                OURS  KEY
theirs only            2               10.00                      ${unknown}
status differs         3     reversed 450.00              450.00  ${c.checkoutId}
ours only                                                3220.50  ${a.checkoutId}
ours only                                                1130.00  ${b.checkoutId}
`,
      stderr: expect.stringMatching(
        new RegExp(
          [
            "^VERDICT         ROWS  THEIRS     OURS  DIFFERENCE",
            "matched            1    0.00     0.00        0.00",
            "status differs     1    0.00   450.00     -450.00",
            "theirs only        1   10.00     0.00       10.00",
            "ours only          2    0.00  4350.50    -4350.50",
            "TOTAL              5   10.00  4800.50    -4790.50",
          ].join("\n"),
        ),
      ),
    });
    for (const verdict of ["status_differs", "theirs_only", "ours_only"] as const)
      expect(run.stderr.replaceAll(/\s+/g, " ")).toContain(VERDICTS[verdict]);
    expect(run.stderr).toContain("topupd: the two books differ in 4 rows\n");
    const { answers } = await found(line, ...ALL_DAYS, ...columns, "--all");
    expect(answers.map(([verdict, number]) => [verdict, number])).toEqual([
      ...[
        ["theirs_only", 2],
        ["status_differs", 3],
        ["matched", 4],
      ],
      ...[
        ["ours_only", null],
        ["ours_only", null],
      ],
    ]);
  });

  test("finds by its id what belongs to another day, but nothing of another partner or environment", async () => {
    const line = await historyLine(makeDatabase);
    const [, b, c] = await historyOf(line);
    line.write("book.csv", `txnId,amount\n${c.txnId},450\n${b.txnId},1130\n`);
    const byTxnId = [...FEBRUARY, "--key", "txnId"];
    expect((await found(line, ...byTxnId)).answers.map(([verdict]) => verdict)).toEqual(["other_period", "ours_only"]);
    expect((await found(line, ...byTxnId, "--environment", "trial")).answers.map(([verdict]) => verdict)).toEqual([
      "theirs_only",
      "theirs_only",
    ]);
    await line.change(({ store }) => store.addPartner("bank", by(0)));
    const ofBank = ["--partner", "bank", "--from", "2026-02-10", "--to", "2026-02-11", "--key", "txnId"];
    expect((await found(line, ...ofBank)).answers.map(([verdict]) => verdict)).toEqual(["theirs_only", "theirs_only"]);
  });

  test("by udf1 finds those of the days around, too", async () => {
    const line = await historyLine(makeDatabase);
    line.write("book.csv", "udf1,amount\norder-1,3220.50\n");
    const day = ["--partner", WALLET, "--from", "2026-02-11", "--to", "2026-02-11", "--key", "udf1"];
    expect((await found(line, ...day)).answers).toEqual([
      ["other_period", 2, "order-1"],
      ["ours_only", null, null],
    ]);
  });

  test("shows both sides of each answer in JSON and CSV, with what is to be done", async () => {
    const line = await historyLine(makeDatabase);
    const [a] = await historyOf(line);
    line.write("book.csv", `txnId,amount,day\n${a.txnId},3220.05,10/02/26\n=1+1,1,\n`);
    const flags = [...FEBRUARY, "--to", "2026-02-10", "--key", "txnId", "--date-column", "day"];
    const { stdout } = await line.run("reconcile", "book.csv", ...flags, "--json");
    expect(rowsOf(stdout)[0]).toEqual({
      ...{ verdict: "amount_differs", line: 2, key: a.txnId },
      ...{ theirAmount: "3220.05", theirStatus: "success", theirDate: "10/02/26" },
      ...{ ourAmount: "3220.50", ourStatus: "success", txnId: a.txnId, checkoutId: a.checkoutId },
      ...{ txnDate: "2026-02-10 23:59:59", at: "2026-02-10T18:14:59.000Z", problem: null },
      toDo: VERDICTS.amount_differs,
    });
    const csv = await line.run("reconcile", "book.csv", ...flags, "--csv");
    const [header, first, second, ...more] = parse(csv.stdout) as string[][];
    const [json = {}] = rowsOf(stdout);
    expect(header).toEqual(Object.keys(json));
    expect(first).toEqual(Object.values(json).map((value: string | number | null) => String(value ?? "")));
    expect(second?.slice(0, 4)).toEqual(["theirs_only", "3", "'=1+1", "1.00"]);
    expect(more).toEqual([]);
  });
});

describe("a partner's file", () => {
  const BOOK = "udf1,amount\norder-1,3220.50\norder-3,450\n";
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(BOOK, "utf16le")]);

  test.each<[string, string | Uint8Array, readonly string[]]>([
    ["with line feeds", BOOK, []],
    ["with carriage returns", BOOK.replaceAll("\n", "\r\n"), []],
    ["with both", BOOK.replace("\n", "\r\n"), []],
    ["without a last line end", BOOK.trim(), []],
    ["with a byte order mark", `\ufeff${BOOK}`, []],
    ["in UTF-16", utf16, []],
    ["with quotes", '"udf1","amount"\r\n"order-1","3220.50"\r\n"order-3",450\r\n', []],
    ["with semicolons", BOOK.replaceAll(",", ";"), ["--delimiter", ";"]],
    ["with tabs", BOOK.replaceAll(",", "\t"), ["--delimiter", "tab"]],
    ["with blanks around its cells", BOOK.replaceAll(",", " , "), []],
    ["with empty lines and empty rows", `${BOOK}\n\n,\n , \n`, []],
    ["with more columns, and rows that lack some", "x,udf1,amount,y\n,order-1,3220.50\n1,order-3,450,,,\n", []],
  ])("is read %s", async (_, content, flags) => {
    const line = await historyLine(makeSqliteDatabase);
    line.write("book.csv", content);
    const { answers } = await found(line, ...ALL_DAYS, "--key", "udf1", "--all", ...flags);
    expect(answers.map(([verdict, , key]) => [verdict, key])).toEqual([
      ["matched", "order-1"],
      ["matched", "order-3"],
      ["ours_only", null],
    ]);
  });

  test("has each row answered that cannot be read, with its line and what is wrong, and none of it hidden", async () => {
    const line = await historyLine(makeSqliteDatabase);
    const rows = [
      ...['order-1,"3,220.50",paid', "order-2,-5,paid", "order-3,450,lent", "order-4,,paid"],
      ...["order-5", ",450,paid", '"a\nb",450.001,paid'],
    ];
    line.write(
      "book.csv",
      Buffer.concat([Buffer.from(`udf1,amount,state\n${rows.join("\n")}\n`), Buffer.from([0xe9, 0x2c, 0x31])]),
    );
    const flags = [...ALL_DAYS, "--key", "udf1", "--status-column", "state"];
    const { code, stdout } = await line.run("reconcile", "book.csv", "--json", ...flags);
    const problems = rowsOf(stdout).map(({ verdict, line, ourAmount, problem }) => [verdict, line, ourAmount, problem]);
    const noAmount = (text: string) => `amount is ${JSON.stringify(text)}, and no amount such as 1130 or 1130.50`;
    expect({ code, problems }).toEqual({
      code: 3,
      problems: [
        ["unreadable", 2, "3220.50", noAmount("3,220.50")],
        ["unreadable", 3, null, noAmount("-5")],
        ["unreadable", 4, "450.00", 'state is "lent", a word of which no flag says what it means'],
        ["unreadable", 5, null, noAmount("")],
        ["unreadable", 6, null, noAmount("")],
        ["unreadable", 7, null, "udf1 is empty"],
        ["unreadable", 9, null, noAmount("450.001")],
        ["unreadable", 10, null, "udf1 is not UTF-8"],
        ["ours_only", null, "1130.00", null],
      ],
    });
  });

  test.each(["\n", "\r\n", "\r"])(
    "has its rows told by the lines of the file, with %j in its cells too",
    async (end) => {
      const line = await historyLine(makeSqliteDatabase);
      const book = ["udf1,amount,note", `order-1,3220.50,"a${end}b${end}${end}c"`, `x,1,"d${end}"`, "", "y,2,", ""];
      line.write("book.csv", book.join(end));
      const { answers } = await found(line, ...ALL_DAYS, "--key", "udf1", "--all");
      expect(answers.slice(0, 3).map(([, number]) => number)).toEqual([5, 7, 9]);
    },
  );

  test("takes the partner's own words for a status", async () => {
    const line = await historyLine(makeSqliteDatabase);
    line.write("book.csv", "udf1,amount,state\norder-1,3220.50,GETAN\norder-3,450,storno\nx,1,nichts\n");
    const words = ["--success-values", "getan,ok", "--reversed-values", "Storno", "--failed-values", "nichts"];
    const { answers } = await found(line, ...ALL_DAYS, "--key", "udf1", "--status-column", "state", ...words, "--all");
    expect(answers.map(([verdict]) => verdict)).toEqual(["matched", "status_differs", "matched", "ours_only"]);
  });

  test.each([
    ["empty", "", "the file is empty: it must begin with the names of its columns"],
    ["with a quote inside of a cell", 'udf1,amount\nx"y,2\n', "line 2 is no CSV: a quote stands where none can be"],
    ["with text after a quote", 'udf1,amount\n"x"y,2\n', "line 2 is no CSV: a quote stands where none can be"],
    [
      "with a quote that is open at its end",
      'udf1,amount\n"x,2\ny,3\n',
      "the file ends within a quote that is not closed: it is in the row that begins at line 2",
    ],
    [
      "with a quote that is open for long",
      `udf1,amount\n"x,2\n${"y,3\n".repeat(20_000)}`,
      "the row that begins at line 2 is longer than 65536 characters: is a quote not closed?",
    ],
  ])("that is no CSV is refused, and not half read: %s", async (_, content, said) => {
    const line = await historyLine(makeSqliteDatabase);
    line.write("book.csv", content);
    const run = await line.run("reconcile", "book.csv", ...ALL_DAYS, "--key", "udf1");
    expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(said) });
  });

  test("that is not there is told", async () => {
    const line = await historyLine(makeSqliteDatabase);
    const run = await line.run("reconcile", "book.csv", ...ALL_DAYS);
    expect(run).toEqual({ code: 1, stdout: "", stderr: "topupd: book.csv cannot be read: no such file\n" });
  });
});

describe("topupd reconcile, called wrongly, says what to type instead", () => {
  test.each([
    [["--key-column", "id"], '--key-column: the file has no column "id", but "udf1", "amount", "amount"'],
    [["--key-column", "udf1"], '--amount-column: the file has two columns "amount"'],
    [["--delimiter", ";;"], '--delimiter must be one character such as ; or the word tab, but is ";;"'],
    [["--failed-values", "Paid"], '--failed-values names "paid", which has another meaning already'],
    [["--from", "2026-02-30"], '--from must be a day such as 2026-11-20, but is "2026-02-30"'],
    [["--from", "2027-02-01"], "--to is before --from: try --from 2027-01-05 --to 2027-02-01"],
  ])("%j", async (flags, said) => {
    const line = await historyLine(makeSqliteDatabase);
    line.write("book.csv", "udf1,amount,amount\n");
    const run = await line.run("reconcile", "book.csv", ...ALL_DAYS, ...flags);
    expect(run).toEqual({ code: 2, stdout: "", stderr: `topupd: ${said}\n` });
  });
});

test("the table of verdicts in docs/running.md has all that there are", () => {
  const page = readFileSync(new URL("../../../../docs/running.md", import.meta.url), "utf8");
  const documented = tableRows(page).flatMap(([verdict = "", , toDo]) =>
    verdict.slice(1, -1) in VERDICTS && toDo ? [verdict.slice(1, -1)] : [],
  );
  expect(documented).toEqual(Object.keys(VERDICTS));
});
