import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  balanceState,
  charge,
  endOfLimit,
  type GuardedAccount,
  LIMIT_NAMES,
  NO_SALE_LIMITS,
  NO_TERMS,
  owingOf,
  type PartnerTerms,
} from "../../src/domain/account.ts";
import { type CommissionRule, commissionOf } from "../../src/domain/commission.ts";
import { PRACTICE_CUID } from "../../src/domain/practice.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { MONTHLY, QUARTERLY, RUNS } from "./builders.ts";
import { checkoutFor, commandWith, decide, FIBER, GOOD_TOKEN, NOW, snapshotWith } from "./purchase.ts";

const TODAY = "2026-11-20";
const percentOf = (percent: number): CommissionRule => ({
  service: undefined,
  bouquetCode: undefined,
  percent,
  fixed: undefined,
  from: "2026-01-01",
});
const sale = (amount: bigint) => ({ service: "internet", bouquetCode: "NET-1M", amount }) as const;
const account = (changes: Partial<GuardedAccount> = {}): GuardedAccount => ({
  balance: 50_000n,
  creditLimit: 0n,
  ...changes,
});
const NONE = () => ({ topUps: 0, gross: 0n });
const topUp = (amount: bigint, commission = 0n) => ({ amount, commission });

describe("a charge", () => {
  test("of a prepaid account is taken down to zero, and not below", () => {
    const first = charge(account(), NO_SALE_LIMITS, topUp(45_000n), NONE);
    expect(first).toEqual({ ok: true, balance: 5_000n });
    const second = charge(account({ balance: 5_000n }), NO_SALE_LIMITS, topUp(45_000n), NONE);
    expect(second).toEqual({ ok: false, refusal: "insufficient_balance", missing: 40_000n });
    expect(charge(account({ balance: 45_000n }), NO_SALE_LIMITS, topUp(45_000n), NONE).ok).toBe(true);
  });

  test("is the price less the commission", () => {
    const charged = charge(account(), NO_SALE_LIMITS, topUp(45_000n, 900n), NONE);
    expect(charged).toEqual({ ok: true, balance: 5_900n });
  });

  test("may reach the credit limit", () => {
    const owing = account({ balance: -60_000n, creditLimit: 100_000n });
    expect(charge(owing, NO_SALE_LIMITS, topUp(40_000n), NONE).ok).toBe(true);
    expect(charge(owing, NO_SALE_LIMITS, topUp(40_001n), NONE)).toMatchObject({ missing: 1n });
    expect(charge(account({ creditLimit: undefined }), NO_SALE_LIMITS, topUp(10n ** 14n), NONE).ok).toBe(true);
  });

  test("reaches a limit only beyond it, by what was sold today", () => {
    const limits = { topUpAmount: 40_000n, dayAmount: 70_000n, dayTopUps: 2 };
    const rich = account({ balance: 10n ** 9n });
    const of = (amount: bigint, topUps = 0, gross = 0n) =>
      charge(rich, limits, topUp(amount), () => ({ topUps, gross }));
    expect(of(40_000n)).toMatchObject({ ok: true });
    expect(of(40_001n)).toMatchObject({ limit: "top_up_amount" });
    expect(of(30_000n, 1, 40_000n)).toMatchObject({ ok: true });
    expect(of(30_001n, 1, 40_000n)).toMatchObject({ limit: "day_amount" });
    expect(of(1n, 2, 40_000n)).toMatchObject({ limit: "day_top_ups" });
    expect(charge(undefined, limits, topUp(40_001n), NONE)).toMatchObject({ limit: "top_up_amount" });
  });

  test("in any order never takes the available amount below zero, and adds up to the balance", () => {
    const top = fc.record({ amount: fc.bigInt(1n, 90_000n), percent: fc.integer({ min: 0, max: 10_000 }) });
    fc.assert(
      fc.property(fc.bigInt(0n, 200_000n), fc.bigInt(0n, 100_000n), fc.array(top), (balance, creditLimit, topUps) => {
        let now = account({ balance, creditLimit });
        let taken = 0n;
        for (const { amount, percent } of topUps) {
          const sold = topUp(amount, commissionOf([percentOf(percent)], sale(amount), TODAY));
          const charged = charge(now, NO_SALE_LIMITS, sold, NONE);
          const after = now.balance - amount + sold.commission;
          expect(charged.ok).toBe(after + creditLimit >= 0n);
          if (!charged.ok) {
            expect(charged).toMatchObject({ missing: -(after + creditLimit) });
            continue;
          }
          now = { balance: charged.balance as bigint, creditLimit };
          taken += amount - sold.commission;
          expect(now.balance + creditLimit).toBeGreaterThanOrEqual(0n);
        }
        expect(now.balance).toBe(balance - taken);
      }),
      RUNS,
    );
  });
});

