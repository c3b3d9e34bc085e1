import { expect, test } from "vitest";
import { type HourSum, sumHours, sumReversedDays } from "../../src/office/statistics/sql.ts";
import type { MakeDatabase } from "./database.ts";
import { openProvider, SITA_NET, SITA_TV } from "./provider.ts";

const HOUR = 3_600_000;

export function testStatistics(makeDatabase: MakeDatabase): void {
  test("top-ups add up by the hour of the provider's clock, over many steps, and reversals by their day", async () => {
    const opened = await openProvider(makeDatabase, { timeZone: "Asia/Kathmandu" });
    const { partner, database } = opened;
    const { db } = opened.store.engine;
    const start = Date.parse("2026-11-20T18:10:00Z");
    opened.now = start;
    const { txnId, checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    opened.now = start + HOUR / 2;
    await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(SITA_TV, "TV-1M");
    const most = 10n ** 15n - 1n;
    await database.tamper(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
      INSERT INTO top_up SELECT 'copy ' || i, substr(txn_id, 1, 12) || substr(CAST(1000000 + i AS TEXT), 2), partner_id,
        environment, cuid, service, req_id, bouquet_code, ${most}, commission, at, txn_date, status, NULL, NULL
      FROM n, top_up WHERE txn_id = '${txnId}'`);
    const of = { environment: "production", partnerId: partner.id } as const;
    const first = { ...of, hour: "2026-11-20 23", service: "internet", bouquetCode: "NET-1M" } as const;
    const net = {
      ...of,
      hour: "2026-11-21 00",
      service: "internet",
      bouquetCode: "NET-1M",
      count: 1,
      amount: 113_000n,
    };
    const tv = { ...of, hour: "2026-11-21 00", service: "tv", bouquetCode: "TV-1M", count: 1, amount: 45_000n };
    const sums = (from: number, until?: number) => sumHours(db, from, until).then(addUp);
    expect(await sums(start, start + 1)).toEqual([{ ...first, count: 6_001, amount: 6_000n * most + 113_000n }]);
    expect(await sums(start + 1, undefined)).toEqual([net, tv]);
    expect(await sums(start + 1, start + HOUR / 2)).toEqual([]);

    opened.now = start + 24 * HOUR;
    await opened.reverse(checkoutId);
    const day = { ...of, day: "2026-11-21", count: 1, amount: 113_000n };
    expect(await sumReversedDays(db, "2026-11-21")).toEqual([day]);
    expect(await sumReversedDays(db, "2026-11-22")).toEqual([]);
    expect(await sumReversedDays(db, "2026-11-21", "2026-11-21 23:55:00")).toEqual([]);
    expect(await sumReversedDays(db, "2026-11-21", "2026-11-21 23:55:01")).toEqual([day]);
  });
}

/** The sums of several steps, in the order of the bouquets. */
function addUp(parts: readonly HourSum[]): HourSum[] {
  const sums = new Map<string, HourSum>();
  for (const part of parts) {
    const key = `${part.hour} ${part.bouquetCode}`;
    const { count = 0, amount = 0n } = sums.get(key) ?? {};
    sums.set(key, { ...part, count: count + part.count, amount: amount + part.amount });
  }
  return [...sums.values()].sort((a, b) => (a.bouquetCode < b.bouquetCode ? -1 : 1));
}
