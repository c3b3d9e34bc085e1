import { describe, expect, test } from "vitest";
import type { TopUpCommand, Transaction } from "../../src/domain/top-up.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { QUARTERLY } from "./builders.ts";
import { commandWith, decide, NOW, refusal, snapshotWith } from "./purchase.ts";

function recordedTopUp(): Transaction {
  const outcome = decide(snapshotWith());
  if (outcome.kind !== "recorded") throw new Error("the top-up is not recorded");
  return outcome.transaction;
}

const RECORDED = recordedTopUp();
const AFTER_TOP_UP = snapshotWith({ recorded: RECORDED });

describe("a checkout that was used", () => {
  test("answers the same request with the very same transaction, and grants nothing more", () => {
    const again = commandWith({ txnId: "TXN2" });
    expect(decide(AFTER_TOP_UP, again, NOW + 1000)).toEqual({ kind: "replayed", transaction: RECORDED });
  });

  test("answers the same request long after it has expired", () => {
    const outcome = decide(AFTER_TOP_UP, commandWith(), NOW + 400 * DAY_MS);
    expect(outcome).toEqual({ kind: "replayed", transaction: RECORDED });
  });

  test("answers the same request though customer, connection and catalogue are gone", () => {
    const gone = { customerStatus: undefined, connection: undefined, catalogue: () => undefined };
    expect(decide({ recorded: RECORDED, retired: true, prunedBefore: () => NOW, ...gone })).toEqual({
      kind: "replayed",
      transaction: RECORDED,
    });
  });

  test("answers the same request with other free texts by the ones that were recorded", () => {
    const outcome = decide(AFTER_TOP_UP, commandWith({ udf1: "order 2", udf2: "x" }));
    expect(outcome).toEqual({ kind: "replayed", transaction: RECORDED });
  });

  test("answers with a reversal where there was one", () => {
    const reversed = { ...RECORDED, status: "reversed" } as const;
    expect(decide(snapshotWith({ recorded: reversed }))).toEqual({ kind: "replayed", transaction: reversed });
  });

  test.each<[string, Partial<TopUpCommand>]>([
    ["customer", { cuid: "7002" }],
    ["service", { service: "iptv" }],
    ["connection", { reqId: "fiber2" }],
    ["bouquet", { bouquetCode: QUARTERLY.code }],
    ["amount", { amount: RECORDED.amount + 1n }],
    ["environment", { environment: "trial" }],
  ])("is refused as used for another %s, expired or not", (_what, change) => {
    expect(decide(AFTER_TOP_UP, commandWith(change))).toEqual(refusal("checkout_used"));
    expect(decide(AFTER_TOP_UP, commandWith(change), NOW + DAY_MS)).toEqual(refusal("checkout_used"));
  });

  test("is unknown to another partner, even for the same request", () => {
    expect(decide(AFTER_TOP_UP, commandWith({ partnerId: 8 }))).toEqual(refusal("checkout_unknown"));
    expect(decide(AFTER_TOP_UP, commandWith({ partnerId: 8, amount: 1n }))).toEqual(refusal("checkout_unknown"));
  });
});
