import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { listDays, readDay } from "../../src/domain/day-range.ts";
import type { SettlementSum } from "../../src/domain/settlement.ts";
import type { TopUpCommand, Transaction } from "../../src/domain/top-up.ts";
import { formatTransactionId, TXN_ID_SLACK_MS } from "../../src/domain/transaction-id.ts";
import { STEP_ROWS } from "../../src/store/common/transaction-search.ts";
import type { RecordedWithin } from "../../src/store/search.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import type { MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_IPTV, SITA_NET, SITA_TV } from "./provider.ts";

const HOUR = 3_600_000;

export function testSettlements(makeDatabase: MakeDatabase): void {
  test("add up what was recorded, by partner, service and bouquet, also what was reversed since", async () => {
    const { opened, topUp, sums } = await openLedger(makeDatabase);
    const { store, partner } = opened;
    const bank = (await store.addPartner("bank", by(opened.now))) as Partner;
    await topUp(SITA_NET, "NET-1M");
    await topUp(RAM_NET, "NET-1M");
    await topUp(SITA_TV, "TV-1M");
    const { checkoutId } = await topUp(SITA_IPTV, "ITV-1M", { partnerId: bank.id });
    await opened.database.tamper(`UPDATE top_up SET status = 'reversed' WHERE checkout_id = '${checkoutId}'`);
    const ofWallet = [
      { partnerId: partner.id, service: "internet", bouquetCode: "NET-1M", count: 2, amount: 226_000n },
      { partnerId: partner.id, service: "tv", bouquetCode: "TV-1M", count: 1, amount: 45_000n },
    ];
    const ofBank = { partnerId: bank.id, service: "iptv", bouquetCode: "ITV-1M", count: 1, amount: 30_000n };
    expect(await sums({})).toEqual([...ofWallet, ofBank]);
    expect(await sums({ partnerId: partner.id })).toEqual(ofWallet);
    expect(await sums({ partnerId: bank.id })).toEqual([ofBank]);
    expect(await sums({ partnerId: 99 })).toEqual([]);
    expect(await sums({ environment: "trial" })).toEqual([]);
  });

  test("count a reversal when it was made, and leave the day of its top-up as it was settled", async () => {
    const { opened, topUp, sums, reversals } = await openLedger(makeDatabase);
    const { store, partner } = opened;
    const [first, second] = [await topUp(SITA_NET, "NET-1M"), await topUp(SITA_TV, "TV-1M")];
    const day = { from: first.at, until: first.at + HOUR };
    const settled = await sums(day);
    opened.now += 3 * 24 * HOUR;
    const by = { author: "tester", at: opened.now, reason: "the wrong box" };
    expect((await store.corrections.reverse(second.checkoutId, by)).kind).toBe("reversed");
    expect(await sums(day)).toEqual(settled);
    expect(await reversals(day)).toEqual([]);
    const taken = { partnerId: partner.id, service: "tv", bouquetCode: "TV-1M", count: 1, amount: 45_000n };
    expect(await reversals({ from: by.at, until: by.at + 1 })).toEqual([taken]);
    expect(await reversals({ from: by.at + 1 })).toEqual([]);
    expect(await reversals({ until: by.at })).toEqual([]);
    expect(await reversals({ partnerId: partner.id })).toEqual([taken]);
    expect(await reversals({ partnerId: 99 })).toEqual([]);
    expect(await reversals({ environment: "trial" })).toEqual([]);
  });

  test("count a top-up in the period that it was recorded in, to the millisecond", async () => {
    const { topUp, sums } = await openLedger(makeDatabase);
    const { at } = await topUp(SITA_NET, "NET-1M");
    const counted = async (from: number, until: number) => (await sums({ from, until })).length;
    expect(await counted(at, at + 1)).toBe(1);
    expect(await counted(at - HOUR, at)).toBe(0);
    expect(await counted(at + 1, at + HOUR)).toBe(0);
    expect(await counted(at, at)).toBe(0);
  });

  test.each([
    ["waited for its decision", 300_000],
    ["was followed by clocks that are behind", -TXN_ID_SLACK_MS],
  ])("go by the time of the record, however far the txnId's is from it, where the request %s", async (_, ms) => {
    const { opened, sums } = await openLedger(makeDatabase);
    const command = opened.command(SITA_TV, "TV-1M", { txnId: formatTransactionId(opened.now, new Uint8Array(10)) });
    opened.now += ms;
    const { at } = expectRecorded(await opened.store.settleTopUp(command));
    expect(await sums({ from: at, until: at + 1 })).toHaveLength(1);
    expect(await sums({ until: at })).toEqual([]);
  });

  test.each([
    ["Europe/Berlin", "2027-03-27", "2027-03-29"],
    ["Europe/Berlin", "2027-10-30", "2027-11-01"],
    ["America/Havana", "2027-03-13", "2027-03-15"],
    ["Australia/Lord_Howe", "2027-04-03", "2027-04-05"],
    ["Pacific/Chatham", "2027-09-25", "2027-09-27"],
  ])("of %s have every top-up from %s to %s in one day", async (zone, first, last) => {
    const { opened, topUp, sums } = await openLedger(makeDatabase);
    const days = listDays(first, last).map((day) => readDay(day, createCalendar(zone)) ?? { start: 0, end: 0 });
    const bounds = days.map(({ start }) => start);
    for (const bound of bounds) {
      for (const at of [bound - 1, bound, bound + HOUR]) {
        opened.now = at;
        await topUp(SITA_NET, "NET-1M");
      }
    }
    const counts = [];
    for (const { start, end } of days) counts.push((await sums({ from: start, until: end }))[0]?.count);
    // The first bound has one before it that is in none of the days.
    expect(counts).toEqual([3, 3, 2]);
    expect(days.slice(1).map(({ start }) => start)).toEqual(days.slice(0, -1).map(({ end }) => end));
  });

  test("take many steps, and more than 64 bits, to the minor unit", async () => {
    const { opened, topUp, sums } = await openLedger(makeDatabase);
    const { checkoutId, amount } = await topUp(SITA_NET, "NET-1M");
    const many = 2 * STEP_ROWS + 77;
    await multiply(opened.database, checkoutId, many);
    const [sum, ...others] = await sums({});
    const expected = Array.from({ length: many }, (_, index) => LARGEST - BigInt(index + 1));
    expect(sum).toMatchObject({ count: many + 1, amount: expected.reduce((total, each) => total + each, amount) });
    expect(sum?.amount).toBeGreaterThan(2n ** 63n);
    expect(others).toEqual([]);
  });
}

