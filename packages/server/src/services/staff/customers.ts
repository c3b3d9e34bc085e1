import type { Customer, Environment } from "../../domain/customer.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { MOST_CANDIDATES, type StaffBlock } from "../../store/search.ts";
import type { ReadingPorts } from "../ports.ts";

export interface CustomerRequest {
  readonly environment: Environment;
  /** A mobile number, customer id, set-top box number or username; where no customer has it, a name or parts of one. */
  readonly code: string;
  /** Whether `code` is a customer id, and nothing else is meant by it. */
  readonly isCuid: boolean;
  /** How many of the customer's top-ups are wanted at most. */
  readonly history: number;
}

export type CustomerAnswer =
  | {
      readonly kind: "found";
      readonly customer: Customer;
      readonly blocks: readonly StaffBlock[];
      /** The newest top-ups, newest first. */
      readonly transactions: readonly Transaction[];
      /** Whether there are more than these. */
      readonly hasMore: boolean;
    }
  /** The code, or the name, fits several customers: the first twenty of them. */
  | { readonly kind: "ambiguous"; readonly candidates: readonly Customer[] }
  /** `elsewhere` where it would be found in the other environment. */
  | { readonly kind: "not_found"; readonly elsewhere: Environment | undefined };

/** A customer with connections, subscriptions and the newest top-ups. */
export async function findCustomer({ store }: ReadingPorts, request: CustomerRequest): Promise<CustomerAnswer> {
  const { environment, history } = request;
  const candidates = await findCandidates({ store }, request);
  const [customer, another] = candidates;
  if (customer === undefined) {
    const other = environment === "trial" ? "production" : "trial";
    const found = await findCandidates({ store }, { ...request, environment: other });
    return { kind: "not_found", elsewhere: found.length > 0 ? other : undefined };
  }
  if (another !== undefined) return { kind: "ambiguous", candidates };
  const page = { before: undefined, limit: history + 1 };
  const found = await store.search.listTransactions({ environment, cuid: customer.cuid }, page);
  const blocks = await store.search.findBlocks(environment, customer.cuid);
  return { kind: "found", customer, blocks, transactions: found.slice(0, history), hasMore: found.length > history };
}

export type NamedCustomers =
  | { readonly kind: "found"; readonly cuids: readonly string[] }
  /** `too_many`: as many as {@link MOST_CANDIDATES}, or more. */
  | { readonly kind: "not_found" | "too_many"; readonly cuids?: never };

/** All customers whose names hold every word of a name, in any order and whatever the case. */
export async function findCuidsByName(
  { store }: ReadingPorts,
  { environment, name }: { readonly environment: Environment; readonly name: string },
): Promise<NamedCustomers> {
  const cuids = await store.search.findCuidsByName(environment, name, MOST_CANDIDATES);
  if (cuids.length === 0) return { kind: "not_found" };
  return cuids.length < MOST_CANDIDATES ? { kind: "found", cuids } : { kind: "too_many" };
}

/** Numbers are no names: nobody waits until all customers were looked at for a mobile number with a slip in it. */
export function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text);
}

async function findCandidates(
  { store }: ReadingPorts,
  { environment, code, isCuid }: Omit<CustomerRequest, "history">,
): Promise<Customer[]> {
  const { search } = store;
  const cuids = isCuid ? [code] : await search.findCuids(environment, code, MOST_CANDIDATES);
  if (cuids.length === 0 && mayBeName(code) && !isCuid)
    cuids.push(...(await search.findCuidsByName(environment, code, MOST_CANDIDATES)));
  const found = await Promise.all(cuids.map((cuid) => search.findCustomer(environment, cuid)));
  return found.filter((customer) => customer !== undefined);
}
