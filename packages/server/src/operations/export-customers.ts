import type { Environment } from "../domain/customer.ts";
import { type CustomerFileRow, customerRow } from "../domain/customer-export.ts";
import { bouquetFinder } from "./bouquet-finder.ts";
import type { Ports } from "./ports.ts";

/** Customers that are read together: few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_AT_ONCE = 500;

/**
 * All customers of an environment, as rows that an import reads, some hundred at a time and each as it is at that
 * moment: one who is added while it goes on may be missing.
 */
export async function* exportCustomers(
  { store }: Pick<Ports, "store">,
  environment: Environment,
): AsyncGenerator<readonly CustomerFileRow[]> {
  const context = {
    calendar: store.provider.calendar,
    findBouquet: bouquetFinder(await store.knownBouquets(environment)),
  };
  let after: string | undefined;
  do {
    const customers = await store.search.listCustomers(environment, { after, limit: CUSTOMERS_AT_ONCE });
    if (customers.length > 0) yield customers.map((customer) => customerRow(customer, context));
    after = customers.at(-1)?.cuid;
  } while (after !== undefined);
}
