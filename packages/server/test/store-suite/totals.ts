import fc from "fast-check";
import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { cursorOf } from "../../src/office/common.ts";
import { exportTransactions, listTransactions, sumTransactions } from "../../src/office/transactions/operations.ts";
import { findByTxnIdEnd } from "../../src/office/transactions/sql.ts";
import { by } from "../support/by.ts";
import { refusal, run } from "../support/desk.ts";
import { moveHorizon, pruneHistory } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import type { MakeDatabase } from "./database.ts";
import { openProvider, RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "./provider.ts";

const SALES = [
  [SITA_NET, "NET-1M"],
  [SITA_TV, "TV-1M"],
  [RAM_NET, "NET-3M"],
  [RAM_TV, "TV-3M"],
] as const;
const PARTNERS = ["wallet", "bank"] as const;

/** A top-up, then a jump of the clock; perhaps an earlier top-up is reversed after it. */
const STEP = fc.record({
  sale: fc.constantFrom(...SALES),
  partner: fc.constantFrom(...PARTNERS),
  hours: fc.integer({ min: -60, max: 90 }),
  reverse: fc.option(fc.nat(), { freq: 2 }),
});
const DAY = fc
  .integer({ min: -4, max: 12 })
  .map((day) => new Date(Date.UTC(2026, 10, 20 + day)).toISOString().slice(0, 10));
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });
const FILTER = fc
  .record({
    from: maybe(DAY),
    to: maybe(DAY),
    partner: maybe(fc.constantFrom(...PARTNERS)),
    service: maybe(fc.constantFrom("tv" as const, "internet" as const)),
    bouquet: maybe(fc.constantFrom("NET-1M", "TV-3M")),
    status: fc.option(fc.constantFrom("reversed" as const, "success" as const), { nil: undefined, freq: 1 }),
  })
  .filter(({ from = "", to = "~" }) => from <= to);
const HISTORY = fc.record({
  steps: fc.array(STEP, { minLength: 6, maxLength: 10 }),
  horizon: maybe(fc.integer({ min: 0, max: 6 })),
  filters: fc.array(FILTER, { minLength: 6, maxLength: 6 }),
});

/** Totals of top-ups against plain sums of the rows that are exported. */
export function testTotals(makeDatabase: MakeDatabase): void {
  test("totals are the plain sums of the list, whatever the clock did, was reversed and was deleted", async () => {
    const check = async ({ steps, horizon, filters }: typeof HISTORY extends fc.Arbitrary<infer Of> ? Of : never) => {
      const opened = await openProvider(makeDatabase, { timeZone: "Asia/Kathmandu" });
      const bank = (await partnersOf(opened.store).add("bank", by(opened.now))) as Partner;
      const left: string[] = [];
      for (const { sale, partner, hours, reverse } of steps) {
        const partnerId = partner === "bank" ? bank.id : opened.partner.id;
        const quote = opened.quote(sale[0], { partnerId });
        const command = opened.command(sale[0], sale[1], { ...quote, partnerId });
        const outcome = await opened.store.settleTopUp(command);
        if (outcome.kind === "recorded") left.push(command.checkoutId);
        opened.now += hours * 3_600_000;
        if (reverse === null || left.length === 0) continue;
        const [id = ""] = left.splice(reverse % left.length, 1);
        await opened.reverse(id);
      }
      if (horizon !== undefined) {
        const before = Math.min(opened.now, Date.UTC(2026, 10, 20) + horizon * DAY_MS + 5 * 3_600_000);
        await moveHorizon(opened, before);
        await pruneHistory(opened, before);
      }
      for (const filter of [{}, ...filters]) {
        const plain = { count: 0, amount: 0, reversed: 0, reversedAmount: 0 };
        for await (const page of await run(opened.desk(), exportTransactions, filter))
          for (const { amount, status } of page) {
            plain.count += 1;
            plain.amount += Number(amount);
            if (status === "reversed")
              [plain.reversed, plain.reversedAmount] = [plain.reversed + 1, plain.reversedAmount + Number(amount)];
          }
        const { amount, reversedAmount, ...counts } = await run(opened.desk(), sumTransactions, filter);
        const totals = { ...counts, amount: Number(amount), reversedAmount: Number(reversedAmount) };
        expect(totals, JSON.stringify(filter)).toEqual({ ...plain, cursor: null, reached: null });
      }
    };
    await fc.assert(fc.asyncProperty(HISTORY, check), { numRuns: 4, seed: 51, endOnFailure: true });
  });

  test("behind many top-ups, totals come in parts, a page says how far it looked, and a search by an end stops", async () => {
    const opened = await openProvider(makeDatabase);
    const { db } = opened.store.engine;
    const { txnId } = await opened.topUp(SITA_NET, "NET-1M");
    const ending = () => findByTxnIdEnd(db, "production", txnId.slice(-6), 5).then((found) => found.length);
    expect(await ending()).toBe(1);
    const copies = 105_000;
    await opened.database.tamper(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
      INSERT INTO top_up SELECT 'copy' || i, substr(txn_id, 1, 9) || 'Z' || (1000000 + i) || 'ABCDEFGHJ', partner_id,
        environment, cuid, service, req_id, bouquet_code, amount, commission, at, txn_date, status, udf1, NULL
      FROM n, top_up WHERE txn_id = '${txnId}'`);
    expect(await ending()).toBe(0);
    const reached = "2026-11-20 09:00:00";
    const page = await run(opened.desk(), listTransactions, { udf2: "till-1" });
    expect(page).toEqual({ items: [], cursor: expect.any(String), reached, prunedBefore: null });
    const sum = (more: object) => run(opened.desk(), sumTransactions, { amount: "1130", ...more });
    const first = await sum({});
    expect(first).toMatchObject({ count: 100_000, amount: "113000000.00", reached });
    const whole = { count: copies + 1, amount: "118651130.00", reversed: 0, reversedAmount: "0.00" };
    expect(await sum({ cursor: first.cursor })).toEqual({ ...whole, cursor: null, reached: null });
    for (const cursor of ["x", cursorOf([txnId, "1", "x", "0", "0"]), cursorOf(["1", "1", "1", "0", "0"])])
      expect(await refusal(sum({ cursor }))).toMatchObject({ code: "invalid", problems: [{ field: "cursor" }] });
  });
}
