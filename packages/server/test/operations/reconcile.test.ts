import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/calendar.ts";
import type { Verdict } from "../../src/domain/reconciliation.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import { reconcile } from "../../src/operations/reconcile.ts";
import { openScratchFile } from "../../src/scratch-file.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** What a row is answered whose counterpart, by udf1, was recorded so long after the beginning of a period of a day. */
async function verdictAt(offset: number): Promise<Verdict | undefined> {
  const opened = await openProvider(makeSqliteDatabase);
  const { store, partner, now: from } = opened;
  opened.now = from + offset;
  const txnId = formatTransactionId(opened.now, seededRandom(5)(10));
  const command = opened.command(SITA_NET, "NET-1M", { txnId, udf1: "order-1" });
  const { amount } = expectRecorded(await store.settleTopUp(command));
  const verdicts: Verdict[] = [];
  const period = { environment: "production" as const, partnerId: partner.id, from, until: from + DAY_MS };
  const row = { line: 2, key: "order-1", amount, status: "success" as const, date: undefined };
  await reconcile(
    { store, openScratch: openScratchFile },
    { period, key: "udf1", isAll: true },
    one([row]),
    ({ verdict }) => verdicts.push(verdict),
  );
  expect(verdicts).toHaveLength(1);
  return verdicts[0];
}

async function* one<Row>(batch: Row) {
  yield batch;
}

test.each<readonly [string, number, Verdict]>([
  ["the first moment of a period", 0, "matched"],
  ["its last", DAY_MS - 1, "matched"],
  ["the moment before it", -1, "other_period"],
  ["the moment after it", DAY_MS, "other_period"],
  ["two days before it", -2 * DAY_MS, "other_period"],
  ["a moment more before it", -2 * DAY_MS - 1, "theirs_only"],
  ["not quite two days after it", 3 * DAY_MS - 1, "other_period"],
  ["two days after it", 3 * DAY_MS, "theirs_only"],
])("by udf1, a top-up of %s is taken into account as far as two days around it", async (_, offset, verdict) => {
  expect(await verdictAt(offset)).toBe(verdict);
});
