import { expect, test } from "vitest";
import { listEntries } from "../../src/office/audit/sql.ts";
import { listHeldBack, settleHeldBack } from "../../src/office/imports/held-back.ts";
import { listImports } from "../../src/office/imports/operations.ts";
import * as sql from "../../src/office/imports/runs.ts";
import { lastBackupAt, noteBackup } from "../../src/office/maintenance/backups.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { type MakeDatabase, openStore, START } from "./database.ts";

const PRODUCTION = { environment: "production" } as const;

/** The records of imports and backups. */
export function testImports(makeDatabase: MakeDatabase): void {
  test("the last 50 imports stay, each with how it ended, and when the last backup was taken", async () => {
    const { store } = await openStore(makeDatabase);
    const { engine } = store;
    const begun = { kind: "customers", ...PRODUCTION, author: "maya", file: "a.csv", asOf: undefined } as const;
    const ids: number[] = [];
    for (let index = 0; index < 52; index += 1) ids.push(await sql.beginRun(engine, begun, START));
    const done = { outcome: "done", report: { rows: 3, reorders: false } } as const;
    await sql.endRun(engine, ids[50] ?? 0, done, START + 9);
    await sql.endRun(engine, ids[49] ?? 0, { outcome: "refused", problem: "3 lines are bad" }, START + 9);
    const [newest, second, ...others] = (await run(deskOf({ store, clock: () => START }), listImports, {})).items;
    const of = { ...begun, asOf: null, startedAt: new Date(START).toISOString() };
    const open = { endedAt: null, report: null, problem: null };
    const ended = { ...open, endedAt: new Date(START + 9).toISOString() };
    expect(newest).toEqual({ id: ids[51], ...of, ...open, outcome: "running" });
    expect(second).toEqual({ id: ids[50], ...of, ...ended, ...done });
    expect(others[0]).toEqual({ id: ids[49], ...of, ...ended, outcome: "refused", problem: "3 lines are bad" });
    expect([others.length, others.at(-1)?.id]).toEqual([48, ids[2]]);
    // A running import was interrupted if a newer one of its kind exists.
    expect(others[1]).toMatchObject({ outcome: "failed", endedAt: of.startedAt });
    expect(await lastBackupAt(engine.db)).toBeUndefined();
    await noteBackup(engine, START);
    await noteBackup(engine, START + 1);
    expect(await lastBackupAt(engine.db)).toBe(START + 1);
  });

  test("what an import held back replaces the rows of the customers that it names, under other numbers", async () => {
    const opened = await openStore(makeDatabase);
    const { store } = opened;
    const { engine } = store;
    const desk = deskOf({ store, clock: () => opened.now });
    const of = { ...PRODUCTION, service: "internet", plan: "Fiber", bouquetCode: "NET-1M" } as const;
    const times = { keptEnd: "2027-01-01 00:00:00", statedEnd: undefined, txnId: "T1" };
    const none = { rowEnd: undefined, goodwillDays: undefined, goodwill: undefined };
    const record = (cuid: string, line: number): sql.HeldBackRecord => ({
      ...{ ...of, ...times, ...none, cuid, reqId: `net-${cuid}`, line, sourceRow: `{"cuid":"${cuid}"}` },
    });
    const all = new Set(["1", "2", "3", "4", "8", "9"]);
    const replace = (
      records: readonly sql.HeldBackRecord[],
      environment: "production" | "trial" = "production",
      named: ReadonlySet<string> = all,
    ) => sql.replaceHeldBack(engine, environment, named, records, opened.now);
    const list = async (more: object = {}) => run(desk, listHeldBack, { ...PRODUCTION, ...more });
    const leave = (id = 0) =>
      run(desk, settleHeldBack, { ...PRODUCTION, ids: [id], decision: "keep", reason: "booked" });
    await replace([record("9", 1)]);
    const former = (await list()).items[0]?.id;
    const unclear = { goodwill: { days: 2, at: times.keptEnd, lackingEnd: undefined } };
    await replace([{ ...record("8", 1), ...unclear }]);
    const [held] = (await list()).items;
    expect(held).toMatchObject({
      kind: "goodwill_unclear",
      goodwill: { days: 2, at: times.keptEnd, lackingEnd: null },
      goodwillDays: null,
    });
    expect((await sql.heldBackOf(engine.db, "production", "8"))[0]).toMatchObject(unclear);
    await replace([{ ...record("8", 1), goodwillDays: 3 }]);
    expect((await list()).items).toMatchObject([{ kind: "goodwill", goodwill: null, goodwillDays: 3 }]);
    const neither = { ...record("8", 1), rowEnd: times.keptEnd };
    await replace([neither]);
    const endsNow = { kind: "reversed", rowEnd: times.keptEnd, endsRunning: true, topUp: null };
    expect((await list()).items).toMatchObject([endsNow]);
    expect((await sql.heldBackOf(engine.db, "production", "8"))[0]).toMatchObject(neither);
    await replace([{ ...neither, statedEnd: "2026-12-01 00:00:00" }]);
    expect((await list()).items).toMatchObject([{ endsRunning: false }]);
    opened.now += 1;
    const records = [record("1", 1), record("2", 2), record("1", 3), { ...record("3", 4), statedEnd: times.keptEnd }];
    await replace(records);
    await replace([{ ...record("1", 1), environment: "trial" }], "trial");
    const first = await list({ limit: 2 });
    expect(first.items.map(({ cuid, line }) => [cuid, line])).toEqual([
      ["1", 1],
      ["2", 2],
    ]);
    const next = await list({ limit: 2, cursor: first.cursor });
    expect(next.items.map(({ cuid, line }) => [cuid, line])).toEqual([
      ["1", 3],
      ["3", 4],
    ]);
    expect(next.cursor).toBeNull();
    await replace([...records, { ...record("4", 5), txnId: undefined }]);
    const totals = [
      { kind: "goodwill", count: 1 },
      { kind: "top_up", count: 4 },
    ];
    expect(await list({ kind: "goodwill" })).toMatchObject({ items: [{ cuid: "4" }], count: 1, totals });
    await replace(records);
    expect(await refusal(leave(former))).toMatchObject({ code: "conflict" });
    await leave((await list()).items[0]?.id);
    const [entry] = await listEntries(engine.db, {}, 1);
    expect(entry).toMatchObject({ action: "held_back.keep", subject: "production 1 held back", author: "maya" });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ "internet net-1: Fiber": times.keptEnd });
    const counts = async () => [
      await sql.countHeldBack(engine.db, "production"),
      await sql.countHeldBack(engine.db, "trial"),
    ];
    expect(await counts()).toEqual([2, 1]);
    await replace([record("8", 1)], "production", new Set(["1", "3", "8"]));
    expect((await list()).items.map(({ cuid }) => cuid)).toEqual(["2", "8"]);
    await replace([]);
    expect(await counts()).toEqual([0, 1]);
  });
}
