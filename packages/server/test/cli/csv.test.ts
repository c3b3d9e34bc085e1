import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CUSTOMERS_HEADER, csvText, customerLines, guardCell, unguardCell } from "../../src/cli/csv/cells.ts";
import { readCatalogueCsv, readCustomersCsv } from "../../src/cli/csv/files.ts";
import { CommandFailed } from "../../src/cli/runtime.ts";
import type { CustomerFileRow } from "../../src/domain/customer-export.ts";
import { type RejectedLine, rejectedLines, type SourceRow } from "../../src/services/staff/import-file.ts";

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

const problemsOf = (rows: readonly SourceRow[]): RejectedLine[] =>
  rows.flatMap((row) => (row.value.ok ? [] : rejectedLines(row, row.value.problems)));

const anyText = fc.string({
  unit: fc.constantFrom("a", " ", "'", "=", "+", "-", "@", ",", '"', ";", "\u0928", "0"),
  minLength: 1,
});

describe("a cell", () => {
  test("is read as the text that was written, and never begins a formula", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(guardCell(text)).not.toMatch(/^[=+\-@\t\r]/);
        expect(unguardCell(guardCell(text))).toBe(text);
      }),
      RUNS,
    );
  });

  test.each(["'Alim", "+9779800000000", "O'Neil", "-"])("that nobody has guarded, %s, is read as it stands", (text) => {
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
    connections: fc.record(
      {
        tv: fc.array(fc.record({ stb: anyText, status: anyText, subscriptions: fc.constant([]) }), { minLength: 1 }),
        internet: fc.array(
          fc.record({
            username: anyText,
            status: anyText,
            segment: anyText,
            subscriptions: fc.array(fc.record({ code: anyText, startdate: anyText, enddate: anyText }), {
              maxLength: 3,
            }),
          }),
          { minLength: 1 },
        ),
      },
      { requiredKeys: [] },
    ),
  });

  test("are read as they were written, whatever stands in them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 4 }), async (rows) => {
        const text = csvText([CUSTOMERS_HEADER, ...rows.flatMap(customerLines)]);
        const read = valuesOf(await rowsOf(readCustomersCsv(pieces(text))));
        expect(read).toEqual(JSON.parse(JSON.stringify(rows)));
      }),
      { ...RUNS, numRuns: 100 },
    );
  });

  test("are written with quotes around what has several lines, so that a spreadsheet takes it for one cell", () => {
    const subscriptions = ["X", "Y"].map((code) => ({ code, startdate: "s", enddate: "e" }));
    const connections = { tv: [{ stb: "7", status: "active", subscriptions }] };
    const row = { cuid: "1", first_name: "A", last_name: "B", status: "active", connections } as CustomerFileRow;
    expect(csvText(customerLines(row))).toBe('1,A,B,,active,tv,7,active,,"X\nY","s\ns","e\ne"\r\n');
  });

  test("of one customer are told of by the line and column where each thing stands", async () => {
    const text = [
      "cuid,first_name,last_name,status,service,connection,connection_status,code,startdate,enddate",
      '1,A,B,active,tv,"two\nlines",active,,,',
      "2,A,B,active,,,,,,",
      '3,A,B,active,internet,u1,active,"X\nY","s\ns","e"',
      "3,A,B,active,internet,u2,asleep,Z,s,e",
    ].join("\r\n");
    const rows = await rowsOf(readCustomersCsv(pieces(text)));
    expect(rows.map(({ line }) => line)).toEqual([2, 4, 5]);
    const fields = [
      "first_name",
      "connections.internet[0].username",
      "connections.internet[0].subscriptions[1].enddate",
      "connections.internet[1].status",
      "connections.internet[1].subscriptions[0].code",
    ];
    const told = rejectedLines(
      rows[2] as SourceRow,
      fields.map((field) => ({ field, problem: "is bad" })),
    );
    expect(told.map(({ line, problems }) => [line, problems.map(({ field }) => field)])).toEqual([
      [5, ["first_name", "connection", "enddate"]],
      [8, ["connection_status", "code"]],
    ]);
  });

  test("with one cuid on all lines are refused once, by the first line that is too many, and what follows is read", async () => {
    const boxes = Array.from({ length: 60_000 }, (_, index) => `1,A,tv,s${index}`);
    const text = ["cuid,last_name,service,connection", ...boxes, "2,B,tv,x"].join("\n");
    const rows = await rowsOf(readCustomersCsv(pieces(text)));
    expect(rows.map(({ line, value }) => [line, value.ok])).toEqual([
      [2, false],
      [60_002, true],
    ]);
    expect(problemsOf(rows)).toEqual([
      {
        line: 5_002,
        problems: [{ field: "cuid", problem: "has more than 5000 lines: is it the same on all of them?" }],
      },
    ]);
    const most = ["cuid,last_name,service,connection", ...boxes.slice(0, 5_000)].join("\n");
    const [whole] = valuesOf(await rowsOf(readCustomersCsv(pieces(most))));
    expect(whole.connections.tv).toHaveLength(5_000);
  });

  test("whose lines contradict each other, or stand apart, are refused", async () => {
    const text = [
      "cuid,last_name,service,connection",
      "1,A,tv,a",
      "1,B,tv,b",
      "2,A,radio,c",
      "1,A,tv,d",
      "2,A,,",
      "3,A,,,",
    ];
    const rows = await rowsOf(readCustomersCsv(pieces(text.join("\n"))));
    expect(
      problemsOf(rows).map(({ line, problems }) => `${line} ${problems.map(({ field }) => field).join()}`),
    ).toEqual(["3 last_name", "4 service", "5 cuid", "6 cuid", "7 (line)"]);
  });
});

