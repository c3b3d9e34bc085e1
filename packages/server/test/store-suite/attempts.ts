import { expect, test } from "vitest";
import { countAttempts, readAttempts } from "../../src/office/customers/attempts-sql.ts";
import { ATTEMPTS_KEPT_MS, type Attempt, type HeldBackRecord, MOST_ATTEMPTS } from "../../src/store/staff.ts";
import { countRows, type MakeDatabase, openStore, START } from "./database.ts";

const PAGE = { before: undefined, limit: 100 };
const PRODUCTION = { environment: "production" } as const;

function attempt(requestId: string, more: Partial<Attempt> = {}): Attempt {
  const of = { partnerId: 1, environment: "production", operation: "top-up", reason: "unknown_bouquet" } as const;
  return { at: START, ...of, code: "2000001", requestId, ...more };
}

/** Refused calls of partners, and what is kept of imports and backups. */
export function testAttempts(makeDatabase: MakeDatabase): void {
  test("attempts of many processes are listed newest first, by what is asked for", async () => {
    const { store, another } = await openStore(makeDatabase);
    const all = [store, await another(), await another()];
    const portion = (name: number) => Array.from({ length: 600 }, (_, index) => attempt(`${name}-${index}`));
    await Promise.all(all.map((each, index) => each.recordAttempts(portion(index))));
    const last = attempt("last", { partnerId: 2, code: undefined, reason: "expired_token", at: START + 5 });
    await store.recordAttempts([last, attempt("trial", { environment: "trial", code: "7" })]);
    const [first, second] = await readAttempts(store.engine.db, PRODUCTION, { before: undefined, limit: 2 });
    expect(first).toEqual({ ...last, id: expect.any(Number) });
    const older = await readAttempts(store.engine.db, PRODUCTION, { before: first?.id, limit: 3_000 });
    expect([older[0], older.length]).toEqual([second, 1_800]);
    expect(new Set(older.map(({ id }) => id)).size).toBe(1_800);
    const found = async (filter: object) =>
      (await readAttempts(store.engine.db, { ...PRODUCTION, ...filter }, PAGE)).length;
    expect(await found({ codes: ["7", "2000001"] })).toBe(100);
    expect(await found({ codes: ["7"] })).toBe(0);
    expect(await found({ codes: [] })).toBe(0);
    expect(await found({ environment: "trial", codes: ["7"] })).toBe(1);
    expect(await found({ partnerId: 2 })).toBe(1);
    expect(await found({ reason: "expired_token", partnerId: 1 })).toBe(0);
    const counted = { reason: "unknown_bouquet", count: 1_800 };
    const expired = { reason: "expired_token", count: 1 };
    expect(await countAttempts(store.engine.db, PRODUCTION, START)).toEqual([counted, expired]);
    expect(await countAttempts(store.engine.db, PRODUCTION, START + 5)).toEqual([expired]);
    expect(await countAttempts(store.engine.db, { ...PRODUCTION, partnerId: 1 }, START)).toEqual([counted]);
  });

  test("attempts go when they are too old or too many, and no other", async () => {
    const opened = await openStore(makeDatabase);
    const { store, database } = opened;
    await store.recordAttempts([attempt("a"), attempt("b", { at: START + 1 })]);
    await store.recordAttempts([attempt("c", { at: START + ATTEMPTS_KEPT_MS })]);
    expect(await countRows(opened, "attempt")).toBe(3);
    await store.recordAttempts([attempt("d", { at: START + ATTEMPTS_KEPT_MS + 1 })]);
    const kept = async () => (await readAttempts(store.engine.db, PRODUCTION, PAGE)).map(({ requestId }) => requestId);
    expect(await kept()).toEqual(["d", "c", "b"]);
    await database.tamper(`UPDATE attempt SET id = ${MOST_ATTEMPTS + 2} WHERE request_id = 'd'`);
    await store.recordAttempts([attempt("e", { at: START + ATTEMPTS_KEPT_MS + 1 })]);
    expect(await kept()).toEqual(["e", "d"]);
  });

  test("the last 50 imports stay, each with how it ended, and when the last backup was taken", async () => {
    const { store } = await openStore(makeDatabase);
    const run = {
      kind: "customers",
      ...PRODUCTION,
      author: "maya",
      file: "a.csv",
      asOf: undefined,
      startedAt: START,
    } as const;
    const ids: number[] = [];
    for (let index = 0; index < 52; index += 1) ids.push(await store.importRuns.begin(run));
    const ended = {
      endedAt: START + 9,
      outcome: "done",
      report: { rows: 3, dryRun: false },
      problem: undefined,
    } as const;
    const refused = { endedAt: START + 9, outcome: "refused", report: undefined, problem: "3 lines are bad" } as const;
    await store.importRuns.end(ids[50] ?? 0, ended);
    await store.importRuns.end(ids[49] ?? 0, refused);
    const [newest, second, ...others] = await store.importRuns.list();
    expect(newest).toEqual({
      id: ids[51],
      ...run,
      endedAt: undefined,
      outcome: "running",
      report: undefined,
      problem: undefined,
    });
    expect(second).toEqual({ id: ids[50], ...run, ...ended });
    expect(others[0]).toEqual({ id: ids[49], ...run, ...refused });
    expect([others.length, others.at(-1)?.id]).toEqual([48, ids[2]]);
    // Nobody runs any more what another one of its kind came after.
    expect(others[1]).toMatchObject({ outcome: "failed", endedAt: START });
    expect(await store.importRuns.lastBackupAt()).toBeUndefined();
    await store.importRuns.noteBackup(START);
    await store.importRuns.noteBackup(START + 1);
    expect(await store.importRuns.lastBackupAt()).toBe(START + 1);
  });

  test("what an import held back takes the place of what the one before did, under other numbers", async () => {
    const opened = await openStore(makeDatabase);
    const { store } = opened;
    const of = { ...PRODUCTION, service: "internet", plan: "Fiber", bouquetCode: "NET-1M" } as const;
    const times = { keptEnd: "2027-01-01 00:00:00", statedEnd: undefined, txnId: "T1" };
    const none = { goodwillDays: undefined, goodwill: undefined };
    const record = (cuid: string, line: number): HeldBackRecord => ({
      ...{ ...of, ...times, ...none, cuid, reqId: `net-${cuid}`, line, sourceRow: `{"cuid":"${cuid}"}` },
    });
    const runs = store.importRuns;
    const list = (after?: number, limit = 10) => runs.listHeldBack("production", { after, limit });
    await runs.replaceHeldBack("production", [record("9", 1)]);
    const [former] = await list();
    await runs.settleHeldBack("production", "9", undefined);
    const unclear = { goodwill: { days: 2, at: times.keptEnd, lackingEnd: undefined } };
    for (const goodwill of [unclear, { goodwillDays: 3 }]) {
      await runs.replaceHeldBack("production", [{ ...record("8", 1), ...goodwill }]);
      expect(await list()).toMatchObject([goodwill]);
    }
    opened.now += 1;
    const records = [record("1", 1), record("2", 2), record("1", 3), { ...record("3", 4), statedEnd: times.keptEnd }];
    await runs.replaceHeldBack("production", records);
    await runs.replaceHeldBack("trial", [{ ...record("1", 1), environment: "trial" }]);
    const [first, second] = await list(undefined, 2);
    expect([former, first, second]).toEqual([record("9", 1), record("1", 1), record("2", 2)].map(withId));
    expect(await runs.findHeldBack(former?.id ?? 0)).toBeUndefined();
    expect(await runs.findHeldBack(second?.id ?? 0)).toEqual(second);
    expect(await list(second?.id)).toEqual(records.slice(2).map(withId));
    await runs.settleHeldBack("production", "1", undefined);
    expect([await runs.countHeldBack("production"), await runs.countHeldBack("trial")]).toEqual([2, 1]);
    await runs.replaceHeldBack("production", []);
    expect(await list()).toEqual([]);
  });
}

function withId(record: HeldBackRecord) {
  return { ...record, id: expect.any(Number) };
}
