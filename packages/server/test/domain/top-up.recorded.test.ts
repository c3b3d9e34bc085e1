import { describe, expect, test } from "vitest";
import type { Connection } from "../../src/domain/customer.ts";
import { ADD_ON, at, connectionWith, fold, labelOf, MONTHLY, months, QUARTERLY, topUp } from "./builders.ts";
import { commandWith, decide, FIBER, ISSUED_AT, NOW, refusal, snapshotWith } from "./purchase.ts";

const RUNNING = fold([topUp("2026-11-01")]);
const LAPSED = fold([topUp("2026-09-01")]);

function decideOn(connection: Partial<Connection>, command = commandWith()) {
  return decide(snapshotWith({ connection: connectionWith(connection) }), command);
}

describe("a top-up", () => {
  test("is recorded with all that was asked, and grants one period from now", () => {
    const command = commandWith();
    expect(decide(snapshotWith(), command)).toEqual({
      kind: "recorded",
      transaction: {
        ...FIBER,
        checkoutId: command.checkoutId,
        txnId: "TXN1",
        partnerId: 7,
        bouquetCode: "NET-1M",
        amount: 113_000n,
        at: NOW,
        status: "success",
        udf1: "order 1",
        udf2: undefined,
      },
      grant: {
        kind: "top_up",
        at: NOW,
        bouquet: labelOf(MONTHLY),
        period: { months: 1, days: 0 },
        checkoutId: command.checkoutId,
      },
      subscription: {
        plan: "Fiber 100",
        bouquet: labelOf(MONTHLY),
        start: NOW,
        end: at("2026-12-20T09:01:00Z"),
        span: months(1),
        onTop: { months: 1, days: 0 },
        goodwillDays: 0,
        grantedEnd: at("2026-12-20T09:01:00Z"),
      },
      activates: false,
    });
  });

  test("extends the running subscription of its plan, whatever its period", () => {
    const command = commandWith({ bouquetCode: QUARTERLY.code, amount: QUARTERLY.price });
    expect(decideOn({ subscriptions: [RUNNING] }, command)).toMatchObject({
      subscription: { start: RUNNING.start, end: at("2027-03-01"), bouquet: labelOf(QUARTERLY) },
    });
  });

  test("leaves the subscriptions of other plans alone", () => {
    const other = { ...RUNNING, plan: "Fiber 500" };
    expect(decideOn({ subscriptions: [other] })).toMatchObject({ subscription: { plan: "Fiber 100", start: NOW } });
  });

  test("brings a lapsed connection back", () => {
    expect(decideOn({ subscriptions: [LAPSED] })).toMatchObject({ kind: "recorded", subscription: { start: NOW } });
  });

  test("is taken on a connection that the provider imported as inactive", () => {
    expect(decideOn({ status: "inactive" })).toMatchObject({ kind: "recorded", activates: true });
    expect(decideOn({ status: "inactive", toppedUp: true })).toMatchObject({ kind: "recorded", activates: false });
  });

  test("of an add-on is taken while a base subscription runs", () => {
    const command = commandWith({ bouquetCode: ADD_ON.code, amount: ADD_ON.price });
    expect(decideOn({ subscriptions: [RUNNING] }, command)).toMatchObject({
      subscription: { plan: ADD_ON.plan, start: NOW, bouquet: labelOf(ADD_ON) },
    });
  });

  test("is taken in the last millisecond of the five minutes", () => {
    const last = ISSUED_AT + 300_000;
    expect(decide(snapshotWith(), commandWith(), last)).toMatchObject({ kind: "recorded", transaction: { at: last } });
    expect(decide(snapshotWith(), commandWith(), last + 1)).toEqual({ ...refusal("checkout_expired"), retires: true });
  });

  test("costs what the checkout's own revision says, though a newer one has another price", () => {
    const quoted = snapshotWith({ catalogue: () => ({ revision: 1, bouquets: [{ ...MONTHLY, price: 100_000n }] }) });
    const outcome = decide(quoted, commandWith({ amount: 100_000n }));
    expect(outcome).toMatchObject({ kind: "recorded", transaction: { amount: 100_000n } });
    expect(decide(quoted, commandWith({ amount: MONTHLY.price }))).toEqual(refusal("amount_mismatch"));
  });
});
