import { bouquetKey } from "../../domain/bouquet.ts";
import { type CatalogueRow, catalogueRow } from "../../domain/catalogue-file.ts";
import { type CustomerFileRow, customerRow, type Environment } from "../../domain/customer.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { TransactionFilter } from "../../store/search.ts";
import type { Ports, ReadingPorts } from "../ports.ts";
import { type ReversibleTransaction, readTransactions } from "./transactions.ts";

/** Few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_AT_ONCE = 500;
const TRANSACTIONS_AT_ONCE = 1_000;

interface ExportRequest {
  readonly environment: Environment;
}

/**
 * The newest revision of a catalogue, in its order, and after it, as `retired`, the newest definition of every code
 * that only former revisions have: customers may still have them.
 */
export async function exportCatalogue(
  { store }: ReadingPorts,
  { environment }: ExportRequest,
): Promise<readonly CatalogueRow[]> {
  const { currencyExponent } = store.provider;
  const current = (await store.currentCatalogue(environment))?.bouquets ?? [];
  const sold = new Set(current.map(bouquetKey));
  const known = await store.catalogues.known(environment);
  const retired = known.filter((bouquet) => !sold.has(bouquetKey(bouquet)));
  return [
    ...current.map((bouquet) => catalogueRow(bouquet, currencyExponent)),
    ...retired.map((bouquet) => ({ ...catalogueRow(bouquet, currencyExponent), retired: true as const })),
  ];
}

/**
 * All customers of an environment, as rows of a customers file, some hundred at a time and each page as it is at that
 * moment: one who is added meanwhile may be missing.
 */
export async function* exportCustomers(
  { store }: ReadingPorts,
  { environment }: ExportRequest,
): AsyncGenerator<readonly CustomerFileRow[]> {
  let after: string | undefined;
  do {
    const customers = await store.search.listCustomers(environment, { after, limit: CUSTOMERS_AT_ONCE });
    if (customers.length > 0) yield customers.map(customerRow);
    after = customers.at(-1)?.cuid;
  } while (after !== undefined);
}

/**
 * The transactions that a filter lets through, newest first, a page at a time: as of a moment, since which so much time
 * has passed that nothing from before it can still be decided, and what was decided is waited for. A reversal that was
 * made later is not told of.
 * @returns that moment, where the environment alone was asked for: whoever takes in such an export knows of every top-up
 *   and reversal up to it. Otherwise undefined.
 */
export async function* exportTransactions(
  { store, clock }: Pick<Ports, "store" | "clock">,
  filter: TransactionFilter,
): AsyncGenerator<readonly ReversibleTransaction[], Instant | undefined> {
  const completeUntil = clock() - SETTLED_AFTER_MS;
  await store.search.awaitCommits();
  const { status, ...others } = filter;
  const until = Math.min(filter.until ?? Number.POSITIVE_INFINITY, completeUntil + 1);
  for await (const page of readTransactions({ store }, { ...others, until }, TRANSACTIONS_AT_ONCE)) {
    const known = page.map((each) => withoutLaterReversal(each, completeUntil));
    const wanted = known.filter(({ transaction }) => status === undefined || transaction.status === status);
    if (wanted.length > 0) yield wanted;
  }
  const { environment: _, ...flags } = filter;
  return Object.values(flags).every((value) => value === undefined) ? completeUntil : undefined;
}

function withoutLaterReversal({ transaction, reversal }: ReversibleTransaction, until: Instant): ReversibleTransaction {
  if (reversal === undefined || reversal.at <= until) return { transaction, reversal };
  return { transaction: { ...transaction, status: "success" }, reversal: undefined };
}
