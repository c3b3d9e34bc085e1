import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCatalogueCsv, readCustomersCsv, readPracticeList } from "../../src/csv/reading.ts";
import type { SourceRow } from "../../src/csv/rows.ts";
import { CUSTOMERS_HEADER, csvText, customerLines, guardCell, unguardCell } from "../../src/csv/writing.ts";
import type { CustomerFileRow } from "../../src/domain/customer.ts";
import { refusal } from "../support/desk.ts";

const RUNS = { numRuns: 300, seed: 7 };

async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield typeof text === "string" ? Buffer.from(text) : text;
}

async function rowsOf(rows: AsyncIterable<readonly SourceRow[]>): Promise<SourceRow[]> {
  const all: SourceRow[] = [];
  for await (const some of rows) all.push(...some);
  return all;
}

const valuesOf = (rows: readonly SourceRow[]) =>
  rows.map(({ value }) => {
    if (!value.ok) throw new Error(JSON.stringify(value.problems));
    return JSON.parse(JSON.stringify(value.value, (_, each) => each?.literal ?? each));
  });

/** The line, fields and errors of each unreadable row. */
const problemsOf = (rows: readonly SourceRow[]) =>
  rows.flatMap(({ line, value }) =>
    value.ok ? [] : value.problems.map(({ field, problem }) => `${line} ${field} ${problem}`),
  );

const anyText = fc.string({
  unit: fc.constantFrom("a", " ", "\u00a0", "\ufeff", "'", "=", "+", "-", "@", ",", '"', ";", "\u0928", "0"),
  minLength: 1,
});

describe("a cell", () => {
  test("is read as the text that was written, and never begins a formula", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(guardCell(text)).not.toMatch(/(?:^|;)[\s\u00a0\ufeff]*(?!-\d+$)[=+\-@]/);
        expect(unguardCell(guardCell(text))).toBe(text);
      }),
      RUNS,
    );
  });

  test.each(["-10", "-1130.00", "0"])("of a number, %s, is written plainly", (text) => {
    expect(guardCell(text)).toBe(text);
  });

  test.each(["'Alim", "+9779800000000", "O'Neil", "-"])("that is not guarded, %s, is read as it stands", (text) => {
    expect(unguardCell(text)).toBe(text);
  });
});

describe("customers in CSV", () => {
  const anyRow: fc.Arbitrary<CustomerFileRow> = fc.record({
    cuid: fc.uuid(),
    first_name: fc.oneof(fc.constant(""), anyText),
    last_name: anyText,
    mobile: anyText,
    status: fc.constant("active"),
    area: anyText,
    asOf: anyText,
    connections: fc.record(
      {
        tv: fc.array(fc.record({ stb: anyText, status: anyText, subscriptions: fc.constant([]) }), { minLength: 1 }),
        internet: fc.array(
          fc.record({
            username: anyText,
            status: anyText,
            segment: anyText,
            subscriptions: fc.array(
              fc.record({ code: anyText, startdate: anyText, enddate: anyText, goodwillDays: fc.nat() }),
              { maxLength: 3 },
            ),
          }),
          { minLength: 1 },
        ),
      },
      { requiredKeys: [] },
    ),
  });

  test("are read as they were written, with any content", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 4 }), async (rows) => {
        const text = csvText([CUSTOMERS_HEADER, ...rows.flatMap(customerLines)]);
        const read = valuesOf(await rowsOf(readCustomersCsv(pieces(text))));
        const asText = (name: string, value: unknown) => (name === "goodwillDays" ? String(value) : value);
        expect(read).toEqual(JSON.parse(JSON.stringify(rows, asText)));
      }),
      { ...RUNS, numRuns: 100 },
    );
  });

  test("are written with quotes around cells of several lines, so that a spreadsheet takes it for one cell", () => {
    const subscriptions = ["X", "Y"].map((code) => ({ code, startdate: "s", enddate: "e", goodwillDays: 0 }));
    const connections = { tv: [{ stb: "7", status: "active", subscriptions }] };
    const row = { cuid: "1", first_name: "A", last_name: "B", status: "active", asOf: "T", connections };
    expect(csvText(customerLines(row))).toBe('1,A,B,,active,,T,tv,7,active,,"X\nY","s\ns","e\ne","0\n0"\r\n');
  });

  test("without columns of subscriptions say nothing of them, and with empty cells that there are none", async () => {
    const boxOf = async (...lines: string[]) => {
      const [customer] = valuesOf(await rowsOf(readCustomersCsv(pieces(lines.join("\n")))));
      return customer.connections.tv[0];
    };
    const header = "cuid,last_name,status,service,connection,connection_status";
    const line = "1,A,active,tv,7,active";
    expect(await boxOf(header, line)).toEqual({ stb: "7", status: "active" });
    const full = `${header},code,startdate,enddate`;
    expect(await boxOf(full, `${line},,,`)).toEqual({ stb: "7", status: "active", subscriptions: [] });
    expect(await boxOf(`${header},code`, `${line},TV-1M`)).toMatchObject({ subscriptions: [{ code: "TV-1M" }] });
  });

  test("whose lines contradict each other are refused", async () => {
    const text = ["cuid,last_name,service,connection", "1,A,tv,a", "1,B,tv,b", "2,A,radio,c", "3,A,,,"];
    const rows = await rowsOf(readCustomersCsv(pieces(text.join("\n"))));
    expect(problemsOf(rows)).toEqual([
      "2 last_name is another on line 3 of the same customer",
      "4 service must be one of tv, internet, iptv on line 4",
      "5 (line) has 5 cells, and the header 4 (line 5)",
    ]);
  });
});

