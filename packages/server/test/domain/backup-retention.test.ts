import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backupName, backupsAmong, expiredBackups } from "../../src/domain/backup-retention.ts";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-11-27T04:00:00Z");
const END = START + 200 * 24 * HOUR_MS;
const OTHERS = ["last.backup", "topupd.db", "topupd-20261127T04.backup", "topupd-20261127T040000Z.backup.gz", "notes"];

test("a backup is named by its time in UTC", () => {
  expect(backupName(START + 1)).toBe("topupd-20261127T040000Z.backup");
  expect(backupsAmong([...OTHERS, backupName(START), backupName(START + 1000)], END)).toEqual([
    "topupd-20261127T040001Z.backup",
    "topupd-20261127T040000Z.backup",
  ]);
});

describe("of hourly backups", () => {
  test("the newest of each of 48 hours and 30 days are kept", () => {
    let kept: string[] = [];
    for (let hour = 0; hour < 24 * 40; hour += 1) {
      for (const minutes of [0, 30]) kept.push(backupName(START + hour * HOUR_MS + minutes * 60_000));
      const expired = expiredBackups(kept, { hours: 48, days: 30 }, END);
      kept = kept.filter((name) => !expired.includes(name));
    }
    // Three of the days have an hour that is kept anyway.
    const days = new Set(kept.map((name) => name.slice(0, 15)));
    expect([kept.length, days.size]).toEqual([48 + 30 - 3, 30]);
    expect(kept.slice(-48).every((name) => name.includes("3000Z"))).toBe(true);
    expect(kept.slice(0, 27).every((name) => name.includes("T233000Z"))).toBe(true);
  });

  test("an interrupted one is deleted once a later day has a whole one", () => {
    const part = `${backupName(START)}.a1b2.part`;
    const expired = (at: number) => expiredBackups([part, backupName(at)], { hours: 1, days: 0 }, at);
    expect([expired(START + HOUR_MS), expired(START + 24 * HOUR_MS)]).toEqual([[], [part]]);
    expect(expiredBackups([part], { hours: 1, days: 0 }, END)).toEqual([]);
  });

  test("those that a clock ahead has dated neither push out others, nor are deleted", () => {
    const [ahead, now] = [END - HOUR_MS, START + HOUR_MS];
    const names = [START, now, ahead, END].map(backupName);
    expect(expiredBackups(names, { hours: 1, days: 1 }, now)).toEqual([backupName(START)]);
    expect(backupsAmong(names, now)[0]).toBe(backupName(now));
  });

  const backups = fc.uniqueArray(fc.integer({ min: 0, max: 100 * 24 * 60 }).map((minute) => START + minute * 60_000));
  const retention = fc.record({ hours: fc.integer({ min: 1, max: 60 }), days: fc.integer({ min: 0, max: 40 }) });

  test("no file of another name is deleted, and the newest backup never", () => {
    fc.assert(
      fc.property(backups, fc.array(fc.string()), retention, (times, strange, kept) => {
        const ours = times.map(backupName);
        const expired = expiredBackups([...OTHERS, ...strange, ...ours], kept, END);
        expect(expired.filter((name) => !ours.includes(name))).toEqual([]);
        if (times.length > 0) expect(expired).not.toContain(backupName(Math.max(...times)));
      }),
    );
  });

  test("every hour and day within the numbers keeps its newest, nothing else stays, and a second run deletes nothing", () => {
    fc.assert(
      fc.property(backups, retention, (times, { hours, days }) => {
        const names = times.map(backupName);
        const expired = new Set(expiredBackups(names, { hours, days }, END));
        const left = names.filter((name) => !expired.has(name));
        const newestOf = (length: number, most: number) => {
          const periods = [...new Set(names.map((name) => name.slice(0, length)))].sort().slice(-most || names.length);
          return periods.map((period) =>
            names
              .filter((name) => name.startsWith(period))
              .sort()
              .at(-1),
          );
        };
        const wanted = new Set([...newestOf("topupd-20261127T04".length, hours), ...newestOf(15, days)]);
        expect(new Set(left)).toEqual(wanted);
        expect(expiredBackups(left, { hours, days }, END)).toEqual([]);
      }),
    );
  });
});
