import { describe, expect, test } from "vitest";
import { historyImported, layHistory, type OnRecord } from "../../src/domain/history.ts";
import type { HistoricTopUp } from "../../src/domain/history-row.ts";
import type { Transaction } from "../../src/domain/top-up.ts";

const NOTHING: OnRecord = { topUps: new Map(), checkoutIds: new Map(), retired: new Set(), prunedBefore: undefined };
const AT = Date.UTC(2026, 10, 20, 9);
const REVERSAL = { at: AT + 1_000, author: "maya", reason: "paid twice" };

/** A checkoutId that was issued at a time. */
function checkoutId(issuedAt: number): string {
  const bytes = Buffer.alloc(48, 7);
  bytes.writeUIntBE(issuedAt, 1, 6);
  return bytes.toString("base64url");
}

function topUp(changes: Partial<Transaction> = {}, reversal?: HistoricTopUp["reversal"]): HistoricTopUp {
  const key = { environment: "production", cuid: "7", service: "tv", reqId: "00077" } as const;
  const ids = { checkoutId: checkoutId(AT), txnId: "01M7W2Y7M0D61P39294S26KB1Y", partnerId: 1 };
  const what = { bouquetCode: "TV-1M", amount: 45_000n, at: AT, udf1: "a", udf2: undefined };
  const status = reversal === undefined ? "success" : "reversed";
  return { transaction: { ...ids, ...key, ...what, status, imported: true, ...changes }, reversal };
}

function onRecord(recorded: HistoricTopUp, more: Partial<OnRecord> = {}): OnRecord {
  const { checkoutId: id, txnId } = recorded.transaction;
  return { ...NOTHING, topUps: new Map([[id, recorded]]), checkoutIds: new Map([[txnId, id]]), ...more };
}

const effect = (record: OnRecord, stated: HistoricTopUp) => layHistory(record, [stated]).effects[0];

function fieldsRefused(record: OnRecord, stated: HistoricTopUp): string[] {
  const found = effect(record, stated);
  return found?.kind === "refused" ? found.problems.map(({ field }) => field) : [];
}

