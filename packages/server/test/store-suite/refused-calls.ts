import { expect, test } from "vitest";
import type { TrialCall } from "../../src/domain/practice.ts";
import { countRefusedCalls, readRefusedCalls } from "../../src/office/customers/refused-call-rows.ts";
import { CALLS_KEPT_MS, MOST_CALLS, practiceCounter } from "../../src/store/calls.ts";
import type { RefusedCall } from "../../src/store/store.ts";
import { countRows, type MakeDatabase, openStore, START } from "./database.ts";

const PAGE = { before: undefined, limit: 100 };
const PRODUCTION = { environment: "production" } as const;

function call(requestId: string, more: Partial<RefusedCall> = {}): RefusedCall {
  const of = { partnerId: 1, environment: "production", operation: "top-up", reason: "unknown_bouquet" } as const;
  return { at: START, ...of, code: "2000001", requestId, ...more };
}

function trialCall(requestId: string, at = START): TrialCall {
  const none = { cuid: undefined, service: undefined, reqId: undefined, bouquetId: undefined, amount: undefined };
  const also = { version: "v1.0.1", retryAfter: undefined };
  return {
    ...none,
    ...also,
    at,
    ms: 1,
    partnerId: 1,
    operation: "txn-status",
    checkoutId: "c",
    outcome: "success",
    requestId,
  };
}

/** Calls of partners that are kept. */
export function testRefusedCalls(makeDatabase: MakeDatabase): void {
  test("refused calls of many processes are listed newest first, by filters", async () => {
    const { store, another } = await openStore(makeDatabase);
    const all = [store, await another(), await another()];
    const portion = (name: number) => Array.from({ length: 600 }, (_, index) => call(`${name}-${index}`));
    await Promise.all(all.map((each, index) => each.recordRefusedCalls(portion(index))));
    const last = call("last", {
      partnerId: 2,
      code: undefined,
      reason: "rate_limited",
      detail: "look-ups",
      at: START + 5,
    });
    await store.recordRefusedCalls([last, call("trial", { environment: "trial", code: "7" })]);
    const [first, second] = await readRefusedCalls(store.engine.db, PRODUCTION, { before: undefined, limit: 2 });
    expect(first).toEqual({ ...last, id: expect.any(Number) });
    const older = await readRefusedCalls(store.engine.db, PRODUCTION, { before: first?.id, limit: 3_000 });
    expect([older[0], older.length]).toEqual([second, 1_800]);
    expect(new Set(older.map(({ id }) => id)).size).toBe(1_800);
    const found = async (filter: object) =>
      (await readRefusedCalls(store.engine.db, { ...PRODUCTION, ...filter }, PAGE)).length;
    expect(await found({ codes: ["7", "2000001"] })).toBe(100);
    expect(await found({ codes: ["7"] })).toBe(0);
    expect(await found({ codes: [] })).toBe(0);
    expect(await found({ environment: "trial", codes: ["7"] })).toBe(1);
    expect(await found({ partnerId: 2 })).toBe(1);
    expect(await found({ reason: "rate_limited", partnerId: 1 })).toBe(0);
    const counted = { reason: "unknown_bouquet", count: 1_800 };
    const expired = { reason: "rate_limited", count: 1 };
    expect(await countRefusedCalls(store.engine.db, { ...PRODUCTION, from: START })).toEqual([counted, expired]);
    expect(await countRefusedCalls(store.engine.db, { ...PRODUCTION, from: START + 5 })).toEqual([expired]);
    expect(await countRefusedCalls(store.engine.db, { ...PRODUCTION, partnerId: 1, from: START })).toEqual([counted]);
  });

  test("refused calls go when they are too old or too many, and no other", async () => {
    const opened = await openStore(makeDatabase);
    const { store, database } = opened;
    await store.recordRefusedCalls([call("a"), call("b", { at: START + 1 })]);
    await store.recordRefusedCalls([call("c", { at: START + CALLS_KEPT_MS })]);
    expect(await countRows(opened, "refused_call")).toBe(3);
    await store.recordRefusedCalls([call("d", { at: START + CALLS_KEPT_MS + 1 })]);
    const kept = async () =>
      (await readRefusedCalls(store.engine.db, PRODUCTION, PAGE)).map(({ requestId }) => requestId);
    expect(await kept()).toEqual(["d", "c", "b"]);
    await database.tamper(`UPDATE refused_call SET id = ${MOST_CALLS + 2} WHERE request_id = 'd'`);
    await store.recordRefusedCalls([call("e", { at: START + CALLS_KEPT_MS + 1 })]);
    expect(await kept()).toEqual(["e", "d"]);
  });

  test("trial calls of many processes are kept, and go when they are too old", async () => {
    const opened = await openStore(makeDatabase);
    const all = [opened.store, await opened.another()];
    await Promise.all(all.map((store, index) => store.recordTrialCalls(Array(600).fill(trialCall(`${index}`)))));
    expect(await countRows(opened, "trial_call")).toBe(1_200);
    await opened.store.recordTrialCalls([trialCall("later", START + CALLS_KEPT_MS + 1)]);
    expect(await countRows(opened, "trial_call")).toBe(1);
  });

  test("processes count the practice top-ups of a checkoutId together, and forget them after a month", async () => {
    const opened = await openStore(makeDatabase);
    const all = [opened.store, await opened.another(), await opened.another()];
    const counted = await Promise.all(all.flatMap((store) => ["a", "a", "b"].map((id) => store.practise(id, START))));
    expect(counted.toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2, 3, 3, 4, 5, 6]);
    expect(await opened.store.practise("b", START + CALLS_KEPT_MS)).toBe(4);
    expect(await opened.store.practise("c", START + CALLS_KEPT_MS + 1)).toBe(1);
    expect(await countRows(opened, "practice_checkout")).toBe(1);
  });

  test("practice top-ups that come together are counted in one transaction, so that they delay no others", async () => {
    const { engine } = (await openStore(makeDatabase)).store;
    let transactions = 0;
    const transact: typeof engine.transact = (work) => {
      transactions += 1;
      return engine.transact(work);
    };
    const practise = practiceCounter({ ...engine, transact });
    const counted = await Promise.all(Array.from({ length: 200 }, (_, index) => practise(`${index % 2}`, START)));
    expect(counted.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, index) => Math.ceil((index + 1) / 2)),
    );
    expect(transactions).toBe(1);
  });
}
