import { describe, expect, test } from "vitest";
import type { TokenState } from "../../src/domain/access-token.ts";
import { NO_TERMS } from "../../src/domain/account.ts";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import type { Connection, WireStatus } from "../../src/domain/customer.ts";
import type { Refusal } from "../../src/domain/failure.ts";
import type { TopUpCommand, TopUpSnapshot } from "../../src/domain/top-up.ts";
import { formatTransactionId, type Transaction } from "../../src/domain/transaction.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import {
  ADD_ON,
  connectionHaving,
  connectionWith,
  labelOf,
  MONTHLY,
  momentOf,
  monthFrom,
  QUARTERLY,
} from "./builders.ts";
import { commandWith, decide, FIBER, GOOD_TOKEN, ISSUED_AT, NOW, refusal, snapshotWith } from "./purchase.ts";

const RUNNING = monthFrom("2026-11-01");
const LAPSED = monthFrom("2026-09-01");
const WALL = "2026-11-20 09:01:00";
const TXN_ID = formatTransactionId(NOW, "0000000000000042");

const EXPIRED = { retiredAt: NOW, refused: undefined };

const decideOn = (connection: Connection, command = commandWith()) => decide(snapshotWith({ connection }), command);

describe("a top-up", () => {
  test("is recorded with all that was asked, and grants one period from now", () => {
    const command = commandWith();
    expect(decide(snapshotWith(), command)).toEqual({
      kind: "recorded",
      transaction: {
        ...FIBER,
        checkoutId: command.checkoutId,
        txnId: TXN_ID,
        partnerId: 7,
        bouquetCode: "NET-1M",
        amount: 113_000n,
        commission: 0n,
        at: NOW,
        txnDate: WALL,
        status: "success",
        udf1: "order 1",
        udf2: undefined,
      },
      plan: "Fiber 100",
      account: undefined,
      entry: {
        kind: "top_up",
        seq: 1,
        at: momentOf(NOW),
        txnId: TXN_ID,
        bouquet: labelOf(MONTHLY),
        period: { months: 1, days: 0 },
        after: {
          plan: "Fiber 100",
          bouquet: labelOf(MONTHLY),
          ...{ start: WALL, anchor: WALL, months: 1, days: 0, end: "2026-12-20 09:01:00" },
          ...{ isInclusive: false, since: 1, goodwillDays: 0 },
        },
      },
    });
  });

  test("extends the running subscription of its plan, whatever its period, by the ledger's next entry", () => {
    const command = commandWith({ bouquetCode: QUARTERLY.code, amount: QUARTERLY.price });
    const after = { start: RUNNING.start, end: "2027-03-01 00:00:00", bouquet: labelOf(QUARTERLY), since: 1 };
    expect(decideOn(connectionHaving([RUNNING]), command)).toMatchObject({ entry: { seq: 2, after } });
  });

  test("leaves the subscriptions of other plans alone", () => {
    const other = { ...RUNNING, plan: "Fiber 500" };
    expect(decideOn(connectionHaving([other]))).toMatchObject({
      plan: "Fiber 100",
      entry: { seq: 1, after: { start: WALL } },
    });
  });

  test("of another base plan is refused where the service has one base plan at a time", () => {
    const snapshot = snapshotWith({ connection: connectionHaving([{ ...RUNNING, plan: "Fiber 500" }]) });
    const outcome = decide(snapshot, commandWith(), NOW, { basePlans: DEFAULT_BASE_PLANS });
    expect(outcome).toEqual(refusal("bouquet_unavailable"));
  });

  test("brings a lapsed connection back, also one that is imported as inactive", () => {
    const back = { kind: "recorded", entry: { seq: 2, after: { start: WALL, since: 2 } } };
    expect(decideOn(connectionHaving([LAPSED]))).toMatchObject(back);
    expect(decideOn(connectionHaving([LAPSED], { status: "inactive" }))).toMatchObject(back);
  });

  test("of an add-on is taken while a base subscription runs", () => {
    const command = commandWith({ bouquetCode: ADD_ON.code, amount: ADD_ON.price });
    const after = { plan: ADD_ON.plan, start: WALL, bouquet: labelOf(ADD_ON) };
    expect(decideOn(connectionHaving([RUNNING]), command)).toMatchObject({ plan: ADD_ON.plan, entry: { after } });
  });

  test("is taken in the last millisecond of the five minutes", () => {
    const last = ISSUED_AT + 300_000;
    expect(decide(snapshotWith(), commandWith(), last)).toMatchObject({ kind: "recorded", transaction: { at: last } });
    expect(decide(snapshotWith(), commandWith(), last + 1)).toEqual({
      ...refusal("checkout_expired"),
      retired: { retiredAt: last + 1 },
    });
  });

  test("costs what the checkout's own revision says, though a newer one has another price", () => {
    const quoted = snapshotWith({ catalogue: () => ({ revision: 1, bouquets: [{ ...MONTHLY, price: 100_000n }] }) });
    const outcome = decide(quoted, commandWith({ amount: 100_000n }));
    expect(outcome).toMatchObject({ kind: "recorded", transaction: { amount: 100_000n } });
    expect(decide(quoted, commandWith({ amount: MONTHLY.price }))).toEqual(refusal("amount_mismatch"));
  });
});

