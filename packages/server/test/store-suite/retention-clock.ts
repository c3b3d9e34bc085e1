import { expect, test } from "vitest";
import type { HistoricTopUp } from "../../src/domain/history-row.ts";
import { pruneHistory } from "../../src/operations/prune-history.ts";
import { by } from "../support/by.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { recordedElsewhere, takenBack } from "./history.ts";
import { expectRecorded, type OpenedProvider, openProvider, restate, SITA, SITA_IPTV } from "./provider.ts";

const DAY = 86_400_000;

function tryToPrune(opened: OpenedProvider, now: number, options: { dryRun?: boolean; isClockRight?: boolean } = {}) {
  const ports = { store: opened.store, clock: () => now, random: () => new Uint8Array(), author: "maya" };
  const { dryRun = false, isClockRight = false } = options;
  return pruneHistory(ports, { before: now - 31 * DAY, dryRun, isClockRight, reason: undefined });
}

/** A top-up of the day before, so that the audit trail is older than the newest record. */
async function openUsed(makeDatabase: MakeDatabase) {
  const opened = await openProvider(makeDatabase);
  opened.now += 20 * DAY;
  const command = opened.command(SITA_IPTV, "ITV-1M");
  expectRecorded(await opened.store.settleTopUp(command));
  return { opened, command, newest: opened.now };
}

export function testRetentionClock(makeDatabase: MakeDatabase): void {
  test("a clock that is far ahead of the newest record moves no horizon, and a dry run says the same", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    const now = newest + 365 * DAY;
    const entries = await countRows(opened, "audit_entry");
    for (const dryRun of [true, false])
      expect(await tryToPrune(opened, now, { dryRun })).toEqual({
        kind: "clock_in_doubt",
        doubt: { kind: "ahead", now, newest },
      });
    expect(await opened.store.retention.prunedBefore()).toBeUndefined();
    expect(await countRows(opened, "audit_entry")).toBe(entries);
  });

  test("a clock that is behind the newest record moves no horizon either", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    const now = newest - DAY;
    for (const dryRun of [true, false])
      expect(await tryToPrune(opened, now, { dryRun })).toMatchObject({ doubt: { kind: "behind", now, newest } });
    expect(await opened.store.retention.prunedBefore()).toBeUndefined();
  });

  test("a clock that is believed lets nothing go that is as young as the newest record", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    const now = newest + 30 * DAY;
    expect(await tryToPrune(opened, now)).toMatchObject({ kind: "pruned" });
    expect(await opened.store.retention.prunedBefore()).toBeLessThan(newest);
    expect(await tryToPrune(opened, now + 30 * DAY + 1)).toMatchObject({ doubt: { kind: "ahead" } });
  });

  test("what was recorded while the command began is no sign of a wrong clock", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    expect(await tryToPrune(opened, newest - 1_000)).toMatchObject({ kind: "pruned" });
  });

  test("who says that the clock is right is believed", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    const now = newest + 365 * DAY;
    expect(await tryToPrune(opened, now, { isClockRight: true })).toMatchObject({ kind: "pruned" });
    expect(await opened.store.retention.prunedBefore()).toBe(now - 31 * DAY);
  });

  test("the newest record is a top-up, a reversal or an entry of the audit trail, whichever came last", async () => {
    const { opened, command, newest } = await openUsed(makeDatabase);
    const { store } = opened;
    const newestRecord = () => store.retention.newestRecord();
    expect(await newestRecord()).toBe(newest);
    await store.corrections.reverse(command.checkoutId, { ...by(newest + DAY), reason: "late" });
    expect(await newestRecord()).toBe(newest + DAY);
    await restate(store, newest + 2 * DAY, { ...SITA, first_name: "Gita" });
    expect(await newestRecord()).toBe(newest + 2 * DAY);
  });

  test("the newest record is a reversal also where it was imported, by a clock that is behind it", async () => {
    const { opened, newest } = await openUsed(makeDatabase);
    const [topUp] = recordedElsewhere(opened, 1) as [HistoricTopUp];
    const imported = await opened.store.history.import("production", [takenBack(topUp, newest + DAY)], by(newest));
    expect(imported).toEqual([{ kind: "added" }]);
    expect(await opened.store.retention.newestRecord()).toBe(newest + DAY);
  });
}