describe("a top-up", () => {
  const snapshot = (terms: Partial<PartnerTerms>, guarded?: GuardedAccount) =>
    snapshotWith({
      token: () => ({ ...GOOD_TOKEN, partner: { status: "active", terms: { ...NO_TERMS, ...terms } } }),
      account: () => guarded,
    });

  const limited = (limit: string) => ({ refusal: "limit_reached", retired: { refused: { limit } } });

  test("keeps its commission, and charges its account", () => {
    const decided = decide(snapshot({ commission: [percentOf(250)] }, account({ balance: 200_000n })));
    expect(decided).toMatchObject({
      transaction: { amount: 113_000n, commission: 2_825n },
      balance: 89_825n,
    });
  });

  const REFUSED = { partnerId: 7, environment: "production", amount: 113_000n } as const;

  test("that the balance does not cover is refused, which retires its checkout", () => {
    const refused = { ...REFUSED, reason: "insufficient_balance", limit: undefined };
    expect(decide(snapshot({}, account()))).toEqual({
      ...{ kind: "refused", refusal: "insufficient_balance", missing: 63_000n },
      retired: { retiredAt: NOW, refused },
    });
    expect(decide(snapshot({}, account({ balance: 113_000n })))).toMatchObject({ kind: "recorded" });
  });

  test("with a checkout that was refused by balance or limit gets the same refusal, whatever changed since", () => {
    const money = { ...REFUSED, reason: "insufficient_balance", limit: undefined } as const;
    const limit = { ...REFUSED, reason: "limit_reached", limit: "day_amount" } as const;
    for (const refused of [money, limit]) {
      const retired = { retiredAt: NOW - 1, refused };
      const again = { kind: "refused", refusal: refused.reason, retired };
      const now = { ...snapshot({}, account({ balance: 1_000_000n })), retired };
      expect(decide(now)).toEqual(again);
      expect(decide(now, commandWith({ amount: 1n, bouquetCode: "NET-3M" }))).toEqual(again);
      expect(decide({ ...now, token: () => undefined, prunedBefore: () => NOW }, commandWith(), NOW + DAY_MS)).toEqual(
        again,
      );
    }
  });

  test("of the practice customer is refused on the connections for that, whatever its account is", () => {
    const refuse = (reqId: string, environment: "trial" | "production") => {
      const key = { cuid: PRACTICE_CUID, service: "internet", reqId, environment } as const;
      return decide(snapshot({}), commandWith({ ...key, ...checkoutFor(key) }));
    };
    expect(refuse("short", "trial")).toMatchObject({ refusal: "insufficient_balance", missing: 113_000n });
    expect(refuse("day-limit", "trial")).toMatchObject({ retired: { refused: { limit: "day_amount" } } });
    for (const reqId of ["short", "day-limit"]) expect(refuse(reqId, "production")).toMatchObject({ kind: "recorded" });
  });

  test("is refused by a limit until the end of the day, if it is a limit a day", () => {
    const ends = LIMIT_NAMES.map((name) => [name, endOfLimit(name, "2026-12-31 23:59:59")]);
    const midnight = "2027-01-01 00:00:00";
    expect(Object.fromEntries(ends)).toEqual({
      ...{ top_up_amount: undefined, paid_ahead: undefined, day_amount: midnight, day_top_ups: midnight },
    });
  });

  test("names the limit that refuses it", () => {
    const limits = { ...NO_SALE_LIMITS, topUpAmount: 112_999n };
    expect(decide(snapshot({ limits }))).toMatchObject(limited("top_up_amount"));
  });

  test("pays a connection as far ahead as the provider allows, and no further", () => {
    const ends = (latestEnd: string, bouquet = MONTHLY) =>
      decide(snapshotWith(), commandWith({ bouquetCode: bouquet.code, amount: bouquet.price }), undefined, {
        latestEnd,
      });
    expect(ends("2026-12-20 09:01:00")).toMatchObject({ kind: "recorded" });
    expect(ends("2026-12-20 09:00:59")).toMatchObject(limited("paid_ahead"));
    expect(ends("2027-02-20 09:00:59", QUARTERLY)).toMatchObject(limited("paid_ahead"));
  });

  test("is never too far ahead in the trial environment, whose connections all partners share", () => {
    const environment = "trial" as const;
    const command = commandWith({ environment, ...checkoutFor({ ...FIBER, environment }) });
    expect(decide(snapshotWith(), command, undefined, { latestEnd: "2026-12-20 09:00:59" })).toMatchObject({
      kind: "recorded",
    });
  });

  test("that was recorded is answered again whatever the balance and the limits are", () => {
    const limits = { ...NO_SALE_LIMITS, topUpAmount: 1n };
    const first = decide(snapshotWith());
    if (first.kind !== "recorded") throw new Error("the first top-up was refused");
    const { transaction } = first;
    expect(decide({ ...snapshot({ limits }, account({ balance: -1n })), recorded: transaction })).toEqual({
      kind: "replayed",
      transaction,
    });
  });
});

test.each([
  [-10_001n, 10_000n, undefined, "spent"],
  [-10_000n, 10_000n, undefined, "spent"],
  [-9_999n, 10_000n, undefined, "good"],
  [0n, 0n, 500n, "spent"],
  [1n, 0n, 500n, "low"],
  [499n, undefined, 500n, "low"],
  [500n, undefined, 500n, "good"],
  [-(10n ** 14n), undefined, undefined, "good"],
] as const)("the state of a balance of %s with a credit limit of %s and an alert below %s is %s", (...each) => {
  const [balance, creditLimit, alertBelow, state] = each;
  expect(balanceState(balance, { creditLimit, alertBelow })).toBe(state);
});

test.each([
  [-1n, "production", "partner"],
  [0n, "production", "nobody"],
  [1n, "production", "provider"],
  [-1n, "trial", "nobody"],
  [1n, "trial", "nobody"],
] as const)("who owes a balance of %s in %s: %s", (balance, environment, owing) => {
  expect(owingOf({ environment }, balance)).toBe(owing);
});
