import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BackupRefused,
  countChunks,
  isBackup,
  packLines,
  readChunks,
  readHeader,
  writeBackup,
} from "../../src/backup/backup-file.ts";
import type { ArchiveValue } from "../../src/store/engine.ts";
import type { ArchiveChunk, MoneyTotal } from "../../src/store/store.ts";
import { columnsOf, TABLE_NAMES } from "../../src/store/tables.ts";
import { each, gather, HEADER, inPieces, makeBackup, rowsChunk, smallArchive } from "./backups.ts";

/** Every kind of value in a database, including any Unicode text and the largest numbers. */
const anyValue: fc.Arbitrary<ArchiveValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger().map((number) => number + 0),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\n", '{"hex":"00"}', "\u2028", "\ud800", "\0"),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
);
const anyRows = fc
  .record({ table: fc.constantFrom(...TABLE_NAMES), count: fc.nat({ max: 6 }) })
  .chain(({ table, count }) => {
    const { length } = columnsOf(table);
    return fc
      .array(fc.array(anyValue, { minLength: length, maxLength: length }), { maxLength: count })
      .map((rows) => rowsChunk(table, rows));
  });
const anyMoney: fc.Arbitrary<MoneyTotal> = fc.record({
  partnerId: fc.nat(),
  environment: fc.constantFrom("trial", "production"),
  service: fc.constantFrom("tv", "internet", "iptv"),
  status: fc.constantFrom("success", "reversed"),
  topUps: fc.nat(),
  amount: fc.bigInt({ min: 0n, max: 2n ** 100n }),
});
const anyTotals: fc.Arbitrary<ArchiveChunk> = fc
  .record({
    rows: fc.dictionary(fc.constantFrom(...TABLE_NAMES), fc.nat()),
    money: fc.array(anyMoney, { maxLength: 4 }),
  })
  .map(({ rows, money }) => ({ kind: "totals", totals: { rows: { ...rows }, money } }));

const BEFORE_RELEASE = "was made before the first release of topupd and cannot be opened";

