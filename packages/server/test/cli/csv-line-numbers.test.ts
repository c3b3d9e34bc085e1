import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCatalogueCsv } from "../../src/cli/csv/catalogue.ts";
import { RUNS } from "../domain/builders.ts";

/** In pieces that end anywhere. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(text: string, size = 1_000): Promise<number[]> {
  const lines: number[] = [];
  for await (const rows of readCatalogueCsv(pieces(text, size))) lines.push(...rows.map(({ line }) => line));
  return lines;
}

const anyEnd = fc.constantFrom("\n", "\r\n", "\r");

/** A row of the file as it stands there: cells with or without quotes, or nothing at all. */
const anyRow = fc.oneof(
  fc.constant(""),
  fc
    .array(fc.oneof(fc.constantFrom("a", "é,", '""', " "), anyEnd), { maxLength: 6 })
    .map((parts) => `"${parts.join("")}",b`),
  fc.constant("a,b"),
);

describe("a row of a CSV", () => {
  test("has the number of the line on which it begins, whatever ends the lines of rows and cells", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyRow, anyEnd)),
        anyEnd,
        fc.integer({ min: 1, max: 9 }),
        async (rows, end, size) => {
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
        },
      ),
      RUNS,
    );
  });

  test("that is no CSV is told by the line on which it begins", async () => {
    const before = 'code,name\r\n"a\r\n\r\nb",c\r\n\r\n';
    const told = (line: number) => new RegExp(`line ${line}\\b`);
    await expect(linesOf(`${before}x"y,z\r\n`)).rejects.toThrow(told(6));
    await expect(linesOf(`${before}"x\r\ny,z\r\n`)).rejects.toThrow(told(6));
    await expect(linesOf(`${before}"x\r\ny"y,z\r\n`)).rejects.toThrow(told(6));
    await expect(linesOf(`${before}"${"x\r\n".repeat(100_000)}`)).rejects.toThrow(told(6));
  });
});
