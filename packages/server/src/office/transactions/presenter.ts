import type { Static } from "typebox";
import { bouquetFinder, type FindBouquet } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import type { Sale } from "../../domain/sale.ts";
import { taxesText } from "../../domain/tax.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { knownBouquets } from "../../store/reference-cache.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { runLines } from "../common.ts";
import type { Shown } from "../operation.ts";
import { partnerNamesOf } from "../partners/sql.ts";
import { fieldLines, printable, prunedLine, table } from "../text.ts";
import type { TransactionDetailSchema, TransactionListSchema, TransactionSchema } from "./schemas.ts";
import { findSales } from "./sql.ts";

/** Formats amounts, partners and bouquets of one environment. */
export interface Presenter {
  /** Writes all digits of the currency. */
  readonly formatAmount: (amount: Money) => string;
  /** Names by the partners' numbers. */
  readonly partnerNames: ReadonlyMap<number, string>;
  /** Finds the newest definition of a bouquet, sold or not. */
  readonly findBouquet: FindBouquet;
}

export async function presenterOf(
  { store, clock }: Pick<Ports, "store" | "clock">,
  environment: Environment,
): Promise<Presenter> {
  const findBouquet = bouquetFinder(await knownBouquets(store.engine.db, environment, clock()));
  const { currencyExponent } = store.provider;
  const formatAmount = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  return { formatAmount, partnerNames: await partnerNamesOf(store), findBouquet };
}

/** Shows top-ups, in their order, with their sellers. */
export async function transactionsData(db: Db, transactions: readonly Transaction[], presenter: Presenter) {
  const sales = await findSales(
    db,
    transactions.map(({ txnId }) => txnId),
  );
  return transactions.map((each) => transactionData(each, presenter, sales.get(each.txnId)));
}

/** @param sale undefined unless a seller made the top-up. */
export function transactionData(transaction: Transaction, presenter: Presenter, sale: Sale | undefined) {
  const { txnId, checkoutId, status, environment, cuid, service, reqId, bouquetCode, at, txnDate } = transaction;
  return {
    txnId,
    checkoutId,
    status,
    partner: partnerName(transaction, presenter),
    environment,
    cuid,
    service,
    reqId,
    bouquetId: bouquetCode,
    bouquetName: presenter.findBouquet(service, bouquetCode)?.name ?? null,
    amount: presenter.formatAmount(transaction.amount),
    commission: presenter.formatAmount(transaction.commission),
    txnDate,
    at: isoTime(at),
    udf1: transaction.udf1 ?? null,
    udf2: transaction.udf2 ?? null,
    seller: sale?.seller ?? null,
    method: sale?.method ?? null,
  };
}

export function partnerName(
  { partnerId }: Pick<Transaction, "partnerId">,
  { partnerNames }: Pick<Presenter, "partnerNames">,
): string {
  return partnerNames.get(partnerId) ?? String(partnerId);
}

type TransactionData = Static<typeof TransactionSchema>;

/** Top-ups for a terminal, in two lines each: first the ids, which staff copy, then the bouquet and the partner. */
export function listLines({ items, reached, prunedBefore }: Static<typeof TransactionListSchema>): Shown {
  const looked = reached === null ? "" : `This page ends early: it looked at all top-ups back to ${reached}.\n`;
  return { out: transactionLines(items), note: `${prunedLine(prunedBefore)}${looked}` };
}

export function transactionLines(transactions: readonly TransactionData[]): string {
  const lines = transactions.map(({ txnDate: time, txnId: transaction, cuid, reqId: reqid, amount }) => {
    return { time, transaction, cuid, reqid, amount };
  });
  const [header, ...cells] = table(["time", "transaction", "cuid", "reqid", "amount"], lines).trimEnd().split("\n");
  const details = transactions.map((each) => {
    const reversed = each.status === "reversed" ? ", reversed" : "";
    const seller = each.seller === null ? "" : ` (${each.seller})`;
    return printable(`${bouquetOf(each)} by ${each.partner}${seller}${reversed}`);
  });
  return `${header}\n${cells.map((line, index) => `${line}\n  ${details[index]}\n`).join("")}`;
}

function bouquetOf({ bouquetId, bouquetName }: TransactionData): string {
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
    ["seller", shown.seller === null ? undefined : `${shown.seller}, ${shown.method}`],
    ["customer", `${cuid}${customer === null ? "" : ` ${customer.firstName} ${customer.lastName}`} (${environment})`],
    ["connection", `${service} ${reqId}`],
    ["bouquet", bouquetOf(shown)],
    ["amount", shown.amount],
    ["commission", shown.commission],
    ...(shown.taxes.length === 0
      ? []
      : ([
          ["base", shown.base],
          ["taxes", taxesText(shown.taxes)],
        ] as const)),
    ["udf1", shown.udf1 ?? undefined],
    ["udf2", shown.udf2 ?? undefined],
    ["plan", plan ?? undefined],
    ...(plan === null ? [] : reversal === null ? runLines(shown) : runLines(reversal, " reversal")),
  ]);
  return { out, note: plan === null ? "The ledger entry of this top-up is missing: run topupd check.\n" : "" };
}
