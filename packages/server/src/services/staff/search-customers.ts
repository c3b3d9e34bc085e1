import { looksIssued } from "../../domain/checkout.ts";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { codesOf } from "../../domain/customer-import.ts";
import { AS_WRITTEN } from "../../domain/mobile-number.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { isTransactionId } from "../../domain/transaction-id.ts";
import { plus } from "../../domain/wall-time.ts";
import type { EndKey, EndsFilter, RecordedCustomer, SubscriptionEnd } from "../../store/search.ts";
import type { Attempt, AttemptFilter } from "../../store/staff.ts";
import { momentOf, type Ports, type ReadingPorts } from "../ports.ts";
import { mayBeName } from "./customers.ts";
import { findTransaction } from "./transactions.ts";

export interface SearchRequest {
  readonly environment: Environment;
  /** A code, a name or a part of it, a checkoutId or a txnId; undefined for all. */
  readonly text: string | undefined;
  /** The cuid of the former page's last one; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface SearchAnswer {
  readonly customers: readonly RecordedCustomer[];
  /** Whether there are more. */
  readonly hasMore: boolean;
  /** Where a checkoutId or a txnId was asked for: its customer is found, of whichever environment. */
  readonly transaction: Transaction | undefined;
}

/** Customers by their cuids: whom a code fits, and whose names hold all words of a text. */
export async function searchCustomers({ store }: ReadingPorts, request: SearchRequest): Promise<SearchAnswer> {
  const { search } = store;
  const { environment, text, after, limit } = request;
  if (text === undefined) {
    const found = await search.listCustomers(environment, { after, limit: limit + 1 });
    return { customers: found.slice(0, limit), hasMore: found.length > limit, transaction: undefined };
  }
  const txnId = text.toUpperCase();
  const id = isTransactionId(txnId) ? txnId : looksIssued(text) ? text : undefined;
  const transaction = id === undefined ? undefined : await findTransaction({ store }, id);
  if (transaction !== undefined) {
    const its = await search.findCustomer(transaction.environment, transaction.cuid);
    return { customers: its === undefined ? [] : [its], hasMore: false, transaction };
  }
  // Telephones begin what is typed with a capital letter, and usernames seldom have one.
  const codes = new Set([text, text.toLowerCase()]);
  const byCode = await Promise.all([...codes].map((code) => search.findCuids(environment, code, limit + 1, after)));
  const byName = mayBeName(text) ? await search.findCuidsByName(environment, text, limit + 1, after) : [];
  const cuids = [...new Set([...byCode.flat(), ...byName])].sort();
  const found = await Promise.all(cuids.slice(0, limit).map((cuid) => search.findCustomer(environment, cuid)));
  const customers = found.filter((customer) => customer !== undefined);
  return { customers, hasMore: cuids.length > limit, transaction: undefined };
}

export interface AttemptsRequest extends AttemptFilter {
  /** The number of the former page's last one; undefined for the first page. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface AttemptsAnswer {
  /** Newest first. */
  readonly attempts: readonly Attempt[];
  /** The number of the last one; undefined at the end. */
  readonly cursor: number | undefined;
}

/** Refused calls of partners. */
export async function listAttempts(
  { store }: ReadingPorts,
  { before, limit, ...filter }: AttemptsRequest,
): Promise<AttemptsAnswer> {
  const found = await store.attempts.list(filter, { before, limit: limit + 1 });
  const attempts = found.slice(0, limit);
  return { attempts, cursor: found.length > limit ? attempts.at(-1)?.id : undefined };
}

/** Those that named a customer, by whatever it is found by today; undefined where there is no such customer. */
export async function listAttemptsOfCustomer(
  { store }: ReadingPorts,
  { cuid, ...request }: Omit<AttemptsRequest, "codes"> & Pick<ConnectionKey, "cuid">,
): Promise<AttemptsAnswer | undefined> {
  const customer = await store.search.findCustomer(request.environment, cuid);
  if (customer === undefined) return undefined;
  const codes = codesOf(customer, customer.connections, store.provider.normaliseMobile ?? AS_WRITTEN);
  return listAttempts({ store }, { ...request, codes });
}

export interface EndsRequest extends Pick<EndsFilter, "environment" | "service"> {
  /** From now on. */
  readonly days: number;
  readonly beyond: EndKey | undefined;
  readonly limit: number;
}

export interface EndsAnswer {
  /** The earliest first. */
  readonly ends: readonly SubscriptionEnd[];
  /** The last one, beyond which the next page begins; undefined at the end. */
  readonly cursor: EndKey | undefined;
}

/** The subscriptions that end in the coming days. */
export async function listComingEnds(
  ports: Pick<Ports, "store" | "clock">,
  { environment, service, days, beyond, limit }: EndsRequest,
): Promise<EndsAnswer> {
  const now = momentOf(ports).wall;
  const filter = { environment, service, after: now, until: plus(now, { months: 0, days }) };
  const found = await ports.store.search.listEnds(filter, { beyond, limit: limit + 1 });
  const ends = found.slice(0, limit);
  return { ends, cursor: found.length > limit ? ends.at(-1) : undefined };
}
