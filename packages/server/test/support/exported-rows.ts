import { createCalendar } from "../../src/domain/calendar.ts";
import { issueCheckout } from "../../src/domain/checkout.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import { seededRandom } from "./random.ts";

const CALENDAR = createCalendar("UTC");

/** Rows as `export transactions` of another topupd writes them, a second apart, each of a customer of its own. */
export function exportedRows(count: number, { partner, until }: { readonly partner: string; readonly until: number }) {
  const random = seededRandom(11);
  const secret = { id: 3, key: random(32), createdAt: 0 };
  return Array.from({ length: count }, (_, index) => {
    const at = until - index * 1_000;
    const key = { environment: "production", cuid: `E${index % 97}`, service: "tv", reqId: `S${index % 97}` } as const;
    const quote = { revision: 1, issuedAt: at - 500, nonce: random(16) };
    return {
      ...{ txnId: formatTransactionId(at, random(10)), status: "success", partner, ...key },
      checkoutId: issueCheckout(secret, { partnerId: 9, environment: "production" }, key, quote),
      ...{ bouquetId: "OLD-1M", amount: "450.5", txnDate: CALENDAR.format(at), at: new Date(at).toISOString() },
      ...{ udf1: null, udf2: null, reversedAt: null, reversedBy: null, reversalReason: null },
    };
  });
}