const GOLD = { ...MONTHLY, segments: ["gold"] };
const FOR_EVER = connectionHaving([monthFrom("9999-12-15")]);
const asksForAddOn = { bouquetCode: ADD_ON.code, amount: ADD_ON.price };

describe("a top-up is refused, and nothing is written", () => {
  test.each<[string, string, Partial<TopUpSnapshot>, Partial<TopUpCommand>]>([
    ["for another customer than the checkout's", "checkout_mismatch", {}, { cuid: "7002" }],
    ["for another service than the checkout's", "checkout_mismatch", {}, { service: "iptv" }],
    ["for another connection than the checkout's", "checkout_mismatch", {}, { reqId: "fiber2" }],
    ["for a customer who is gone", "customer_not_found", { customerStatus: undefined }, {}],
    ["for an inactive customer", "customer_inactive", { customerStatus: "inactive" }, {}],
    ["for a connection that is gone", "connection_not_found", { connection: undefined }, {}],
    ["for a blocked connection", "connection_blocked", { connection: connectionWith({ status: "blocked" }) }, {}],
    ["for one that staff have blocked", "connection_blocked", { connection: connectionWith({ blocked: true }) }, {}],
    ["without the catalogue of the quote", "bouquet_unavailable", { catalogue: () => undefined }, {}],
    ["for a bouquet that was not quoted", "bouquet_unavailable", {}, { bouquetCode: "NET-9M" }],
    [
      "for a bouquet of another segment",
      "bouquet_unavailable",
      { catalogue: () => ({ revision: 1, bouquets: [GOLD] }), connection: connectionWith({ segment: "silver" }) },
      {},
    ],
    ["for an add-on without a base subscription", "bouquet_unavailable", {}, asksForAddOn],
    ["for what would end beyond the wire's last day", "bouquet_unavailable", { connection: FOR_EVER }, {}],
    ["for a checkout that was given up", "checkout_expired", { retired: EXPIRED }, {}],
    ["for too little", "amount_mismatch", {}, { amount: MONTHLY.price - 1n }],
    ["for too much", "amount_mismatch", {}, { amount: MONTHLY.price + 1n }],
    ["for nothing", "amount_mismatch", {}, { amount: 0n }],
  ])("%s: %s", (_what, reason, snapshot, command) => {
    expect(decide(snapshotWith(snapshot), commandWith(command))).toMatchObject(refusal(reason));
  });

  test("and the checkout is still good for the right request", () => {
    expect(decide(snapshotWith(), commandWith({ amount: 1n }))).toEqual(refusal("amount_mismatch"));
    expect(decide(snapshotWith(), commandWith(), NOW + 1)).toMatchObject({ kind: "recorded" });
  });
});

describe("a checkout from before the horizon", () => {
  const AFTER = ISSUED_AT + 300_001;
  const [gone, kept] = [() => ISSUED_AT + 1, () => ISSUED_AT];

  test("is unknown once it has expired, and nothing is written of it", () => {
    expect(decide(snapshotWith({ prunedBefore: gone }), commandWith(), AFTER)).toEqual(refusal("checkout_unknown"));
  });

  test("is unknown though it is still on record that it was retired", () => {
    expect(decide(snapshotWith({ prunedBefore: gone, retired: EXPIRED }))).toEqual(refusal("checkout_unknown"));
  });

  test("is one that was issued before it, and not at it", () => {
    const outcome = decide(snapshotWith({ prunedBefore: kept }), commandWith(), AFTER);
    expect(outcome).toEqual({ ...refusal("checkout_expired"), retired: { retiredAt: AFTER } });
  });

  test("is not asked about where the checkout is still good", () => {
    const prunedBefore = () => {
      throw new Error("the horizon was asked for");
    };
    expect(decide(snapshotWith({ prunedBefore }))).toMatchObject({ kind: "recorded" });
  });
});

