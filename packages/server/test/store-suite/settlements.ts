import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { NO_SALES } from "../../src/domain/account.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { DaySales } from "../../src/domain/settlement.ts";
import { readSales, type SalesFilter, sumSales } from "../../src/store/sales.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { partnersOf } from "../support/partners.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { BOUQUETS, expectRecorded, type OpenedProvider, openProvider, SITA_NET, SITA_TV } from "./provider.ts";

const salesOf = ({ engine }: Store, day: string, of: SalesFilter = PRODUCTION) => {
  return readSales(engine.db, { ...of, from: day, to: day });
};

const MINUTE = 60_000;
const LABEL = { day: "2026-11-20", soldOn: "2026-11-20", environment: "production" } as const;
const PRODUCTION = { environment: "production", partnerId: undefined } as const;

export function testSettlements(makeDatabase: MakeDatabase): void {
  test("the top-ups of a day add up, for each partner, service and bouquet", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, partner } = opened;
    const bank = (await partnersOf(store).add("bank", by(opened.now))) as Partner;
    for (const code of ["NET-1M", "NET-3M", "NET-1M"]) await opened.topUp(SITA_NET, code);
    await opened.topUp(SITA_TV, "TV-1M");
    await topUpOf(bank, opened, SITA_NET);
    const sold = (of: Partner, service: "internet" | "tv", bouquetCode: string, topUps: number, gross: bigint) => {
      const amount = gross / BigInt(topUps);
      return { ...NO_SALES, ...LABEL, partnerId: of.id, service, bouquetCode, amount, topUps, gross };
    };
    const sums = [
      sold(partner, "internet", "NET-1M", 2, 226_000n),
      sold(partner, "internet", "NET-3M", 1, 322_000n),
      sold(partner, "tv", "TV-1M", 1, 45_000n),
      sold(bank, "internet", "NET-1M", 1, 113_000n),
    ];
    const day = "2026-11-20";
    expect(inOrder(await salesOf(store, day))).toEqual(sums);
    expect(await salesOf(store, day, { ...PRODUCTION, partnerId: bank.id })).toEqual(sums.slice(3));
    for (const none of ["2026-11-19", "2026-11-21", "2026-02-30"]) expect(await salesOf(store, none)).toEqual([]);
    expect(await salesOf(store, day, { environment: "trial" })).toEqual([]);
  });

  test("top-ups of one bouquet at two prices add up by their prices, also in one batch", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const dear = BOUQUETS.map((each) => (each.code === "NET-1M" ? { ...each, price: 200_000n } : each));
    const { revision } = await publish(store, "production", dear, by(opened.now));
    const later = () => ({ ...opened.quote(SITA_NET, { revision }), amount: 200_000n });
    const commands = [{}, later(), {}, later(), later()].map((terms) => opened.command(SITA_NET, "NET-1M", terms));
    for (const outcome of await Promise.all(commands.map((each) => store.settleTopUp(each)))) expectRecorded(outcome);
    const sales = await salesOf(store, "2026-11-20");
    const sums = sales.map(({ amount, topUps, gross }) => [amount, topUps, gross]);
    expect(sums.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [113_000n, 2, 226_000n],
      [200_000n, 3, 600_000n],
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a day is that of the provider's clock, also where clocks are changed", async () => {
    const opened = await openProvider(makeDatabase, { timeZone: "Europe/Berlin" });
    const { store } = opened;
    const last = Date.parse("2027-10-31T23:00:00Z") - MINUTE;
    for (const at of [
      Date.parse("2027-10-30T22:00:00Z"),
      last,
      last + MINUTE,
      Date.parse("2027-10-30T22:00:00Z") - 1,
    ]) {
      opened.now = at;
      await opened.topUp(SITA_NET, "NET-1M");
    }
    const counts = async (day: string) => (await salesOf(store, day)).map(({ topUps }) => topUps);
    expect(await counts("2027-10-31")).toEqual([2]);
    expect(await counts("2027-10-30")).toEqual([1]);
    expect(await counts("2027-11-01")).toEqual([1]);
  });

  test("a reversal counts on the day it is made, and does not change the day of its top-up", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, partner } = opened;
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(SITA_NET, "NET-1M");
    const before = await salesOf(store, "2026-11-20");
    opened.now += 40 * 86_400_000;
    await opened.reverse(checkoutId);
    expect(await salesOf(store, "2026-11-20")).toEqual(before);
    expect(before).toMatchObject([{ topUps: 2, reversals: 0 }]);
    const label = { ...LABEL, day: "2026-12-30", partnerId: partner.id, service: "internet", bouquetCode: "NET-1M" };
    const sum = { ...NO_SALES, ...label, amount: 113_000n, reversals: 1, reversed: 113_000n };
    expect(await salesOf(store, "2026-12-30")).toEqual([sum]);
    expect(await salesOf(store, "2026-12-30", { ...PRODUCTION, partnerId: 99 })).toEqual([]);
    expect(await salesOf(store, "2026-12-30", { environment: "trial" })).toEqual([]);
  });

  test("sums beyond what a number can hold are exact", async () => {
    const opened = await openProvider(makeDatabase);
    await opened.topUp(SITA_NET, "NET-1M");
    const most = 10n ** 15n - 1n;
    for (const lane of [7, 8])
      await opened.database.tamper(`INSERT INTO sales_day SELECT partner_id, environment, day, service, bouquet_code,
        ${most}, sold_on, ${lane}, 2001, 0, 0, 0 FROM sales_day WHERE lane < 7`);
    const { gross } = await sumSales(opened.store.engine.db, PRODUCTION);
    expect(gross).toBe(4002n * most + 113_000n);
    expect(await findWrong(opened.store)).toContainEqual(expect.stringContaining("the sums of 2026-11-20 are not"));
  });
}

async function topUpOf(partner: Partner, { store, quote, command }: OpenedProvider, connection: ConnectionKey) {
  const of = { ...quote(connection, { partnerId: partner.id }), partnerId: partner.id };
  return expectRecorded(await store.settleTopUp(command(connection, "NET-1M", of)));
}

function inOrder(sums: readonly DaySales[]): DaySales[] {
  return sums.toSorted((a, b) => a.partnerId - b.partnerId || (a.bouquetCode < b.bouquetCode ? -1 : 1));
}
