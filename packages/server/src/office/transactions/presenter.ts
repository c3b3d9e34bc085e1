import { bouquetFinder, type FindBouquet } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { Store } from "../../store/store.ts";
import { knownBouquets } from "../catalogue/sql.ts";
import { readPartners } from "../partners/sql.ts";

/** Formats amounts, partners and bouquets of one environment. */
export interface Presenter {
  /** With all digits of the currency. */
  readonly formatAmount: (amount: Money) => string;
  /** By the partner's number. */
  readonly partnerNames: ReadonlyMap<number, string>;
  /** The newest definition, sold or not. */
  readonly findBouquet: FindBouquet;
}

export async function presenterOf(store: Store, environment: Environment): Promise<Presenter> {
  const findBouquet = bouquetFinder(await knownBouquets(store.engine.db, environment));
  const { currencyExponent } = store.provider;
  const formatAmount = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  return { formatAmount, partnerNames: await partnerNamesOf(store), findBouquet };
}

/** By the partners' numbers. */
export async function partnerNamesOf(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await readPartners(store.engine.db)).map(({ id, name }) => [id, name]));
}

export function transactionData(transaction: Transaction, presenter: Presenter) {
  const { txnId, checkoutId, status, environment, cuid, service, reqId, bouquetCode, at, txnDate } = transaction;
  return {
    ...{ txnId, checkoutId, status, partner: partnerName(transaction, presenter), environment },
    ...{ cuid, service, reqId, bouquetId: bouquetCode },
    bouquetName: presenter.findBouquet(service, bouquetCode)?.name ?? null,
    ...{ amount: presenter.formatAmount(transaction.amount), txnDate, at: isoTime(at) },
    ...{ udf1: transaction.udf1 ?? null, udf2: transaction.udf2 ?? null },
  };
}

export function partnerName(
  { partnerId }: Pick<Transaction, "partnerId">,
  { partnerNames }: Pick<Presenter, "partnerNames">,
): string {
  return partnerNames.get(partnerId) ?? String(partnerId);
}
