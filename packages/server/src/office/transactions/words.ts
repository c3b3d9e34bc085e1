import type { Static } from "typebox";
import type { ProviderSettings } from "../../store/store.ts";
import type { Shown } from "../operation.ts";
import { runLines } from "../runs.ts";
import { fieldLines, printable, prunedLine, table } from "../text.ts";
import type { TransactionDetailSchema, TransactionListSchema, TransactionSchema } from "./schemas.ts";

type Transaction = Static<typeof TransactionSchema>;

/** A list for a terminal: two lines for each, first what may have to be copied, then what was bought from whom. */
export function listLines({ items, prunedBefore }: Static<typeof TransactionListSchema>): Shown {
  return { out: transactionLines(items), note: prunedLine(prunedBefore) };
}

export function transactionLines(transactions: readonly Transaction[]): string {
  const lines = transactions.map(({ txnDate: time, txnId: transaction, cuid, reqId: reqid, amount }) => {
    return { time, transaction, cuid, reqid, amount };
  });
  const [header, ...cells] = table(["time", "transaction", "cuid", "reqid", "amount"], lines).trimEnd().split("\n");
  const details = transactions.map((each) => {
    const reversed = each.status === "reversed" ? ", reversed" : "";
    return printable(`${bouquetOf(each)} by ${each.partner}${reversed}`);
  });
  return `${header}\n${cells.map((line, index) => `${line}\n  ${details[index]}\n`).join("")}`;
}

function bouquetOf({ bouquetId, bouquetName }: Transaction): string {
  return bouquetName === null ? bouquetId : `${bouquetName} (${bouquetId})`;
}

export function detailLines(shown: Static<typeof TransactionDetailSchema>, { zone }: ProviderSettings): Shown {
  const { txnId, checkoutId, status, txnDate, environment, cuid, service, reqId, customer, plan, reversal } = shown;
  const out = fieldLines([
    ["transaction", txnId],
    ["checkout", checkoutId],
    ["status", status],
    ["reversed", reversal === null ? undefined : `${reversal.wall} by ${reversal.author}: ${reversal.reason}`],
    ["time", `${txnDate} (${zone.name})`],
    ["partner", shown.partner],
    ["customer", `${cuid}${customer === null ? "" : ` ${customer.firstName} ${customer.lastName}`} (${environment})`],
    ["connection", `${service} ${reqId}`],
    ["bouquet", bouquetOf(shown)],
    ["amount", shown.amount],
    ["udf1", shown.udf1 ?? undefined],
    ["udf2", shown.udf2 ?? undefined],
    ["plan", plan ?? undefined],
    ...(plan === null ? [] : reversal === null ? runLines(shown) : runLines(reversal, " reversal")),
  ]);
  return { out, note: plan === null ? "The ledger entry of this top-up is missing: run topupd check.\n" : "" };
}
