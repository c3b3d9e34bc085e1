import { expect, test } from "vitest";
import type { ReconciliationKey } from "../../src/domain/reconciliation.ts";
import type { Transaction } from "../../src/domain/top-up.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import { exportTransactions } from "../../src/operations/export-transactions.ts";
import { reconcile } from "../../src/operations/reconcile.ts";
import { openScratchFile } from "../../src/scratch-file.ts";
import type { Search } from "../../src/store/search.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import type { MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

/** Top-ups of two customers, of which all but each third were taken back, each by a reason of its own. */
async function openReversed(makeDatabase: MakeDatabase, count: number) {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  const random = seededRandom(5);
  const topUps: Transaction[] = [];
  for (let index = 0; index < count; index += 1) {
    const connection = index % 2 === 0 ? SITA_NET : RAM_NET;
    const txnId = formatTransactionId(opened.now, random(10));
    topUps.push(expectRecorded(await store.settleTopUp(opened.command(connection, "NET-1M", { txnId }))));
  }
  const reversals = new Map<string, object>();
  for (const [index, { checkoutId }] of topUps.entries()) {
    if (index % 3 === 0) continue;
    const because = { ...by(opened.now + index), reason: `paid "twice", ${index}` };
    expect(await store.corrections.reverse(checkoutId, because)).toMatchObject({ kind: "reversed" });
    reversals.set(checkoutId, because);
  }
  return { ...opened, topUps, reversals };
}

/** The store of a back office that reads transactions, and how many reversals it was asked for each time. */
function counting({ search }: Store) {
  const asked: number[] = [];
  const store = {
    search: {
      listTransactions: (filter, page) => search.listTransactions(filter, page),
      findReversals: (checkoutIds) => {
        asked.push(checkoutIds.length);
        return search.findReversals(checkoutIds);
      },
    } satisfies Partial<Search>,
  };
  return { store: store as unknown as Store, asked };
}

export function testReversals(makeDatabase: MakeDatabase): void {
  test("those of some top-ups are found together, and none of any other", async () => {
    const { store, topUps, reversals, quote } = await openReversed(makeDatabase, 9);
    const ids = topUps.map(({ checkoutId }) => checkoutId);
    const unknown = [quote(SITA_TV).checkoutId, "", '"],[', "é\\{}", (ids[1] as string).toLowerCase()];
    expect(await store.search.findReversals([...unknown, ...ids])).toEqual(reversals);
    const [, second, third] = ids as [string, string, string];
    expect(await store.search.findReversals([third, second, third])).toEqual(
      new Map([second, third].map((id) => [id, reversals.get(id)])),
    );
    expect(await store.search.findReversals([...unknown, ids[0] as string])).toEqual(new Map());
    expect(await store.search.findReversals([])).toEqual(new Map());
  });

  test("an export asks once for those of a page, and tells of each", async () => {
    const { store, topUps, reversals } = await openReversed(makeDatabase, 9);
    const counted = counting(store);
    const exported = new Map<string, object | undefined>();
    for await (const page of exportTransactions(counted, { environment: "production" }))
      for (const { transaction, reversal } of page) exported.set(transaction.checkoutId, reversal);
    expect(exported).toEqual(new Map(topUps.map(({ checkoutId }) => [checkoutId, reversals.get(checkoutId)])));
    expect(counted.asked).toEqual([reversals.size]);
  });

  test("a reconciliation asks once for those of a page, and one of the period's end is of a later day", async () => {
    const { store, partner, topUps, reversals, now } = await openReversed(makeDatabase, 9);
    const counted = counting(store);
    const rows = topUps.map(({ checkoutId, amount }, index) => ({
      ...{ line: index + 2, key: checkoutId, amount, status: "success" as const, date: undefined },
    }));
    // The reversals were made at 1, 2, 4, 5, 7 and 8 ms.
    const period = { environment: "production" as const, partnerId: partner.id, from: now, until: now + 5 };
    const request = { period, key: "checkoutId" as ReconciliationKey, isAll: true };
    const ports = { store: counted.store, openScratch: openScratchFile };
    const verdicts: (string | undefined)[] = [];
    await reconcile(ports, request, one(rows), ({ verdict }) => verdicts.push(verdict));
    expect(verdicts).toEqual(topUps.map((_, index) => (index % 3 !== 0 && index < 5 ? "status_differs" : "matched")));
    expect(counted.asked).toEqual([reversals.size]);
  });
}

async function* one<Batch>(batch: Batch) {
  yield batch;
}
