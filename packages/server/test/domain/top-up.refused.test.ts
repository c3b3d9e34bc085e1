import { describe, expect, test } from "vitest";
import type { Connection, WireStatus } from "../../src/domain/customer.ts";
import type { TopUpCommand, TopUpSnapshot } from "../../src/domain/top-up.ts";
import { LAST_WALL_TIME } from "../../src/domain/wall-time.ts";
import { ADD_ON, connectionHaving, connectionWith, MONTHLY, monthFrom } from "./builders.ts";
import { commandWith, decide, ISSUED_AT, NOW, refusal, snapshotWith } from "./purchase.ts";

const LAPSED = monthFrom("2026-09-01");
const GOLD = { ...MONTHLY, segments: ["gold"] };
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
    [
      "for an add-on after the base subscription has ended",
      "bouquet_unavailable",
      { connection: connectionHaving([LAPSED]) },
      asksForAddOn,
    ],
    ["for a checkout that was given up", "checkout_expired", { retired: true }, {}],
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
  const EXPIRED = ISSUED_AT + 300_001;
  const [gone, kept] = [() => ISSUED_AT + 1, () => ISSUED_AT];

  test("is unknown once it has expired, and nothing is written of it", () => {
    expect(decide(snapshotWith({ prunedBefore: gone }), commandWith(), EXPIRED)).toEqual(refusal("checkout_unknown"));
  });

  test("is unknown though it is still on record that it was retired", () => {
    expect(decide(snapshotWith({ prunedBefore: gone, retired: true }))).toEqual(refusal("checkout_unknown"));
  });

  test("is one that was issued before it, and not at it", () => {
    const outcome = decide(snapshotWith({ prunedBefore: kept }), commandWith(), EXPIRED);
    expect(outcome).toEqual({ ...refusal("checkout_expired"), retires: true });
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
    const mends: [string, Partial<typeof request>][] = [
      ["checkout_expired", {}],
      ["checkout_mismatch", { now: NOW }],
      ["customer_not_found", { cuid: "7001" }],
      ["customer_inactive", { customerStatus: "inactive" }],
      ["connection_not_found", { customerStatus: "active" }],
      ["connection_blocked", { connection: connectionWith({ status: "blocked" }) }],
      ["bouquet_unavailable", { connection: connectionWith() }],
      ["amount_mismatch", { bouquetCode: MONTHLY.code }],
    ];
    for (const [reason, mend] of mends) {
      request = { ...request, ...mend };
      const { now, customerStatus, connection, ...command } = request;
      expect(decide(snapshotWith({ customerStatus, connection }), commandWith(command), now)).toMatchObject(
        refusal(reason),
      );
    }
  });
});

describe("a subscription for ever", () => {
  test("has no more to sell, since the wire could not tell its end", () => {
    const connection = connectionHaving([monthFrom("9999-12-15")]);
    expect(decide(snapshotWith({ connection }))).toEqual(refusal("bouquet_unavailable"));
  });

  test("is sold as far as the last moment that the wire could tell, and no further", () => {
    const upTo = (start: string) => snapshotWith({ connection: connectionHaving([monthFrom(start)]) });
    const recorded = { kind: "recorded", entry: { after: { end: LAST_WALL_TIME } } };
    expect(decide(upTo("9999-10-31 23:59:59"))).toMatchObject(recorded);
    expect(decide(upTo("9999-11-01"))).toEqual(refusal("bouquet_unavailable"));
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
