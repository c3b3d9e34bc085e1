import { expect, test } from "vitest";
import { countAttempts, readAttempts } from "../../src/office/customers/attempts-sql.ts";
import { ATTEMPTS_KEPT_MS, MOST_ATTEMPTS } from "../../src/store/access.ts";
import type { Attempt } from "../../src/store/store.ts";
import { countRows, type MakeDatabase, openStore, START } from "./database.ts";

const PAGE = { before: undefined, limit: 100 };
const PRODUCTION = { environment: "production" } as const;

function attempt(requestId: string, more: Partial<Attempt> = {}): Attempt {
  const of = { partnerId: 1, environment: "production", operation: "top-up", reason: "unknown_bouquet" } as const;
  return { at: START, ...of, code: "2000001", requestId, ...more };
}

/** Refused calls of partners. */
export function testAttempts(makeDatabase: MakeDatabase): void {
  test("refused calls of many processes are listed newest first, by filters", async () => {
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
}
