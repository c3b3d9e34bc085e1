import { describe, expect, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { decideBlock, grantGoodwill, reverseGoodwill, reverseTopUp, subjectOf } from "../../src/domain/correction.ts";
import type { Ledger } from "../../src/domain/ledger.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import {
  ADD_ON,
  at,
  connectionWith,
  type Deed,
  goodwill,
  imported,
  labelOf,
  ledgerOf,
  MONTHLY,
  reversal,
  STAFF,
  stated,
  topUp,
} from "./builders.ts";

const KEY = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;
const SUBJECT = "production 7001 internet fiber1";
const BY = { ...STAFF, authority: undefined, at: at("2027-01-20") };
const MONTH = [imported("2027-01-01", stated("2027-01-01", "2027-02-01"))];

const TRANSACTION: Transaction = {
  ...KEY,
  ...{
    checkoutId: "C1",
    txnId: "TXN1",
    partnerId: 7,
    bouquetCode: MONTHLY.code,
    amount: MONTHLY.price,
    commission: 0n,
  },
  ...{ at: at("2027-01-10").instant, txnDate: "2027-01-10 00:00:00", status: "success" },
  ...{ udf1: undefined, udf2: undefined },
};

/** The ledger of `Fiber 100`, or of another plan with the same events. */
function ledger(deeds: readonly Deed[], plan = MONTHLY.plan): Ledger {
  return { ...ledgerOf(...deeds), plan };
}

describe("a top-up's reversal", () => {
  const ledgers = [ledger(MONTH, "Fiber 500"), ledger([...MONTH, topUp("2027-01-10")])];

  test("takes its time back, and leaves an entry in the audit trail", () => {
    expect(reverseTopUp(TRANSACTION, ledgers, BY)).toMatchObject({
      kind: "reversed",
      transaction: { ...TRANSACTION, status: "reversed" },
      correction: {
        ...{ key: KEY, plan: MONTHLY.plan, before: { end: "2027-03-01 00:00:00" } },
        entry: { kind: "reversal", of: 2, seq: 3, at: BY.at, ...STAFF, after: { end: "2027-02-01 00:00:00" } },
        audited: {
          ...{ action: "transaction.reverse", subject: `TXN1 ${SUBJECT}` },
          before: { status: "success", "Fiber 100": "NET-1M, 2027-01-01 00:00:00 to 2027-03-01 00:00:00" },
          after: { status: "reversed", "Fiber 100": "NET-1M, 2027-01-01 00:00:00 to 2027-02-01 00:00:00" },
        },
      },
    });
  });

  test("of all that there was leaves nothing", () => {
    const outcome = reverseTopUp(TRANSACTION, [ledger([topUp("2027-01-10")])], BY);
    expect(outcome).toMatchObject({ correction: { audited: { after: { status: "reversed", "Fiber 100": null } } } });
  });

  test("is refused where there is no such top-up, or it is reversed, or its history is gone", () => {
    expect(reverseTopUp(undefined, ledgers, BY)).toEqual({ kind: "not_found" });
    expect(reverseTopUp({ ...TRANSACTION, status: "reversed" }, ledgers, BY)).toEqual({ kind: "already_reversed" });
    const { entries, plan } = ledger([...MONTH, topUp("2027-03-10")]);
    expect(reverseTopUp(TRANSACTION, [{ plan, entries: entries.slice(1) }], BY)).toEqual({ kind: "history_gone" });
  });

  test("of a top-up that no ledger has is a fault of the database, and fails", () => {
    expect(() => reverseTopUp(TRANSACTION, [ledger(MONTH)], BY)).toThrow("the top-up TXN1 has no ledger entry");
  });
});