describe("a top-up of another topupd", () => {
  test("is added where nothing of it is on record", () => {
    expect(layHistory(NOTHING, [topUp()])).toMatchObject({ effects: [{ kind: "added" }], added: [topUp()] });
  });

  test("is unchanged where it is on record just so, an empty udf being none", () => {
    expect(effect(onRecord(topUp()), topUp())).toEqual({ kind: "unchanged" });
    expect(effect(onRecord(topUp({ udf2: "" })), topUp())).toEqual({ kind: "unchanged" });
    expect(effect(onRecord(topUp({}, REVERSAL)), topUp({}, REVERSAL))).toEqual({ kind: "unchanged" });
  });

  test("is unchanged where a file does not know yet that it was taken back", () => {
    expect(effect(onRecord(topUp({}, REVERSAL)), topUp())).toEqual({ kind: "unchanged" });
  });

  test("is changed once it is taken back where it comes from", () => {
    const stated = topUp({}, REVERSAL);
    expect(layHistory(onRecord(topUp()), [stated])).toMatchObject({
      effects: [{ kind: "changed" }],
      reversed: [stated],
    });
  });

  test.each<[string, Partial<Transaction>]>([
    ["txnId", { txnId: "01M7W2Y7M0D61P39294S26KB1Z" }],
    ["partner", { partnerId: 2 }],
    ["environment", { environment: "trial" }],
    ["cuid", { cuid: "8" }],
    ["service", { service: "iptv" }],
    ["reqId", { reqId: "00078" }],
    ["bouquetId", { bouquetCode: "TV-3M" }],
    ["amount", { amount: 45_001n }],
    ["at", { at: AT + 1 }],
    ["udf1", { udf1: "b" }],
    ["udf2", { udf2: "b" }],
  ])("is refused where its %s is another than on record", (field, changes) => {
    expect(fieldsRefused(onRecord(topUp()), topUp(changes))).toEqual([field]);
  });

  test.each([
    ["reversedAt", { at: AT + 2_000 }],
    ["reversedBy", { author: "anita" }],
    ["reversalReason", { reason: "another" }],
  ])("is unchanged where it was taken back at both places, and otherwise: %s", (_, changes) => {
    const taken = topUp({}, { ...REVERSAL, ...changes });
    expect(effect(onRecord(topUp({}, REVERSAL)), taken)).toEqual({ kind: "unchanged" });
  });

  test("is refused with the txnId of another, on record or before it in the file", () => {
    const other = topUp({ checkoutId: checkoutId(AT + 1) });
    expect(fieldsRefused(onRecord(topUp()), other)).toEqual(["txnId"]);
    expect(layHistory(NOTHING, [topUp(), other, topUp()]).effects.map(({ kind }) => kind)).toEqual([
      "added",
      "refused",
      "unchanged",
    ]);
  });

  test("is refused where a partner was told that it never was", () => {
    const { checkoutId: id } = topUp().transaction;
    expect(fieldsRefused({ ...NOTHING, retired: new Set([id]) }, topUp())).toEqual(["checkoutId"]);
  });

  test("is refused from before the horizon, unless it is still on record", () => {
    expect(fieldsRefused({ ...NOTHING, prunedBefore: AT + 1 }, topUp())).toEqual(["at"]);
    const issuedBefore = topUp({ checkoutId: checkoutId(AT - 1_000) });
    expect(fieldsRefused({ ...NOTHING, prunedBefore: AT }, issuedBefore)).toEqual(["at"]);
    expect(effect({ ...NOTHING, prunedBefore: AT }, topUp())).toEqual({ kind: "added" });
    expect(effect(onRecord(topUp(), { prunedBefore: AT + 1 }), topUp())).toEqual({ kind: "unchanged" });
  });

  test("that was made here is unchanged, and what takes it back is told apart", () => {
    const { imported: _, ...native } = topUp().transaction;
    const here = onRecord({ transaction: native, reversal: undefined });
    expect(effect(here, topUp())).toEqual({ kind: "unchanged" });
    expect(effect(here, topUp({}, REVERSAL))).toEqual({ kind: "own_reversal", reversal: REVERSAL });
    const twice = layHistory(here, [topUp({}, REVERSAL), topUp({}, REVERSAL)]);
    expect(twice).toMatchObject({
      effects: [{ kind: "own_reversal" }, { kind: "unchanged" }],
      added: [],
      reversed: [],
    });
    expect(fieldsRefused(here, topUp({}, { ...REVERSAL, at: AT }))).toEqual(["reversedAt"]);
    expect(fieldsRefused({ ...here, prunedBefore: REVERSAL.at + 1 }, topUp({}, REVERSAL))).toEqual(["reversedAt"]);
    expect(fieldsRefused(here, topUp({ amount: 1n }, REVERSAL))).toEqual(["amount"]);
  });

  test("leaves an entry in the audit trail, and none where nothing changed", () => {
    expect(historyImported("production", { added: [], reversed: [] })).toEqual([]);
    const later = topUp({ checkoutId: checkoutId(AT + 1), txnId: "01M7W2Y7M0D61P39294S26KB1Z" }, REVERSAL);
    expect(historyImported("production", { added: [later, topUp()], reversed: [] })).toEqual([
      {
        ...{ action: "transactions.import", subject: "production", before: undefined },
        after: {
          added: { topUps: 2, amount: 90_000n, first: topUp().transaction.txnId, last: later.transaction.txnId },
        },
      },
    ]);
    expect(historyImported("production", { added: [], reversed: [later] })).toMatchObject([
      { before: { status: "success" }, after: { status: "reversed", reversed: [later.transaction.txnId] } },
    ]);
  });
});
