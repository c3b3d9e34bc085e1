import { bouquetKey } from "../../domain/bouquet.ts";
import { type CatalogueRow, catalogueRow } from "../../domain/catalogue-file.ts";
import { type Customer, type CustomerFileRow, customerRow, type Environment } from "../../domain/customer.ts";
import type { ConnectionLedger } from "../../domain/customer-import.ts";
import { headAsOf } from "../../domain/ledger.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { CustomerLedger, TransactionFilter } from "../../store/search.ts";
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
 * All customers of an environment, as rows of a customers file, some hundred at a time: one who is added meanwhile may be
 * missing. Each row names its moment, a minute ago, and leaves out what was made here after it: so an import of the rows
 * changes nothing.
 */
export async function* exportCustomers(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { environment }: ExportRequest,
): AsyncGenerator<readonly CustomerFileRow[]> {
  const { search } = store;
  const asOf = clock() - SETTLED_AFTER_MS;
  await search.awaitCommits();
  let after: string | undefined;
  do {
    const customers = await search.listCustomers(environment, { after, limit: CUSTOMERS_AT_ONCE });
    const cuids = customers.map(({ cuid }) => cuid);
    const ledgers = new Map<string, CustomerLedger[]>(cuids.map((cuid) => [cuid, []]));
    for (const ledger of await search.findLedgersOf(environment, cuids)) ledgers.get(ledger.cuid)?.push(ledger);
    if (customers.length > 0)
      yield customers.map((each) => customerRow(asItWas(each, ledgers.get(each.cuid) ?? [], asOf), isoTime(asOf)));
    after = cuids.at(-1);
  } while (after !== undefined);
}

function asItWas(customer: Customer, ledgers: readonly ConnectionLedger[], asOf: Instant): Customer {
  const connections = customer.connections.map((connection) => {
    const its = ledgers.filter(({ service, reqId }) => service === connection.service && reqId === connection.reqId);
    return { ...connection, ledgers: its.map((ledger) => headAsOf(ledger, asOf)) };
  });
  return { ...customer, connections };
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
