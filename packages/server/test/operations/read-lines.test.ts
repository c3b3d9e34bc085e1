import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LINE_MAX_BYTES, type Line, readLines } from "../../src/operations/read-lines.ts";

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<Line[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  const lines: Line[] = [];
  for await (const read of readLines(streamOf(bytes))) lines.push(...read);
  return lines;
}

/** The bytes in pieces that end at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe("the lines of a file", () => {
  test("are numbered from one, the last with or without a new line", async () => {
    const lines = [
      { number: 1, text: "a" },
      { number: 2, text: "b" },
    ];
    expect(await linesOf("a\nb")).toEqual(lines);
    expect(await linesOf("a\nb\n")).toEqual(lines);
  });

  test("are passed over where they are blank, and counted all the same", async () => {
    expect(await linesOf("\n\na\n \t \n\r\nb\n\n")).toEqual([
      { number: 3, text: "a" },
      { number: 6, text: "b" },
    ]);
  });

  test("are none in an empty file", async () => {
    expect(await linesOf()).toEqual([]);
    expect(await linesOf("", "")).toEqual([]);
    expect(await linesOf("\n")).toEqual([]);
  });

  test("keep the carriage return of Windows, which is a blank to JSON", async () => {
    const lines = await linesOf('{"a": 1}\r\n{"a": 2}\r\n');
    expect(lines.map(({ text }) => JSON.parse(text ?? ""))).toEqual([{ a: 1 }, { a: 2 }]);
    expect(lines.map(({ number }) => number)).toEqual([1, 2]);
  });

  test("lose the byte order mark at the beginning of the file, and nowhere else", async () => {
    expect(await linesOf("\ufeffa\n\ufeffb\n")).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: "\ufeffb" },
    ]);
    expect(await linesOf(new Uint8Array([0xef]), new Uint8Array([0xbb]), new Uint8Array([0xbf, 0x61]))).toEqual([
      { number: 1, text: "a" },
    ]);
  });

  test("are the same wherever the stream is cut into pieces", async () => {
    const anyText = fc.array(fc.constantFrom("a", "é", "नेपाल", "😀", "\ufeff", " ", "\r", "\n", "\n\n"), {
      maxLength: 40,
    });
    const anyPlaces = fc.array(fc.nat({ max: 400 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(anyText, anyPlaces, async (parts, places) => {
        const bytes = Buffer.from(parts.join(""));
        const expected = parts
          .join("")
          .split("\n")
          .map((text, index) => ({ number: index + 1, text: index === 0 ? text.replace(/^\ufeff/, "") : text }))
          .filter(({ text }) => text.trim() !== "");
        expect(await linesOf(...cut(bytes, places))).toEqual(expected);
      }),
      { seed: 20_261_120, numRuns: 500 },
    );
  });

  test("are the same one byte at a time, broken ones too", async () => {
    const bytes = Buffer.concat([Buffer.from("a😀\r\n\n"), Buffer.from([0xff, 0x0a]), Buffer.from("b")]);
    expect(await linesOf(...Array.from(bytes, (byte) => new Uint8Array([byte])))).toEqual(await linesOf(bytes));
  });
});

describe("a line that is not UTF-8", () => {
  test.each([
    ["a stray byte", [0x61, 0xff, 0x62]],
    ["half a character", [0xf0, 0x9f, 0x98]],
    ["an over-long form", [0xc0, 0xaf]],
    ["half a surrogate pair", [0xed, 0xa0, 0x80]],
  ])("is told by its number for %s, and the lines around it are read", async (_what, bytes) => {
    expect(await linesOf("a\n", new Uint8Array(bytes), "\nb")).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: undefined, problem: "is not UTF-8" },
      { number: 3, text: "b" },
    ]);
  });
});

describe("a line that is too long", () => {
  const tooLong = { text: undefined, problem: "is longer than 262144 bytes" };

  test("is told by its number, and the lines around it are read", async () => {
    const long = "x".repeat(LINE_MAX_BYTES + 1);
    expect(await linesOf(`a\n${long}\nb\n`)).toEqual([
      { number: 1, text: "a" },
      { number: 2, ...tooLong },
      { number: 3, text: "b" },
    ]);
  });

  test("is one byte over the limit, however it is cut into pieces", async () => {
    const longest = Buffer.alloc(LINE_MAX_BYTES, "x");
    for (const pieces of [[], [1], [1000, 200_000], [LINE_MAX_BYTES]]) {
      const text = longest.toString();
      expect(await linesOf("\n", ...cut(longest, pieces), "\n")).toMatchObject([{ number: 2, text }]);
      expect(await linesOf("\n", ...cut(longest, pieces), "x\n")).toEqual([{ number: 2, ...tooLong }]);
    }
  });

  test("is measured in bytes, not in characters", async () => {
    const characters = LINE_MAX_BYTES / 2;
    expect(await linesOf("é".repeat(characters))).toMatchObject([{ text: "é".repeat(characters) }]);
    expect(await linesOf("é".repeat(characters + 1))).toEqual([{ number: 1, ...tooLong }]);
  });

  test("is not held in memory, however long it is", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const pieceBytes = 64 * 1024;
    const pieces: WeakRef<ArrayBuffer>[] = [];
    let heldAtEnd = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 200; count += 1) {
        const piece = Buffer.alloc(pieceBytes, "x");
        // The memory behind the piece, which any part of it that is kept would keep too.
        pieces.push(new WeakRef(piece.buffer));
        yield piece;
      }
      // A weak reference lets go only in a later turn than the one it was made in.
      await nextTurn();
      collectGarbage();
      heldAtEnd = pieces.filter((piece) => piece.deref() !== undefined).length;
      yield Buffer.from("\nb");
    }
    const lines: Line[] = [];
    for await (const read of readLines(endless())) lines.push(...read);
    expect(lines).toEqual([
      { number: 1, ...tooLong },
      { number: 2, text: "b" },
    ]);
    expect(heldAtEnd).toBeLessThanOrEqual(LINE_MAX_BYTES / pieceBytes + 3);
  });
});
