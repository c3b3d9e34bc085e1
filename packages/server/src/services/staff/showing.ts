import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { Store } from "../../store/store.ts";
import { bouquetFinder } from "./import-file.ts";

/** What amounts, partners and bouquets of one environment are shown with. */
export interface Showing {
  readonly formatAmount: (amount: Money) => string;
  /** By the partner's number. */
  readonly partnerNames: ReadonlyMap<number, string>;
  /** As they were defined last, whether they are still sold or not. */
  readonly findBouquet: ReturnType<typeof bouquetFinder>;
}

/** @param format with all digits of the currency by default. */
export async function showingOf(store: Store, environment: Environment, format = formatMoneyInFull): Promise<Showing> {
  const findBouquet = bouquetFinder(await store.catalogues.known(environment));
  const { currencyExponent } = store.provider;
  const formatAmount = (amount: Money) => format(amount, currencyExponent);
  return { formatAmount, partnerNames: await partnerNamesOf(store), findBouquet };
}

/** By the partners' numbers. */
export async function partnerNamesOf(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await store.partners.list()).map(({ id, name }) => [id, name]));
}

/** By the interface's own words where it has one; an amount is a decimal in a string, so that nobody rounds it. */
export function transactionData(transaction: Transaction, showing: Showing) {
  const { txnId, checkoutId, status, environment, cuid, service, reqId, bouquetCode, at, txnDate } = transaction;
  return {
    ...{ txnId, checkoutId, status, partner: partnerName(transaction, showing), environment },
    ...{ cuid, service, reqId, bouquetId: bouquetCode },
    bouquetName: showing.findBouquet(service, bouquetCode)?.name ?? null,
    ...{ amount: showing.formatAmount(transaction.amount), txnDate, at: isoTime(at) },
    ...{ udf1: transaction.udf1 ?? null, udf2: transaction.udf2 ?? null },
  };
}

export function partnerName({ partnerId }: Pick<Transaction, "partnerId">, { partnerNames }: Showing): string {
  return partnerNames.get(partnerId) ?? String(partnerId);
}
