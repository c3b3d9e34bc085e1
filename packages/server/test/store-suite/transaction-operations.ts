import { expect, test } from "vitest";
import {
  exportTransactions,
  listTransactions,
  showTransaction,
  sumTransactions,
} from "../../src/office/transactions/operations.ts";
import { refusal, run } from "../support/desk.ts";
import type { MakeDatabase } from "./database.ts";
import { FIBER, openProvider, RAM_NET, RAM_TV, SITA, SITA_NET } from "./provider.ts";

const MINUTE_MS = 60_000;
const iso = (at: number) => new Date(at).toISOString();

/** Top-ups as staff see them. The searches have their own tests. */
export function testTransactionOperations(makeDatabase: MakeDatabase): void {
  test("top-ups are listed and added up by filters, page by page", async () => {
    const opened = await openProvider(makeDatabase);
    const net = await opened.topUp(SITA_NET, "NET-3M");
    opened.now += 24 * 60 * MINUTE_MS;
    const tv = await opened.topUp(RAM_TV, "TV-1M");
    await opened.reverse(tv.txnId, "paid twice");
    const list = async (input: object) => (await run(opened.desk(), listTransactions, input)).items;
    const ids = async (input: object) => (await list(input)).map(({ txnId }) => txnId);
    const [first, second] = [net.txnId, tv.txnId];
    const lists: [object, string[]][] = [
      [{}, [second, first]],
      [{ name: "rai sita" }, [first]],
      [{ name: "ra" }, [second, first]],
      [{ from: "2026-11-21" }, [second]],
      [{ to: "2026-11-20" }, [first]],
      [{ amount: "450" }, [second]],
      [{ partner: "wallet", bouquet: "NET-3M" }, [first]],
      [{ environment: "trial" }, []],
      [{ service: "tv" }, [second]],
      [{ cuid: SITA.cuid, reqId: "sita" }, [first]],
    ];
    for (const [input, expected] of lists) expect(await ids(input), JSON.stringify(input)).toEqual(expected);
    expect(await list({ status: "reversed" })).toMatchObject([
      {
        checkoutId: tv.checkoutId,
        amount: "450.00",
        customer: { firstName: "Ram", lastName: "Sherpa" },
        partner: "wallet",
        bouquetName: "Family TV (MONTHLY)",
        udf1: null,
      },
    ]);
    const page = await run(opened.desk(), listTransactions, { limit: 1 });
    expect([page.items.length, page.cursor, page.prunedBefore]).toEqual([1, second, null]);
    expect(await run(opened.desk(), listTransactions, { limit: 1, cursor: second })).toMatchObject({
      ...{ items: [{ txnId: first }], cursor: null },
    });
    const wrong: [string, object][] = [
      ["cursor", { cursor: "x" }],
      ["after", { after: "x" }],
      ["partner", { partner: "bank" }],
      ["amount", { amount: "1,5" }],
      ["from", { from: "2026-02-30" }],
      ["name", { name: "a", cuid: "1" }],
      ["to", { from: "2026-11-20", to: "2026-11-19" }],
    ];
    for (const [field, input] of wrong)
      expect(await refusal(list(input)), field).toMatchObject({ code: "invalid", problems: [{ field }] });
    expect(await refusal(list({ name: "nobody" }))).toMatchObject({ code: "not_found" });
    const sum = (input: object) => run(opened.desk(), sumTransactions, input);
    const whole = { cursor: null, reached: null };
    expect(await sum({})).toEqual({ count: 2, amount: "3670.00", reversed: 1, reversedAmount: "450.00", ...whole });
    expect(await sum({ name: "sita", status: "reversed" })).toMatchObject({ count: 0, amount: "0.00" });
  });

  test("after a txnId or an instant, they are read forward, without those of the last minute", async () => {
    const opened = await openProvider(makeDatabase);
    const since = iso(opened.now);
    const [a, b, c] = [SITA_NET, RAM_NET, SITA_NET] as const;
    const txnIds: string[] = [];
    for (const connection of [a, b, c]) {
      txnIds.push((await opened.topUp(connection, "NET-1M")).txnId);
      opened.now += MINUTE_MS / 2;
    }
    const after = async (at = "", more: object = {}) => {
      const { items, cursor } = await run(opened.desk(), listTransactions, { after: at, ...more });
      return [items.map(({ txnId }) => txnId), cursor];
    };
    expect(await after(since)).toEqual([txnIds.slice(0, 2), txnIds[1]]);
    expect(await after(since, { limit: 1 })).toEqual([txnIds.slice(0, 1), txnIds[0]]);
    expect(await after(txnIds[1])).toEqual([[], null]);
    opened.now += MINUTE_MS / 2;
    expect(await after(txnIds[1])).toEqual([[txnIds[2]], txnIds[2]]);
    expect(await after(txnIds[0], { cuid: RAM_NET.cuid })).toEqual([[txnIds[1]], txnIds[1]]);
  });

  test("one is shown by either id, with what it did, and once reversed with what that did", async () => {
    const opened = await openProvider(makeDatabase);
    const { txnId, checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    const show = (id: string) => run(opened.desk(), showTransaction, { id });
    const [before, after] = [{ end: "2026-12-10 09:00:00" }, { end: "2027-01-10 09:00:00" }];
    const shown = await show(checkoutId);
    const effect = { plan: FIBER, before, after, customer: { firstName: "Sita", mobile: SITA.mobile } };
    expect(shown).toMatchObject({ txnId, status: "success", ...effect, reversal: null });
    expect(await show(txnId)).toEqual(shown);
    await opened.reverse(txnId, "paid twice");
    expect(await show(txnId)).toMatchObject({
      ...{ status: "reversed", ...effect },
      reversal: { author: "tester", reason: "paid twice", before: after, after: before },
    });
    for (const id of ["nothing", "01M7W2Y7M0D61P39294S26KB1Y", "A".repeat(64)])
      expect(await refusal(show(id))).toMatchObject({ code: "not_found" });
  });

  test("a settled export leaves out the last minute, and says until when it is complete", async () => {
    const opened = await openProvider(makeDatabase);
    const exported = async (filter: object = {}) => {
      const rows: string[] = [];
      const pages = await run(opened.desk(), exportTransactions, { settled: true, ...filter });
      for (let page = await pages.next(); ; page = await pages.next()) {
        if (page.done === true) return [rows, page.value?.["complete_until"]];
        rows.push(...page.value.map(({ txnId, status, customerName }) => `${txnId} ${status} ${customerName}`));
      }
    };
    const first = await opened.topUp(SITA_NET, "NET-1M");
    opened.now += MINUTE_MS - 1;
    expect(await exported()).toEqual([[], iso(first.at - 1)]);
    opened.now += 1;
    const success = [`${first.txnId} success Sita Rai`];
    expect(await exported()).toEqual([success, iso(first.at)]);
    opened.now += MINUTE_MS;
    await opened.reverse(first.txnId);
    // A reversal is left out too, until it is a minute old.
    expect(await exported()).toEqual([success, iso(opened.now - MINUTE_MS)]);
    expect(await exported({ status: "reversed" })).toEqual([[], undefined]);
    opened.now += MINUTE_MS;
    const reversed = [`${first.txnId} reversed Sita Rai`];
    expect(await exported({ environment: "production" })).toEqual([reversed, iso(opened.now - MINUTE_MS)]);
    for (const filter of [{ status: "reversed" }, { partner: "wallet" }, { to: "2026-11-30" }])
      expect(await exported(filter)).toEqual([reversed, undefined]);
  });
}
