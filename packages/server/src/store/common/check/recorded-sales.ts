import type { Service } from "../../../domain/bouquet.ts";
import type { Instant } from "../../../domain/calendar.ts";
import { checkoutRevision } from "../../../domain/checkout.ts";
import type { Environment } from "../../../domain/customer.ts";
import { isTransactionId, isTransactionIdOf } from "../../../domain/transaction-id.ts";
import type { CheckEvent } from "../../store.ts";
import { found } from "./found.ts";
import { QuotedPrices } from "./quoted-prices.ts";

/** Every top-up, for {@link checkRecordedSales}. */
export const RECORDED_SALES =
  "SELECT checkout_id, txn_id, environment, service, bouquet_code, amount, at, imported FROM top_up";

interface RecordedRow {
  readonly checkout_id: string;
  readonly txn_id: string;
  readonly environment: Environment;
  readonly service: Service;
  readonly bouquet_code: string;
  readonly amount: number;
  readonly at: Instant;
  readonly imported: number | boolean;
}

type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * Holds what a settlement adds up against what else says it: the day of each top-up, by which its txnId is found, and its
 * amount, which is that of the catalogue revision in its checkoutId. Those of another topupd had a catalogue of its own.
 * @param rows as {@link RECORDED_SALES} finds them.
 * @param prices as QUOTED_PRICES finds them.
 */
export async function* checkRecordedSales(rows: Rows, prices: Rows): AsyncGenerator<CheckEvent> {
  const quoted = new QuotedPrices();
  for await (const row of prices) quoted.add(row);
  let [malformed, misdated, mispriced] = [0, 0, 0];
  for await (const row of rows as AsyncIterable<RecordedRow>) {
    if (!isTransactionId(row.txn_id)) malformed += 1;
    else if (!isTransactionIdOf(row.txn_id, row.at)) misdated += 1;
    // What is no checkoutId is told of where seals are.
    const revision = row.imported ? undefined : checkoutRevision(row.checkout_id);
    if (revision !== undefined && quoted.at({ ...row, code: row.bouquet_code }, revision) !== row.amount)
      mispriced += 1;
  }
  yield found(malformed, "top-ups whose txnId has not the form of one");
  yield found(misdated, "top-ups whose txnId is of another time");
  yield found(mispriced, "top-ups at another price than the catalogue had from which it was quoted");
}