describe("goodwill", () => {
  const grant = (ledgers: readonly Ledger[], plan?: string, days = 5) =>
    grantGoodwill(connectionWith(), ledgers, { ...KEY, days, plan }, BY, DEFAULT_BASE_PLANS);
  const lapsed = [imported("2026-01-01", stated("2026-01-01", "2026-02-01"))];
  const addOn = ledger([topUp("2027-01-10", ADD_ON)], ADD_ON.plan);

  test("continues the run that is on, and leaves an entry in the audit trail", () => {
    expect(grant([ledger(MONTH)])).toMatchObject({
      kind: "granted",
      correction: {
        entry: { kind: "goodwill", seq: 2, period: { months: 0, days: 5 }, bouquet: labelOf(MONTHLY), ...STAFF },
        audited: {
          ...{ action: "subscription.goodwill", subject: SUBJECT },
          before: { "Fiber 100": "NET-1M, 2027-01-01 00:00:00 to 2027-02-01 00:00:00" },
          after: { days: 5, "Fiber 100": "NET-1M, 2027-01-01 00:00:00 to 2027-02-06 00:00:00" },
        },
      },
    });
  });

  test("begins a new run where the last is over, or was taken away", () => {
    const after = { start: BY.at.wall, end: "2027-01-25 00:00:00" };
    expect(grant([ledger(lapsed)])).toMatchObject({ correction: { entry: { after } } });
    const taken = ledger([topUp("2027-01-10"), reversal("2027-01-11", 1)]);
    expect(grant([taken])).toMatchObject({ correction: { entry: { after } } });
  });

  test("goes to the base subscription that runs, or else to the only one, or to the plan that is named", () => {
    const planOf = (ledgers: readonly Ledger[], plan?: string) => {
      const outcome = grant(ledgers, plan);
      return outcome.kind === "granted" ? outcome.correction.plan : outcome;
    };
    expect(planOf([ledger(lapsed, "Fiber 50"), ledger(MONTH), addOn])).toBe("Fiber 100");
    expect(planOf([ledger(lapsed, "Fiber 50"), addOn])).toBe("Fiber 50");
    expect(planOf([ledger(MONTH), addOn], ADD_ON.plan)).toBe(ADD_ON.plan);
    const plans = ["Fiber 100", "Fiber 500"];
    expect(planOf([ledger(MONTH), ledger(MONTH, "Fiber 500"), addOn])).toEqual({ kind: "ambiguous", plans });
    expect(planOf([addOn])).toEqual({ kind: "no_subscription", plans: [ADD_ON.plan] });
    expect(planOf([ledger(MONTH)], "Gold")).toEqual({ kind: "no_subscription", plans: ["Fiber 100"] });
  });

  test("starts no second base plan where one may run, but extends one that runs", () => {
    const [running, ended] = [ledger(MONTH), ledger(lapsed, "Fiber 50")];
    expect(grant([running, ended], "Fiber 50")).toEqual({ kind: "second_base", plans: ["Fiber 100"] });
    const addOnOver = ledger([topUp("2026-01-10", ADD_ON)], ADD_ON.plan);
    expect(grant([running, addOnOver], ADD_ON.plan)).toMatchObject({ kind: "granted" });
    const both = [running, ledger(MONTH, "Fiber 500")];
    expect(grant(both, "Fiber 500")).toMatchObject({ kind: "granted" });
    const command = { ...KEY, days: 5, plan: "Fiber 50" };
    const many = { ...DEFAULT_BASE_PLANS, internet: "many" } as const;
    expect(grantGoodwill(connectionWith(), [running, ended], command, BY, many)).toMatchObject({ kind: "granted" });
  });

  test("of a time goes to plans that ran then, as their entries or later records say", () => {
    const at = (ledgers: readonly Ledger[], ...ran: [string, string]) => {
      const command = { ...KEY, days: 5, plan: undefined, ran };
      const outcome = grantGoodwill(connectionWith(), ledgers, command, BY, DEFAULT_BASE_PLANS);
      return outcome.kind === "granted" ? outcome.correction.plan : outcome.kind;
    };
    const [from, to] = ["2026-02-01 00:00:00", "2026-02-01 23:59:59"];
    // Its month is that of January 2026, and the next is a year later.
    const renewed = ledger([topUp("2026-01-01"), topUp("2027-01-10")]);
    expect(at([renewed], "2026-01-31 23:59:59", "2026-01-31 23:59:59")).toBe("Fiber 100");
    expect(at([renewed], from, to)).toBe("not_running");
    expect(at([renewed], "2026-01-01 00:00:00", "2026-01-01 23:59:59")).toBe("Fiber 100");
    expect(at([renewed], "2025-12-31 00:00:00", "2025-12-31 23:59:59")).toBe("not_running");
    expect(at([ledger([topUp("2026-02-01 12:00:00")])], from, to)).toBe("Fiber 100");
    expect(at([ledger([imported("2026-03-01", stated("2026-01-15", "2026-02-15"))])], from, to)).toBe("Fiber 100");
    expect(at([ledger([topUp("2026-01-15"), reversal("2026-02-03", 1)])], from, to)).toBe("not_running");
    const other = ledger([topUp("2026-01-15")], "Fiber 50");
    expect(at([renewed, other], from, to)).toBe("second_base");
    expect(at([], from, to)).toBe("no_subscription");
  });

  test("needs a connection, and ends by the last day that can be told", () => {
    const command = { ...KEY, days: 5, plan: undefined };
    expect(grantGoodwill(undefined, [], command, BY, DEFAULT_BASE_PLANS)).toEqual({ kind: "not_found" });
    expect(grant([ledger(MONTH)], undefined, 3_000_000)).toEqual({ kind: "too_long" });
  });
});