test("what is not UTF-8 is refused", async () => {
  const rows = readCustomersCsv(pieces("cuid,last_name,service,connection\n", Buffer.from("1,Caf\xe9,tv,a", "latin1")));
  expect(problemsOf(await rowsOf(rows))).toEqual([
    expect.stringMatching(/^2 last_name is not UTF-8: in a spreadsheet.* \(line 2\)$/),
  ]);
});

describe("a text marker of a spreadsheet", () => {
  test.each([
    ["'9841000102,'00012400", "9841000102", "00012400"],
    ['="9841000104",="00012402"', "9841000104", "00012402"],
    ['"=""9841000104""","=""+977"""', "9841000104", "+977"],
    ["''7,'+977", "'7", "+977"],
    ["'Alim,=7", "'Alim", "=7"],
    ['="A7",7=7', '="A7"', "7=7"],
  ])("is removed from %j if a digit follows", async (line, mobile, stb) => {
    const read = valuesOf(await rowsOf(readCustomersCsv(pieces(`cuid,service,mobile,connection\n1,tv,${line}\n`))));
    expect(read).toMatchObject([{ mobile, connections: { tv: [{ stb }] } }]);
  });
});

describe("a catalogue in CSV", () => {
  test("may have its columns in any order, and leave out optional ones", async () => {
    const text =
      '\ufeffcode,service,name,price,segments,retired\nA,tv,"Family, one (MONTHLY)",450.5,"home\nsme",TRUE\n\nB,tv,B,1,,\n';
    const rows = await rowsOf(
      readCatalogueCsv(pieces(Buffer.from(text).subarray(0, 30), Buffer.from(text).subarray(30))),
    );
    expect(valuesOf(rows)).toEqual([
      {
        code: "A",
        service: "tv",
        name: "Family, one (MONTHLY)",
        price: "450.5",
        segments: ["home", "sme"],
        retired: true,
      },
      { code: "B", service: "tv", name: "B", price: "1" },
    ]);
  });

  test.each([
    ["another column", "code,color\n", 'but has "color"'],
    ["a column twice", "code,code\n", 'each once, but has "code"'],
    ["semicolons between its cells", "code;service\n", 'with commas between them, each once, but has "code;service"'],
    ["a header that is none", 'code,"name\n', "line 1 is no CSV: a quote must enclose a whole cell"],
  ])("with %s is refused whole", async (_, text, said) => {
    const refused = await refusal(rowsOf(readCatalogueCsv(pieces(text))));
    expect(refused).toMatchObject({ code: "invalid", words: expect.stringContaining(said) });
  });
});

