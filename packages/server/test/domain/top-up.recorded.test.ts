import { describe, expect, test } from "vitest";
import { isTooLateToRecord, RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import {
  ADD_ON,
  connectionHaving,
  type connectionWith,
  labelOf,
  MONTHLY,
  momentOf,
  monthFrom,
  QUARTERLY,
} from "./builders.ts";
import { commandWith, decide, FIBER, ISSUED_AT, NOW, refusal, snapshotWith } from "./purchase.ts";

const RUNNING = monthFrom("2026-11-01");
const LAPSED = monthFrom("2026-09-01");
const WALL = "2026-11-20 09:01:00";

function decideOn(
  connection: ReturnType<typeof connectionWith>,
  command = commandWith(),
  internet: "one" | "many" = "many",
) {
  return decide(snapshotWith({ connection }), command, NOW, { tv: "many", internet, iptv: "many" });
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
        txnDate: WALL,
        status: "success",
        udf1: "order 1",
        udf2: undefined,
      },
      plan: "Fiber 100",
      entry: {
        kind: "top_up",
        seq: 1,
        at: momentOf(NOW),
        txnId: "TXN1",
        bouquet: labelOf(MONTHLY),
        period: { months: 1, days: 0 },
        after: {
          plan: "Fiber 100",
          bouquet: labelOf(MONTHLY),
          ...{ start: WALL, anchor: WALL, months: 1, days: 0, end: "2026-12-20 09:01:00", since: 1 },
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
    const other = { ...RUNNING, plan: "Fiber 500" };
    expect(decideOn(connectionHaving([other]), commandWith(), "one")).toEqual(refusal("bouquet_unavailable"));
    expect(decideOn(connectionHaving([RUNNING]), commandWith(), "one")).toMatchObject({ kind: "recorded" });
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
    expect(decide(snapshotWith(), commandWith(), last + 1)).toEqual({ ...refusal("checkout_expired"), retires: true });
  });

  test("costs what the checkout's own revision says, though a newer one has another price", () => {
    const quoted = snapshotWith({ catalogue: () => ({ revision: 1, bouquets: [{ ...MONTHLY, price: 100_000n }] }) });
    const outcome = decide(quoted, commandWith({ amount: 100_000n }));
    expect(outcome).toMatchObject({ kind: "recorded", transaction: { amount: 100_000n } });
    expect(decide(quoted, commandWith({ amount: MONTHLY.price }))).toEqual(refusal("amount_mismatch"));
  });

  test("is not recorded any more once its decision is over half a minute old", () => {
    expect(isTooLateToRecord(NOW, NOW + RECORDING_DEADLINE_MS)).toBe(false);
    expect(isTooLateToRecord(NOW, NOW + RECORDING_DEADLINE_MS + 1)).toBe(true);
  });
});