describe("goodwill's reversal", () => {
  const reverse = (ledgers: readonly Ledger[], plan?: string) => reverseGoodwill(ledgers, { ...KEY, plan }, BY);
  const given = [...MONTH, goodwill("2027-01-05", 5), topUp("2027-01-06"), goodwill("2027-01-07", 9)];

  test("takes back what was given last and is not reversed, and leaves an entry in the audit trail", () => {
    expect(reverse([ledger(given), ledger(MONTH, "Fiber 500")])).toMatchObject({
      ...{ kind: "reversed", days: 9 },
      correction: {
        entry: { of: 4, seq: 5 },
        audited: { action: "subscription.reverse_goodwill", before: { days: 9 } },
      },
    });
    expect(reverse([ledger([...given, reversal("2027-01-08", 4)])])).toMatchObject({
      days: 5,
      correction: { entry: { of: 2 } },
    });
  });

  test("takes back the one that is named, and no other entry", () => {
    const named = (seq: number) => reverseGoodwill([ledger(given)], { ...KEY, plan: undefined, seq }, BY);
    expect(named(4)).toMatchObject({ kind: "reversed", days: 9 });
    expect(named(2)).toMatchObject({ kind: "reversed", days: 5, correction: { entry: { of: 2 } } });
    expect(named(3)).toEqual({ kind: "no_goodwill" });
  });

  test("asks for the plan where two have goodwill, and finds none where there is none", () => {
    const both = [ledger(given), ledger(given, "Fiber 500")];
    expect(reverse(both)).toEqual({ kind: "ambiguous", plans: ["Fiber 100", "Fiber 500"] });
    expect(reverse(both, "Fiber 500")).toMatchObject({ correction: { plan: "Fiber 500" } });
    expect(reverse([ledger(MONTH)])).toEqual({ kind: "no_goodwill" });
    expect(reverse(both, "Gold")).toEqual({ kind: "no_goodwill" });
  });
});

describe("a block", () => {
  const [open, blocked] = [connectionWith(), connectionWith({ blocked: true })];

  test("is set and lifted, with an entry in the audit trail", () => {
    const audited = { subject: subjectOf(KEY), before: { blocked: false }, after: { blocked: true } };
    expect(decideBlock(open, KEY, true)).toEqual({
      kind: "done",
      key: KEY,
      audited: { action: "connection.block", ...audited },
    });
    expect(decideBlock(blocked, KEY, false)).toMatchObject({
      audited: { action: "connection.unblock", after: { blocked: false } },
    });
  });

  test("that is as asked already leaves none", () => {
    for (const [connection, isBlocked] of [
      [open, false],
      [blocked, true],
    ] as const)
      expect(decideBlock(connection, KEY, isBlocked)).toEqual({ kind: "done", key: KEY, audited: undefined });
  });

  test("by the provider's records is lifted by these alone", () => {
    expect(decideBlock(connectionWith({ status: "blocked" }), KEY, false)).toEqual({ kind: "blocked_by_records" });
    expect(decideBlock(connectionWith({ status: "blocked" }), KEY, true)).toMatchObject({ kind: "done" });
    expect(decideBlock(undefined, KEY, true)).toEqual({ kind: "not_found" });
  });
});
