import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBackup, readChunks, readHeader, verifySeal, writeBackup } from "../../src/backup/backup-file.ts";
import { BackupRefused } from "../../src/backup/errors.ts";
import { ARCHIVE_COLUMNS, ARCHIVE_TABLES } from "../../src/store/archive.ts";
import type { ArchiveChunk, ArchiveValue, MoneyTotal } from "../../src/store/store.ts";
import { gather, HEADER, inPieces, linesOf, makeBackup, rowsChunk, smallArchive } from "./backups.ts";

/** Every kind of value that a database may give: text with all that Unicode has, and numbers up to the largest. */
const anyValue: fc.Arbitrary<ArchiveValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger().map((number) => number + 0),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\n", '{"hex":"00"}', "\u2028", "\ud800", "\0"),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
);
const anyRows = fc
  .record({ table: fc.constantFrom(...ARCHIVE_TABLES), count: fc.nat({ max: 6 }) })
  .chain(({ table, count }) => {
    const { length } = ARCHIVE_COLUMNS[table];
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
    rows: fc.dictionary(fc.constantFrom(...ARCHIVE_TABLES), fc.nat()),
    money: fc.array(anyMoney, { maxLength: 4 }),
  })
  .map(({ rows, money }) => ({ kind: "totals", totals: { rows: { ...rows }, money } }));

describe("a backup", () => {
  test("of anything is read as it was written, in whatever pieces it comes", async () => {
    const anyArchive = fc.tuple(anyTotals, fc.array(anyRows, { maxLength: 5 }));
    const property = fc.asyncProperty(anyArchive, fc.integer({ min: 1, max: 999 }), async ([totals, rows], length) => {
      const written = [totals, ...rows];
      const backup = await makeBackup(written);
      expect(await chunksOf(inPieces(backup, length))).toEqual(written);
      expect(await readHeader(inPieces(backup, length))).toEqual(HEADER);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test("can be looked into with gunzip, a line of JSON for each portion of rows", async () => {
    const text = gunzipSync(await makeBackup()).toString("utf8");
    expect(text).toBe((await linesOf()).map((line) => `${line}\n`).join(""));
    const [header, totals, secret] = text.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)));
    expect(header).toMatchObject({ backup: "topupd", format: 1, topupd: "0.1.0", takenAt: "2026-11-20T09:00:00.000Z" });
    expect(totals.totals.money[0]).toMatchObject({ topUps: 3, amount: "9000000000090000" });
    expect(secret.rows[0]).toEqual([0, { hex: "07".repeat(32) }, 1]);
  });

  test("is refused with any of its bytes flipped", async () => {
    const backup = await makeBackup();
    for (let index = 0; index < backup.length; index += 1) {
      for (const bits of [1 << (index % 8), 0xff]) {
        const flipped = Buffer.from(backup);
        flipped[index] = (backup[index] as number) ^ bits;
        await expect(verifySeal(inPieces(flipped)), `byte ${index}`).rejects.toBeInstanceOf(BackupRefused);
      }
    }
    await verifySeal(inPieces(backup));
  });

  test("is refused wherever it was cut off, and with anything after it", async () => {
    const backup = await makeBackup();
    for (let length = 0; length < backup.length; length += 1)
      await expect(verifySeal(inPieces(backup.subarray(0, length))), `${length}`).rejects.toBeInstanceOf(BackupRefused);
    for (const more of [Buffer.from("\0"), backup, backup.subarray(-92)])
      await expect(verifySeal(inPieces(Buffer.concat([backup, more])))).rejects.toThrow(/is not a whole|is damaged/);
  });

  test("that is damaged gives an error to whoever reads it, too", async () => {
    const backup = await makeBackup();
    for (const bad of [backup.subarray(0, -1), backup.subarray(0, 300), Buffer.concat([backup, Buffer.from("x")])])
      await expect(chunksOf(inPieces(bad))).rejects.toBeInstanceOf(BackupRefused);
  });

  test("says what kind of damage it has", async () => {
    const backup = await makeBackup();
    const damaged = Buffer.from(backup).fill(0, 200, 201);
    await expect(verifySeal(inPieces(damaged))).rejects.toThrow("is damaged: its bytes are not those");
    await expect(verifySeal(inPieces(backup.subarray(0, 500)))).rejects.toThrow("its end is missing");
    for (const other of ["", "x", "SQLite format 3\0".padEnd(4096, "\0"), "{}\n"])
      await expect(verifySeal(inPieces(Buffer.from(other)))).rejects.toThrow("is no backup of topupd");
  });

  test("is told from other files by its beginning", async () => {
    const backup = await makeBackup();
    for (const good of [backup, backup.subarray(0, 30), Buffer.alloc(0)])
      expect(await isBackup(inPieces(good, 5))).toBe(true);
    for (const other of [Buffer.from("x"), backup.subarray(0, 9), backup.subarray(1), Buffer.from("SQLite format 3\0")])
      expect(await isBackup(inPieces(other, 5))).toBe(false);
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

async function chunksOf(backup: AsyncIterable<Uint8Array>): Promise<ArchiveChunk[]> {
  const chunks: ArchiveChunk[] = [];
  for await (const chunk of readChunks(backup)) chunks.push(chunk);
  return chunks;
}
