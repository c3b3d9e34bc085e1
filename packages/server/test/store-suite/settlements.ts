import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { SettlementSum } from "../../src/domain/settlement.ts";
import type { SettledDay } from "../../src/office/settlement/reconcile.ts";
import * as sql from "../../src/office/settlement/reconcile.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import type { MakeDatabase } from "./database.ts";
import { expectRecorded, type OpenedProvider, openProvider, SITA_NET, SITA_TV } from "./provider.ts";

const sumTopUps = ({ engine, provider }: Store, of: SettledDay) => sql.sumTopUps(engine.db, provider.zone, of);

const MINUTE = 60_000;
const PRODUCTION = { environment: "production", partnerId: undefined } as const;

export function testSettlements(makeDatabase: MakeDatabase): void {
  test("the top-ups of a day add up, for each partner, service and bouquet", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, partner } = opened;
    const bank = (await partnersOf(store).add("bank", by(opened.now))) as Partner;
    for (const code of ["NET-1M", "NET-3M", "NET-1M"]) await opened.topUp(SITA_NET, code);
    await opened.topUp(SITA_TV, "TV-1M");
    await topUpOf(bank, opened, SITA_NET);
    const sums = [
      { partnerId: partner.id, service: "internet", bouquetCode: "NET-1M", count: 2, amount: 226_000n, commission: 0n },
      { partnerId: partner.id, service: "internet", bouquetCode: "NET-3M", count: 1, amount: 322_000n, commission: 0n },
      { partnerId: partner.id, service: "tv", bouquetCode: "TV-1M", count: 1, amount: 45_000n, commission: 0n },
      { partnerId: bank.id, service: "internet", bouquetCode: "NET-1M", count: 1, amount: 113_000n, commission: 0n },
    ];
    const day = "2026-11-20";
    expect(inOrder(await sumTopUps(store, { ...PRODUCTION, day }))).toEqual(sums);
    expect(await sumTopUps(store, { ...PRODUCTION, day, partnerId: bank.id })).toEqual(sums.slice(3));
    for (const none of ["2026-11-19", "2026-11-21", "2026-02-30"])
      expect(await sumTopUps(store, { ...PRODUCTION, day: none })).toEqual([]);
    expect(await sumTopUps(store, { ...PRODUCTION, day, environment: "trial" })).toEqual([]);
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
    const counts = async (day: string) => (await sumTopUps(store, { ...PRODUCTION, day })).map(({ count }) => count);
    expect(await counts("2027-10-31")).toEqual([2]);
    expect(await counts("2027-10-30")).toEqual([1]);
    expect(await counts("2027-11-01")).toEqual([1]);
  });

  test("a reversal counts on the day it is made, and does not change the day of its top-up", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, partner } = opened;
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(SITA_NET, "NET-1M");
    const before = await sumTopUps(store, { ...PRODUCTION, day: "2026-11-20" });
    opened.now += 40 * 86_400_000;
    await opened.reverse(checkoutId);
    expect(await sumTopUps(store, { ...PRODUCTION, day: "2026-11-20" })).toEqual(before);
    expect(await sql.sumReversals(store.engine.db, { ...PRODUCTION, day: "2026-11-20" })).toEqual([]);
    const sum = {
      partnerId: partner.id,
      service: "internet",
      bouquetCode: "NET-1M",
      count: 1,
      amount: 113_000n,
      commission: 0n,
    };
    expect(await sql.sumReversals(store.engine.db, { ...PRODUCTION, day: "2026-12-30" })).toEqual([sum]);
    expect(await sql.sumReversals(store.engine.db, { ...PRODUCTION, day: "2026-12-30", partnerId: 99 })).toEqual([]);
    expect(await sql.sumReversals(store.engine.db, { ...PRODUCTION, day: "2026-12-30", environment: "trial" })).toEqual(
      [],
    );
  });

  test("sums of many steps, beyond what a number can hold, are exact", async () => {
    const opened = await openProvider(makeDatabase);
    const { txnId } = await opened.topUp(SITA_NET, "NET-1M");
    const most = 10n ** 15n - 1n;
    await opened.database.tamper(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO top_up SELECT 'copy ' || i, substr(txn_id, 1, 12) || substr(CAST(1000000 + i AS TEXT), 2), partner_id,
        environment, cuid, service, req_id, bouquet_code, ${most}, commission, at, txn_date, status, NULL, NULL
      FROM n, top_up WHERE txn_id = '${txnId}'`);
    const [sum] = await sumTopUps(opened.store, { ...PRODUCTION, day: "2026-11-20" });
    expect(sum).toMatchObject({ count: 12_001, amount: 12_000n * most + 113_000n });
  });
}

async function topUpOf(partner: Partner, { store, quote, command }: OpenedProvider, connection: ConnectionKey) {
  const of = { ...quote(connection, { partnerId: partner.id }), partnerId: partner.id };
  return expectRecorded(await store.settleTopUp(command(connection, "NET-1M", of)));
}

function inOrder(sums: readonly SettlementSum[]): SettlementSum[] {
  return sums.toSorted((a, b) => a.partnerId - b.partnerId || (a.bouquetCode < b.bouquetCode ? -1 : 1));
}
