import { expect, test } from "vitest";
import { ARCHIVE_TABLES, type ArchiveTable, digestOf, readTable } from "../../src/store/common/archive.ts";

const TRAIL = ARCHIVE_TABLES.find(({ name }) => name === "audit_entry") as ArchiveTable;

function entry(seq: number, characters: number) {
  const rest = { at: seq, author: "maya", action: "customers.import", subject: "production", hash: "0".repeat(64) };
  return { seq, ...rest, reason: null, before: null, after: "x".repeat(characters) };
}

test("long rows come in chunks that go into memory and into a line of a backup, and none is lost", async () => {
  const page = Array.from({ length: 1_000 }, (_, index) => entry(index + 1, 70_000));
  const lengths: number[] = [];
  const seen: unknown[] = [];
  for await (const { rows, digest } of readTable(TRAIL, () => [page])) {
    lengths.push(JSON.stringify(rows).length);
    expect(digest).toBe(digestOf(rows));
    seen.push(...rows.map(([seq]) => seq));
  }
  expect(seen).toEqual(page.map(({ seq }) => seq));
  expect(Math.max(...lengths)).toBeLessThan(8 * 1024 * 1024);
  expect(lengths.length).toBeGreaterThan(10);
});

test("short rows come as they were read", async () => {
  const page = Array.from({ length: 1_000 }, (_, index) => entry(index + 1, 100));
  const counts: number[] = [];
  for await (const { rows } of readTable(TRAIL, () => [page])) counts.push(rows.length);
  expect(counts).toEqual([1_000]);
});