/** No amount reaches it. */
const LARGEST = 10n ** 15n;

/** Puts so many more top-ups beside one, each with an amount and a txnId of its own. */
async function multiply(database: ReturnType<MakeDatabase>, checkoutId: string, many: number): Promise<void> {
  const where = `checkout_id = '${checkoutId}'`;
  const [row] = await database.read(`SELECT * FROM top_up WHERE ${where}`);
  const changes: Readonly<Record<string, string>> = {
    checkout_id: "'copy' || n",
    txn_id: "substr(txn_id, 1, 10) || '000000000' || (1000000 + n)",
    amount: `${LARGEST} - n`,
  };
  const columns = Object.keys(row ?? {});
  await database.tamper(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${many})
     INSERT INTO top_up (${columns.join(", ")})
     SELECT ${columns.map((column) => changes[column] ?? column).join(", ")} FROM top_up, numbers WHERE ${where}`,
  );
}

/** Top-ups whose txnIds have their time, and the sums of them in an order of their own. */
async function openLedger(makeDatabase: MakeDatabase) {
  const opened = await openProvider(makeDatabase);
  const random = seededRandom(3);
  const topUp = async (
    connection: ConnectionKey,
    bouquet: string,
    more: Partial<TopUpCommand> = {},
  ): Promise<Transaction> => {
    const txnId = formatTransactionId(opened.now, random(10));
    const { partnerId = opened.partner.id } = more;
    const quote = opened.quote(connection, { partnerId });
    return expectRecorded(
      await opened.store.settleTopUp(opened.command(connection, bouquet, { ...quote, txnId, ...more })),
    );
  };
  const { search } = opened.store;
  const whole = (period: Partial<RecordedWithin>): RecordedWithin => {
    const always = { environment: "production", partnerId: undefined, from: 0, until: opened.now + HOUR } as const;
    return { ...always, ...period };
  };
  const sums = async (period: Partial<RecordedWithin>) => inOrder(await search.sumTopUps(whole(period)));
  const reversals = async (period: Partial<RecordedWithin>) => inOrder(await search.sumReversals(whole(period)));
  return { opened, topUp, sums, reversals };
}

function inOrder(sums: readonly SettlementSum[]): SettlementSum[] {
  const label = ({ partnerId, service, bouquetCode }: SettlementSum) => `${partnerId} ${service} ${bouquetCode}`;
  return sums.toSorted((a, b) => (label(a) < label(b) ? -1 : 1));
}
