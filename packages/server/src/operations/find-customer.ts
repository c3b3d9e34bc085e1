import { type Customer, ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import type { Transaction } from "../domain/top-up.ts";
import { MOST_CANDIDATES } from "../store/search.ts";
import { findByName, mayBeName } from "./find-by-name.ts";
import type { Ports } from "./ports.ts";

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
      /** The newest top-ups, newest first. */
      readonly transactions: readonly Transaction[];
      /** Whether there are more than these. */
      readonly hasMore: boolean;
    }
  /** The code, or the name, fits several customers. */
  | { readonly kind: "ambiguous"; readonly candidates: readonly Customer[] }
  /** `elsewhere` where it would be found in another environment. */
  | { readonly kind: "not_found"; readonly elsewhere: Environment | undefined };

/** A customer with connections, subscriptions and the newest top-ups. */
export async function findCustomer({ store }: Pick<Ports, "store">, request: CustomerRequest): Promise<CustomerAnswer> {
  const { environment, history } = request;
  const candidates = await findCandidates({ store }, request);
  const [customer, another] = candidates;
  if (customer === undefined) return { kind: "not_found", elsewhere: await findElsewhere({ store }, request) };
  if (another !== undefined) return { kind: "ambiguous", candidates };
  const page = { before: undefined, limit: history + 1 };
  const found = await store.search.listTransactions({ environment, cuid: customer.cuid }, page);
  return { kind: "found", customer, transactions: found.slice(0, history), hasMore: found.length > history };
}

async function findCandidates(
  { store }: Pick<Ports, "store">,
  { environment, code, isCuid }: CustomerRequest,
): Promise<Customer[]> {
  const cuids = isCuid ? [code] : await store.search.findCuids(environment, code, MOST_CANDIDATES);
  const found = await Promise.all(cuids.map((cuid) => store.search.findCustomer(environment, cuid)));
  const candidates = found.filter((customer) => customer !== undefined);
  if (candidates.length > 0 || isCuid || !mayBeName(code)) return candidates;
  return findByName({ store }, environment, code, MOST_CANDIDATES);
}

async function findElsewhere(
  { store }: Pick<Ports, "store">,
  request: CustomerRequest,
): Promise<Environment | undefined> {
  for (const environment of ENVIRONMENTS) {
    if (environment === request.environment) continue;
    const candidates = await findCandidates({ store }, { ...request, environment });
    if (candidates.length > 0) return environment;
  }
  return undefined;
}
