import type { Subscription } from "../../../domain/subscription.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import { printable, prunedLine, table } from "../../../office/text.ts";
import { partnerName, type Showing } from "../../../services/staff/showing.ts";
import { findPrunedBefore } from "../../../services/staff/transactions.ts";
import type { Session } from "../command.ts";

/** Two lines for each, which a terminal has room for: what may have to be copied, and then what was bought from whom. */
export function transactionLines(transactions: readonly Transaction[], showing: Showing): string {
  const rows = transactions.map(({ txnDate: time, txnId: transaction, cuid, reqId: reqid, amount }) => {
    return { time, transaction, cuid, reqid, amount: showing.formatAmount(amount) };
  });
  const [header, ...lines] = table(["time", "transaction", "cuid", "reqid", "amount"], rows).trimEnd().split("\n");
  const details = transactions.map((transaction) => {
    const reversed = transaction.status === "reversed" ? ", reversed" : "";
    return printable(`${bouquetOf(transaction, showing)} by ${partnerName(transaction, showing)}${reversed}`);
  });
  return `${header}\n${lines.map((line, index) => `${line}\n  ${details[index]}\n`).join("")}`;
}

export function bouquetOf({ service, bouquetCode }: Transaction, { findBouquet }: Showing): string {
  const name = findBouquet(service, bouquetCode)?.name;
  return name === undefined ? bouquetCode : `${name} (${bouquetCode})`;
}

/** In the words of the interface (section 2), with what the end is counted from. */
export function subscriptionJson(subscription: Subscription | undefined) {
  if (subscription === undefined) return null;
  const { bouquet, start, end, anchor, months, days } = subscription;
  const { code, name, addOn } = bouquet;
  return { code, name, addOn, startdate: start, enddate: end, anchor, months, days };
}

/** Where a list reaches back so far that something may be missing in it, says so. */
export async function tellOfPruning({ runtime, store }: Session, from: number | undefined): Promise<void> {
  const horizon = await findPrunedBefore({ store }, { from });
  if (horizon === undefined) return;
  const day = store.provider.zone.wallTime(horizon).slice(0, 10);
  runtime.stderr(prunedLine(day));
}