describe("where a request is wrong in everything", () => {
  test("the questions come in order: expired, mismatch, customer, connection, bouquet, amount", () => {
    let request = {
      now: ISSUED_AT + 300_001,
      cuid: "7002",
      customerStatus: undefined as WireStatus | undefined,
      connection: undefined as Connection | undefined,
      bouquetCode: "NET-9M",
      amount: 1n,
    };
    const fixes: [string, Partial<typeof request>][] = [
      ["checkout_expired", {}],
      ["checkout_mismatch", { now: NOW }],
      ["customer_not_found", { cuid: "7001" }],
      ["customer_inactive", { customerStatus: "inactive" }],
      ["connection_not_found", { customerStatus: "active" }],
      ["connection_blocked", { connection: connectionWith({ status: "blocked" }) }],
      ["bouquet_unavailable", { connection: connectionWith() }],
      ["amount_mismatch", { bouquetCode: MONTHLY.code }],
    ];
    for (const [reason, fix] of fixes) {
      request = { ...request, ...fix };
      const { now, customerStatus, connection, ...command } = request;
      expect(decide(snapshotWith({ customerStatus, connection }), commandWith(command), now)).toMatchObject(
        refusal(reason),
      );
    }
  });
});

describe("the catalogue of a quote", () => {
  test("is not read before the decision comes to it", () => {
    const catalogue = () => {
      throw new Error("the catalogue was read for nothing");
    };
    expect(decide(snapshotWith({ catalogue, customerStatus: "inactive" }))).toEqual(refusal("customer_inactive"));
  });
});

describe("a top-up whose partner lost its rights since it was admitted", () => {
  const gone: readonly (readonly [TokenState | undefined, Refusal])[] = [
    [{ ...GOOD_TOKEN, revokedAt: NOW - 1 }, "revoked_token"],
    [{ ...GOOD_TOKEN, expiresAt: NOW }, "expired_token"],
    [{ ...GOOD_TOKEN, partner: { status: "suspended", terms: NO_TERMS } }, "partner_suspended"],
    [undefined, "unknown_token"],
  ];

  test.each(gone)("is refused, and retires nothing: %j", (token, reason) => {
    expect(decide(snapshotWith({ token: () => token }))).toEqual(refusal(reason));
    expect(decide(snapshotWith({ token: () => token }), commandWith(), NOW + DAY_MS)).toEqual(refusal(reason));
  });

  test("is answered again if it was recorded before", () => {
    const token = () => undefined;
    expect(decide({ ...AFTER_TOP_UP, token })).toEqual({ kind: "replayed", transaction: RECORDED });
  });
});

function recordedTopUp(): Transaction {
  const outcome = decide(snapshotWith());
  if (outcome.kind !== "recorded") throw new Error("the top-up is not recorded");
  return outcome.transaction;
}

const RECORDED = recordedTopUp();
const AFTER_TOP_UP = snapshotWith({ recorded: RECORDED });

describe("a checkout that was used", () => {
  test("answers the same request with the very same transaction, and grants nothing more", () => {
    const again = commandWith({ txnDigits: "0000000000000043" });
    expect(decide(AFTER_TOP_UP, again, NOW + 1000)).toEqual({ kind: "replayed", transaction: RECORDED });
  });

  test("answers the same request long after it has expired", () => {
    const outcome = decide(AFTER_TOP_UP, commandWith(), NOW + 400 * DAY_MS);
    expect(outcome).toEqual({ kind: "replayed", transaction: RECORDED });
  });

  test("answers the same request though customer, connection and catalogue are gone", () => {
    const gone = {
      token: () => undefined,
      account: () => undefined,
      soldToday: () => ({ topUps: 0, gross: 0n }),
      customerStatus: undefined,
      connection: undefined,
      catalogue: () => undefined,
    };
    expect(decide({ recorded: RECORDED, retired: EXPIRED, prunedBefore: () => NOW, ...gone })).toEqual({
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