describe("a backup", () => {
  test("of any content is read as it was written, however it is split", async () => {
    const anyArchive = fc.tuple(anyTotals, fc.array(anyRows, { maxLength: 5 }));
    const property = fc.asyncProperty(anyArchive, fc.integer({ min: 1, max: 999 }), async ([totals, rows], length) => {
      const written = [totals, ...rows];
      const backup = await makeBackup(written);
      expect(await chunksOf(inPieces(backup, length))).toEqual(written);
      expect(await readHeader(inPieces(backup, length), HEADER.topupd)).toEqual(HEADER);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test("can be looked into with gunzip, a line of JSON for each portion of rows", async () => {
    const [header, totals, secret] = linesIn(await makeBackup()).map((line) => JSON.parse(line));
    expect(header).toMatchObject({ backup: "topupd", format: 1, topupd: "0.1.0", takenAt: "2026-11-20T09:00:00.000Z" });
    expect(totals.totals.money[0]).toMatchObject({ topUps: 3, amount: "9000000000090000" });
    expect(secret.rows[0]).toEqual([0, { hex: "07".repeat(32) }, 1]);
  });

  test("with any of its bytes flipped is refused, or comes to the same", async () => {
    const backup = await makeBackup();
    let refused = 0;
    for (let index = 0; index < backup.length; index += 1) {
      for (const bits of [1 << (index % 8), 0xff]) {
        const flipped = backup.with(index, (backup[index] as number) ^ bits);
        const read = await chunksOf(inPieces(flipped)).catch((error: unknown) => error);
        if (read instanceof BackupRefused) refused += 1;
        else expect(read, `byte ${index}`).toEqual(smallArchive());
      }
    }
    // Some of the ten bytes of gzip's header do not affect the content.
    expect(refused).toBeGreaterThan(2 * (backup.length - 8));
  });

  test("is refused wherever it was cut off, and with another one after it", async () => {
    const backup = await makeBackup();
    for (let length = 0; length < backup.length; length += 1) {
      const cut = backup.subarray(0, length);
      await expect(readHeader(inPieces(cut), HEADER.topupd), `${length}`).rejects.toBeInstanceOf(BackupRefused);
      await expect(chunksOf(inPieces(cut)), `${length}`).rejects.toBeInstanceOf(BackupRefused);
    }
    await expect(readHeader(inPieces(Buffer.concat([backup, backup])), HEADER.topupd)).rejects.toBeInstanceOf(
      BackupRefused,
    );
  });

  test("whose seal is of other lines is refused", async () => {
    const lines = linesIn(await makeBackup());
    expect(lines.at(-1)).toMatch(/^\{"sha256":"[0-9a-f]{64}"\}$/);
    const zipped = (some: readonly string[]) => inPieces(gzipSync(`${some.join("\n")}\n`));
    expect(await chunksOf(zipped(lines))).toEqual(smallArchive());
    const altered = lines.map((line) => line.replace("9000000000090000", "9000000000090001"));
    for (const some of [altered, lines.toSpliced(2, 1), lines.slice(0, -1), lines.toSpliced(2, 0, lines[2] ?? "")]) {
      await expect(readHeader(zipped(some), HEADER.topupd)).rejects.toBeInstanceOf(BackupRefused);
      await expect(chunksOf(zipped(some))).rejects.toBeInstanceOf(BackupRefused);
    }
  });

  test("is recognised by its first line", async () => {
    const backup = await makeBackup();
    expect(await isBackup(inPieces(backup, 5))).toBe(true);
    expect(await isBackup(inPieces(await packed(['{"backup":"topupd","format":2}'])))).toBe(true);
    const others = ["", "x", "SQLite format 3\0".padEnd(4096, "\0"), backup.subarray(1), await packed(["{}"])];
    for (const other of others) expect(await isBackup(inPieces(Buffer.from(other), 5))).toBe(false);
  });

  test.each([
    ["is of another format", '"format":1', '"format":2', BEFORE_RELEASE],
    ["holds a column more", '"udf1",', '"udf1","tip",', BEFORE_RELEASE],
    ["is of something else", '"backup":"topupd"', '"backup":"cellar"', /does not hold what a backup of topupd holds/],
    ["has a header that is no JSON", "{", "", /does not hold what a backup of topupd holds/],
  ])("that %s is refused before any of its rows is read", async (_, what, by, said) => {
    const [header = "", ...lines] = linesIn(await makeBackup()).slice(0, -1);
    expect(header).toContain(what);
    const file = await packed([header.replace(what, by), ...lines]);
    await expect(readHeader(inPieces(file), HEADER.topupd)).rejects.toThrow(said);
    await expect(readHeader(inPieces(file), HEADER.topupd)).rejects.toBeInstanceOf(BackupRefused);
  });

  test("of another release's format is refused with the release that can restore it", async () => {
    const file = await packed(linesIn(await makeBackup()).map((line) => line.replace('"format":1', '"format":2')));
    await expect(readHeader(inPieces(file), "0.2.0")).rejects.toThrow("restore it with topupd 0.1.0, which made it");
  });

  test.each([
    ["has another amount", "45000", "45001", /the rows of top_up are not those that were read from the database/],
    ["has another table", '"table":"partner"', '"table":"tip"', /does not hold what a backup of topupd holds/],
    ["lacks its totals", /^\{"totals".*\n/m, "", /does not hold what a backup of topupd holds/],
    ["lacks a portion of rows", /^\{"table":"partner"[^\n]*\n/m, "", /partner should have 2 rows, and has 0/],
    ["announces more rows", '"top_up":3', '"top_up":4', /top_up should have 4 rows, and has 3/],
  ])("that %s is not verified, though its seal is good", async (_, what, by, said) => {
    const text = linesIn(await makeBackup())
      .slice(0, -1)
      .join("\n");
    expect(text).toMatch(what);
    const file = await packed(text.replace(what, by).split("\n"));
    const verified = countChunks(readChunks(inPieces(file)));
    await expect(verified).rejects.toThrow(said);
    await expect(verified).rejects.toBeInstanceOf(BackupRefused);
  });

  test("is verified, with what it holds", async () => {
    const backup = await makeBackup();
    const { totals, partners } = await countChunks(readChunks(inPieces(backup)));
    expect(totals).toEqual((smallArchive()[0] as { totals: object }).totals);
    expect([...partners.values()]).toEqual(["wallet", "Ćevap & Söhne\u2028"]);
  });

  test("is stopped by its signal, even while rows are awaited that do not come", async () => {
    const stop = new AbortController();
    const stuck = async function* (): AsyncGenerator<ArchiveChunk> {
      yield* smallArchive().slice(0, 1);
      stop.abort("SIGINT");
      await new Promise(() => {});
    };
    await expect(gather(writeBackup(HEADER, stuck(), stop.signal))).rejects.toThrow(/abort/i);
  });

  test("hands on why the rows cannot be read", async () => {
    const failing = async function* (): AsyncGenerator<ArchiveChunk> {
      yield* smallArchive().slice(0, 2);
      throw new RangeError("gone");
    };
    await expect(gather(writeBackup(HEADER, failing(), new AbortController().signal))).rejects.toThrow(RangeError);
  });

  test("is not read further ahead than a few portions of rows", async () => {
    let read = 0;
    const rows = Array.from({ length: 50 }, (_, index) => `${index} ${"é".repeat(1_000)}`);
    const many = async function* (): AsyncGenerator<ArchiveChunk> {
      for (; read < 1_000; read += 1)
        yield rowsChunk(
          "retired_checkout",
          rows.map((text) => [`${text} ${read}`, read]),
        );
    };
    const backup = writeBackup(HEADER, many(), new AbortController().signal)[Symbol.asyncIterator]();
    for (let piece = 0; piece < 3; piece += 1) await backup.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeLessThan(100);
    await backup.return?.();
  });
});

function linesIn(backup: Buffer): string[] {
  return gunzipSync(backup).toString("utf8").trimEnd().split("\n");
}

/** A backup of these lines with a valid seal. */
function packed(lines: readonly string[]): Promise<Buffer> {
  return gather(packLines(each(lines), new AbortController().signal));
}

async function chunksOf(backup: AsyncIterable<Uint8Array>): Promise<ArchiveChunk[]> {
  const chunks: ArchiveChunk[] = [];
  for await (const chunk of readChunks(backup)) chunks.push(chunk);
  return chunks;
}
