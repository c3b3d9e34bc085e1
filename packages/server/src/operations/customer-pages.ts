import type { Customer, Environment } from "../domain/customer.ts";
import type { Ports } from "./ports.ts";

/** Customers that are read together: few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_AT_ONCE = 500;

/** All customers of an environment, each page as it is at that moment: one who is added meanwhile may be missing. */
export async function* customerPages(
  { store }: Pick<Ports, "store">,
  environment: Environment,
): AsyncGenerator<readonly Customer[]> {
  let after: string | undefined;
  do {
    const customers = await store.search.listCustomers(environment, { after, limit: CUSTOMERS_AT_ONCE });
    if (customers.length > 0) yield customers;
    after = customers.at(-1)?.cuid;
  } while (after !== undefined);
}
