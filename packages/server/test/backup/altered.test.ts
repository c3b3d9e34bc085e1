import { describe, expect, test } from "vitest";
import { verifySeal } from "../../src/backup/backup-file.ts";
import { BackupRefused } from "../../src/backup/errors.ts";
import { openBackup, verifyBackup } from "../../src/services/staff/archive.ts";
import { HEADER, inPieces, linesOf, makeBackup, rowsChunk, sealedAnew, smallArchive } from "./backups.ts";

type Lines = readonly string[];

/** Each of these is a gzip file with a good seal: what is wrong is in its lines. */
const ALTERED: readonly (readonly [what: string, alter: (lines: Lines) => Lines, said: RegExp])[] = [
  ["has another amount", (lines) => replaced(lines, "45000", "45001"), /the rows of top_up are not those/],
  ["has another name", (lines) => replaced(lines, "wallet", "Wallet"), /the rows of partner are not those/],
  ["has another secret", (lines) => replaced(lines, "0707", "0708"), /the rows of checkout_secret are not those/],
  ["has another digest", (lines) => replaced(lines, /"digest":"\d/, '"digest":"'), /are not those/],
  ["lacks a portion of rows", (lines) => lines.toSpliced(3, 1), /has lost some of its rows/],
  ["has a portion twice", (lines) => lines.toSpliced(3, 0, lines[3] ?? ""), /has lost some of its rows/],
  ["lacks its last line", (lines) => lines.slice(0, -1), /its last line is missing/],
  ["goes on after its last line", (lines) => [...lines, lines.at(-1) ?? ""], /goes on after its end/],
  ["lacks its totals", (lines) => lines.toSpliced(1, 1), /does not say how much it holds/],
  [
    "announces more rows",
    (lines) => replaced(lines, '"top_up":3', '"top_up":4'),
    /top_up should have 4 rows, and has 3/,
  ],
  [
    "announces no rows",
    (lines) => replaced(lines, '"top_up":3,', ""),
    /top_up should have undefined rows|no backup has/,
  ],
  ["announces other money", (lines) => replaced(lines, "9000000000090000", "9000000000090001"), /do not come to/],
  ["announces money of another", (lines) => replaced(lines, '"partnerId":2', '"partnerId":1'), /do not come to/],
  ["announces no money", (lines) => replaced(lines, /"money":\[.*\]/, '"money":[]'), /do not come to/],
  [
    "has another table",
    (lines) => replaced(lines, '"table":"partner"', '"table":"tip"'),
    /holds a line that no backup/,
  ],
  ["has half a line", (lines) => replaced(lines, /"rows":\[\[0.*/, ""), /holds a line that no backup has/],
  ["has a fraction", (lines) => replaced(lines, "45000,", "450.5,"), /holds a line that no backup has/],
  ["has a number that is too large", (lines) => replaced(lines, "45000,", "9007199254740993,"), /no backup has/],
  ["has bytes that are none", (lines) => replaced(lines, "0707", "07x7"), /holds a line that no backup has/],
];

const UNREADABLE: readonly (readonly [what: string, alter: (lines: Lines) => Lines, said: RegExp])[] = [
  [
    "is of a newer format",
    (lines) => replaced(lines, '"format":1,"topupd":"0.1.0"', '"format":2,"topupd":"3.0.0"'),
    /is of a newer format than this topupd knows: it was made by topupd 3\.0\.0, which can restore it/,
  ],
  [
    "holds a column more",
    (lines) => replaced(lines, '"udf1",', '"udf1","tip",'),
    /other tables than those of this topupd: restore it with topupd 0\.1\.0/,
  ],
  ["is of another time zone than there is", (lines) => replaced(lines, "Kathmandu", "Utopia"), /does not say what/],
  ["is of another currency than there can be", (lines) => replaced(lines, 'Exponent":2', 'Exponent":2.5'), /does not/],
  ["is of something else", (lines) => replaced(lines, '"backup":"topupd"', '"backup":"cellar"'), /does not say what/],
  ["has no time", (lines) => replaced(lines, "2026-11-20T09", "2026-31-20T09"), /does not say what/],
  ["has no header", (lines) => lines.slice(1), /does not say what/],
  ["has no line", () => [], /last line is missing/],
  ["is no JSON", () => ["topupd"], /holds a line that no backup has/],
];

describe("a backup with a good seal", () => {
  test.each(ALTERED)("that %s is refused", async (_, alter, said) => {
    const file = await sealedAnew(alter(await linesOf()));
    await verifySeal(inPieces(file));
    const verified = verifyBackup(() => inPieces(file), unwatched);
    await expect(verified).rejects.toThrow(said);
    await expect(verified).rejects.toBeInstanceOf(BackupRefused);
  });

  test.each(UNREADABLE)("that %s is refused", async (_, alter, said) => {
    const file = await sealedAnew(alter(await linesOf()));
    const opened = openBackup(() => inPieces(file));
    await expect(opened).rejects.toThrow(said);
    await expect(opened).rejects.toBeInstanceOf(BackupRefused);
  });

  test("that nobody altered is taken", async () => {
    const file = await sealedAnew(await linesOf());
    expect(await openBackup(() => inPieces(file))).toEqual(HEADER);
    await verifyBackup(() => inPieces(file), unwatched);
  });
});

describe("verifying a backup", () => {
  test("adds up what it holds, and says how far it is", async () => {
    const backup = await makeBackup();
    const seen: object[] = [];
    const { totals, partners } = await verifyBackup(
      () => inPieces(backup),
      (progress) => seen.push(progress),
    );
    expect(totals).toEqual((smallArchive()[0] as { totals: object }).totals);
    expect([...partners]).toEqual([
      [1, "wallet"],
      [2, "Ćevap & Söhne\u2028"],
    ]);
    expect(seen.at(-1)).toEqual({ step: "rows", table: "top_up", rows: 6, of: 6 });
  });

  test.each(["abc", "45000", null, true, new Uint8Array(2)])("refuses a top-up whose amount is %j", async (amount) => {
    const chunks = smallArchive().map((chunk) =>
      chunk.kind === "rows" && chunk.table === "top_up"
        ? rowsChunk(
            "top_up",
            chunk.rows.map((row) => row.map((value) => (value === 45_000 ? amount : value))),
          )
        : chunk,
    );
    const backup = await makeBackup(chunks);
    const verified = verifyBackup(() => inPieces(backup), unwatched);
    await expect(verified).rejects.toThrow(/is altered: one of its top-ups has no amount/);
    await expect(verified).rejects.toBeInstanceOf(BackupRefused);
  });

  test("finds a row that was lost before it was written", async () => {
    const chunks = smallArchive().map((chunk) =>
      chunk.kind === "rows" && chunk.table === "partner" ? rowsChunk("partner", chunk.rows.slice(1)) : chunk,
    );
    const backup = await makeBackup(chunks);
    await expect(verifyBackup(() => inPieces(backup), unwatched)).rejects.toThrow(
      /partner should have 2 rows, and has 1/,
    );
  });
});

const unwatched = () => {};

/** The lines with one place changed, which must be there. */
function replaced(lines: Lines, what: string | RegExp, by: string): string[] {
  const index = lines.findIndex((line) => (typeof what === "string" ? line.includes(what) : what.test(line)));
  if (index === -1) throw new Error(`no line holds ${what}`);
  return lines.map((line, each) => (each === index ? line.replace(what, by) : line));
}