test("a number that a spreadsheet has shortened is refused, and a text that looks like one comes back as it was", async () => {
  const header = "cuid,last_name,mobile,service,connection";
  const text = [header, "1,A,9.84E+09,tv,1E+100", "2,1E+5,9840000000E+01,tv,b"].join("\n");
  const rows = await rowsOf(readCustomersCsv(pieces(text)));
  expect(problemsOf(rows)).toEqual([
    {
      line: 2,
      problems: [expect.objectContaining({ field: "mobile" }), expect.objectContaining({ field: "connection" })],
    },
  ]);
  for (const name of ["9,84E+09", "'1E+05", "''1E+05"]) {
    const written = csvText([header.split(","), ["1", guardCell(name), "", "", ""]]);
    expect(valuesOf(await rowsOf(readCustomersCsv(pieces(written))))).toMatchObject([{ last_name: name }]);
  }
});

describe("a catalogue in CSV", () => {
  test("may have its columns in any order, and leave out what is optional", async () => {
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
    ["a column twice", "code,code\n", "has code twice"],
    ["semicolons between its cells", "code;service\n", 'with commas between them, but has "code;service"'],
    ["a quote that does not end", 'code\n"A', "within a quote that is not closed"],
    ["another encoding", Buffer.from([0x63, 0xe9, 0x0a]), "is not UTF-8"],
  ])("with %s is refused whole", async (_, text, said) => {
    const reading = rowsOf(readCatalogueCsv(pieces(text)));
    await expect(reading).rejects.toThrow(CommandFailed);
    await expect(reading).rejects.toThrow(said);
  });
});

const anyEnd = fc.constantFrom("\n", "\r\n", "\r");

/** A row of the file as it stands there: cells with or without quotes, or nothing at all. */
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
  test("has the number of the line on which it begins, whatever ends the lines of rows and cells", async () => {
    const files = [fc.array(fc.tuple(anyLine, anyEnd)), anyEnd, fc.integer({ min: 1, max: 9 })] as const;
    await fc.assert(
      fc.asyncProperty(...files, async (rows, end, size) => {
        let text = `code,name${end}`;
        const expected: number[] = [];
        for (const [row, rowEnd] of rows) {
          // A carriage return and the line feed of an empty row would be one line end.
          const separator = row === "" && text.endsWith("\r") && rowEnd === "\n" ? "\r" : rowEnd;
          // As editors count: the line after all line ends before it.
          if (row !== "") expected.push(text.split(/\r\n|\r|\n/).length);
          text += row + separator;
        }
        expect(await linesOf(text, size)).toEqual(expected);
      }),
      RUNS,
    );
  });

  test("that is no CSV is told by the line after which it begins", async () => {
    const before = 'code,name\r\n"a\r\n\r\nb",c\r\n';
    for (const bad of ['x"y,z\r\n', '"x\r\ny,z\r\n', '"x\r\ny"y,z\r\n', `"${"x\r\n".repeat(100_000)}`])
      await expect(linesOf(before + bad)).rejects.toThrow(/line 4\b/);
  });
});
