import { describe, expect, test } from "vitest";
import type { RetiredCheckout } from "../../src/domain/checkout.ts";
import type { TopUpSnapshot } from "../../src/domain/top-up.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { LAST_WALL_TIME } from "../../src/domain/wall-time.ts";
import { type SettlingItem, type SettlingReads, type SettlingWrites, settleItem } from "../../src/store/settling.ts";
import { momentOf } from "../domain/builders.ts";
import { commandWith, ISSUED_AT, NOW, snapshotWith } from "../domain/purchase.ts";

const RULES = { basePlans: { tv: "many", internet: "many", iptv: "many" }, latestEnd: LAST_WALL_TIME } as const;
const POOR = { balance: 0n, creditLimit: 0n };
const LATE = ISSUED_AT + 300_001;

/** Settles one item on rows in memory. @returns what it writes. */
function settle(item: SettlingItem, changes: Partial<TopUpSnapshot> = {}, now = NOW) {
  const snapshot = snapshotWith(changes);
  const written: unknown[] = [];
  const read: SettlingReads<TopUpSnapshot> = {
    hasTarget: true,
    takersOf: ({ partnerId, environment }) => [{ id: 7, partner: { partnerId, environment } }],
    snapshot: () => snapshot,
    transaction: () => snapshot.recorded,
    retirement: () => snapshot.retired,
    prunedBefore: snapshot.prunedBefore,
  };
  const write: SettlingWrites<TopUpSnapshot> = {
    record: ({ transaction }) => written.push(["record", transaction.checkoutId]),
    recordSale: ({ checkoutId }, { seller }) => written.push(["sale", checkoutId, seller]),
    appendEvent: ({ kind }) => written.push(["event", kind]),
    tell: ({ kind, targets }) => written.push(["told", kind, ...targets]),
    retire: (checkoutId, retired) => written.push(["retire", checkoutId, retired]),
  };
  const settled = settleItem(read, write, item, momentOf(now), RULES);
  return { settled, written };
}

const topUpOf = (changes: Parameters<typeof commandWith>[0] = {}) =>
  ({ kind: "top_up", command: commandWith(changes) }) as const;
const { checkoutId } = commandWith();

function recordedTopUp(): Transaction {
  return (settle(topUpOf()).settled as { readonly transaction: Transaction }).transaction;
}

describe("a top-up of a batch", () => {
  test("is written with its sale and its event, its partner is told, and it retires nothing", () => {
    const sale = { seller: "mina", method: "cash" } as const;
    const { written } = settle(topUpOf({ sale }));
    expect(written).toEqual([
      ["record", checkoutId],
      ["sale", checkoutId, "mina"],
      ["event", "topup.recorded"],
      ["told", "topup.recorded", 7],
    ]);
    expect(settle(topUpOf()).written).toHaveLength(3);
  });

  test("that is repeated writes nothing", () => {
    const again = settle(topUpOf(), { recorded: recordedTopUp() });
    expect(again).toEqual({ settled: { kind: "replayed", transaction: recordedTopUp() }, written: [] });
  });

  test.each([
    ["the balance", { account: () => POOR }, NOW],
    ["its expiry", {}, LATE],
  ])("that is refused by %s retires its checkout, once however often it is sent", (_, changes, now) => {
    const { settled, written } = settle(topUpOf(), changes, now);
    const retired = (settled as { readonly retired: RetiredCheckout }).retired;
    expect(written).toEqual([["retire", checkoutId, retired]]);
    const again = settle(topUpOf(), { ...changes, retired }, now + 1);
    expect(again.settled).toMatchObject({ kind: "refused", retired });
    expect(again.written).toEqual([]);
  });

  test("that is refused otherwise writes nothing", () => {
    for (const changes of [{ amount: 1n }, { bouquetCode: "NET-9M" }])
      expect(settle(topUpOf(changes)).written).toEqual([]);
  });
});

describe("a conclusion of a batch", () => {
  const DEAD = ISSUED_AT + 360_001;
  const conclusion = { kind: "conclusion", checkoutId } as const;
  const expired = (retiredAt: number) => ({ retiredAt, refused: undefined });

  test("retires an unused checkout once, and again if a clock that was ahead did so too early", () => {
    expect(settle(conclusion, {}, DEAD).written).toEqual([["retire", checkoutId, expired(DEAD)]]);
    expect(settle(conclusion, { retired: expired(DEAD) }, DEAD + 1).written).toEqual([]);
    expect(settle(conclusion, { retired: expired(DEAD - 1) }, DEAD).written).toHaveLength(1);
  });

  test("of a used or pruned checkout writes nothing", () => {
    const recorded = recordedTopUp();
    expect(settle(conclusion, { recorded }, DEAD)).toEqual({ settled: recorded, written: [] });
    const pruned = { prunedBefore: () => ISSUED_AT + 1 };
    expect(settle(conclusion, pruned, DEAD)).toEqual({ settled: "pruned", written: [] });
    expect(settle(conclusion, { prunedBefore: () => ISSUED_AT }, DEAD).settled).toBeUndefined();
  });
});
