import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LINE_MAX_BYTES, type Line, readLines, readNdjson } from "../../src/office/imports/file.ts";

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function bytesOf(chunks: readonly (string | Uint8Array)[]): Uint8Array[] {
  return chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk));
}

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const read of readLines(streamOf(bytesOf(chunks)))) lines.push(...read);
  return lines;
}

/** The bytes in pieces that end at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe("the lines of a file", () => {
  test("are numbered from one, the last with or without a new line, and blank ones are passed over", async () => {
    const lines = [
      { number: 3, text: "a" },
      { number: 6, text: "b" },
    ];
    expect(await linesOf("\n\na\n \t \n\r\nb")).toEqual(lines);
    expect(await linesOf("\n\na\n \t \n\r\nb\n\n")).toEqual(lines);
    expect(await linesOf("", "\n")).toEqual([]);
  });

  test("lose a byte order mark at their beginning, and nowhere else", async () => {
    expect(
      await linesOf(
        new Uint8Array([0xef]),
        new Uint8Array([0xbb]),
        new Uint8Array([0xbf, 0x61, 0x0a]),
        "\ufeffb\ufeff",
      ),
    ).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: "b\ufeff" },
    ]);
  });

  test("are the same wherever the stream is cut into pieces", async () => {
    const anyText = fc.array(fc.constantFrom("a", "é", "नेपाल", "😀", "\ufeff", " ", "\r", "\n", "\n\n"), {
      maxLength: 40,
    });
    const anyPlaces = fc.array(fc.nat({ max: 400 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(anyText, anyPlaces, async (parts, places) => {
        const text = parts.join("");
        const expected = text
          .split("\n")
          .map((line, index) => ({ number: index + 1, text: line.replace(/^\ufeff/, "") }))
          .filter((line) => line.text.trim() !== "");
        expect(await linesOf(...cut(Buffer.from(text), places))).toEqual(expected);
      }),
      { seed: 20_261_120, numRuns: 300 },
    );
  });

  test.each([
    ["a stray byte", [0x61, 0xff, 0x62]],
    ["half a character", [0xf0, 0x9f, 0x98]],
    ["half a surrogate pair", [0xed, 0xa0, 0x80]],
  ])("are told by their number where they hold %s, and those around them are read", async (_what, bytes) => {
    expect(await linesOf("a\n", new Uint8Array(bytes), "\nb")).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: undefined, problem: "is not UTF-8" },
      { number: 3, text: "b" },
    ]);
  });

  test("are told by their number where they are too long, in bytes and however they come in pieces", async () => {
    const tooLong = { text: undefined, problem: "is longer than 262144 bytes" };
    const longest = Buffer.alloc(LINE_MAX_BYTES, "x");
    for (const pieces of [[], [1], [1000, 200_000], [LINE_MAX_BYTES]]) {
      expect(await linesOf("\n", ...cut(longest, pieces), "\n")).toMatchObject([
        { number: 2, text: longest.toString() },
      ]);
      expect(await linesOf("\n", ...cut(longest, pieces), "x\nb")).toEqual([
        { number: 2, ...tooLong },
        { number: 3, text: "b" },
      ]);
    }
    expect(await linesOf("é".repeat(LINE_MAX_BYTES / 2 + 1))).toEqual([{ number: 1, ...tooLong }]);
  });
});

describe("the rows of an NDJSON file", () => {
  test("are its objects, and each other line is told for what it is", async () => {
    const rows = [];
    for await (const some of readNdjson(streamOf(bytesOf(['{"a":"b"}\n[1]\n{"a"\n\n{"a":1,"a":2}\r\n']))))
      rows.push(...some);
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 3, 5]);
    expect(rows[0]?.value).toEqual({ ok: true, value: { a: "b" } });
    expect(rows.slice(1).map(({ value }) => value.ok)).toEqual([false, false, false]);
    expect(rows[1]?.value).toMatchObject({ problems: [{ field: "(line)", problem: "is not a JSON object" }] });
  });
});