describe("a line that is no CSV", () => {
  const noCsv = "(line) is no CSV: a quote must enclose a whole cell";
  const good = { code: "B", name: "b, c" };
  test.each([
    ["with a quote inside of a cell", 'x"y,z', [`2 ${noCsv}`]],
    ["with a text after a quote", '"x"y,z', [`2 ${noCsv}`]],
    ["with a quote that does not end", '"x,y', [`2 ${noCsv}`]],
    ["with quotes that end on a later line", '"x,y\n"y"",z', [`2 ${noCsv}`, `3 ${noCsv}`]],
    ["with a marker that does not end", '="x,y', [`2 ${noCsv}`]],
    ["that is too long", `${"x".repeat(300_000)},y`, ["2 (line) is longer than 262144 characters"]],
  ])("%s costs only itself", async (_, line, problems) => {
    for (const size of [line.length > 1_000 ? 7_000 : 7, 100_000]) {
      const bytes = Buffer.from(`code,name\n${line}\nB,"b, c"\n`);
      const some = Array.from({ length: Math.ceil(bytes.length / size) }, (_each, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const rows = await rowsOf(readCatalogueCsv(pieces(...some)));
      expect(problemsOf(rows)).toEqual(problems);
      expect(valuesOf(rows.filter(({ value }) => value.ok))).toEqual([good]);
    }
  });

  test("because a quote stays open hides no row behind it, however many there are", async () => {
    const rows = await rowsOf(readCatalogueCsv(pieces(`code\n"A\n${"x\r\n".repeat(20_000)}`)));
    expect(problemsOf(rows)).toEqual([`2 ${noCsv}`]);
    expect(rows).toHaveLength(20_001);
    // Also if another quote far below would close it.
    const far = await rowsOf(readCatalogueCsv(pieces(`code\n"A\n${"x\n".repeat(200_000)}B"\n`)));
    expect(problemsOf(far)).toEqual([`2 ${noCsv}`, `200003 ${noCsv}`]);
  });
});

const anyEnd = fc.constantFrom("\n", "\r\n");

/** A row as written in the file: cells with or without quotes, or an empty line. */
const anyLine = fc.oneof(
  fc.constant(""),
  fc
    .array(fc.oneof(fc.constantFrom("a", "é,", '""', " "), anyEnd), { maxLength: 6 })
    .map((parts) => `"${parts.join("")}",b`),
  fc.constant("a,b"),
);

async function linesOf(text: string, size = 1_000): Promise<number[]> {
  const bytes = Buffer.from(text);
  const some = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return (await rowsOf(readCatalogueCsv(pieces(...some)))).map(({ line }) => line);
}

describe("a row of a CSV", () => {
  test("has the number of the line on which it begins, for both line ends", async () => {
    const files = [fc.array(fc.tuple(anyLine, anyEnd)), anyEnd, fc.integer({ min: 1, max: 9 })] as const;
    await fc.assert(
      fc.asyncProperty(...files, async (rows, end, size) => {
        let text = `code,name${end}`;
        const expected: number[] = [];
        for (const [row, rowEnd] of rows) {
          // Line numbers count all line ends, as editors do.
          if (row !== "") expected.push(text.split("\n").length);
          text += row + rowEnd;
        }
        expect(await linesOf(text, size)).toEqual(expected);
      }),
      RUNS,
    );
  });
});

describe("a partner's list of practice orders", () => {
  const read = (...lines: readonly string[]) => readPracticeList(pieces(lines.join("\r\n")));

  test("has an outcome for each checkoutId, in any column and case", async () => {
    const list = await read("\ufeffoutcome,note,checkoutId", 'PAID,"a, b",c1', "", "refunded,,c2", "Open,, c3 ");
    expect([...list]).toEqual([
      ["c1", "paid"],
      ["c2", "refunded"],
      ["c3", "open"],
    ]);
  });

  test.each([
    [[], "the list is empty: it must begin with its column names"],
    [["order,checkoutId"], "the first line must name order,checkoutId,outcome"],
    [["checkoutId,outcome", "c1,paid", "c2,"], "the outcome on line 3 must be one of paid, refunded, open"],
    [["checkoutId,outcome", "c1,success"], "the outcome on line 2 must be one of paid, refunded, open"],
    [["checkoutId,outcome", ",paid"], "line 2 must have a checkoutId that is on no other line"],
    [["checkoutId,outcome", "c1,paid", "c1,paid"], "line 3 must have a checkoutId that is on no other line"],
    [["checkoutId,outcome", 'c1,"paid'], "line 2 is no CSV: a quote must enclose a whole cell"],
    [["checkoutId,outcome", "#N/A,paid"], 'the checkoutId on line 2 is "#N/A", which programs write for no value'],
  ])("with the lines %j is refused", async (lines, words) => {
    expect(await refusal(read(...lines))).toMatchObject({ code: "invalid", words });
  });
});
