import type { Environment } from "../domain/customer.ts";
import { type CustomerFileRow, customerRow } from "../domain/customer-export.ts";
import { bouquetFinder } from "./bouquet-finder.ts";
import { customerPages } from "./customer-pages.ts";
import type { Ports } from "./ports.ts";

/** All customers of an environment, as rows that an import reads, a page at a time. */
export async function* exportCustomers(
  { store }: Pick<Ports, "store">,
  environment: Environment,
): AsyncGenerator<readonly CustomerFileRow[]> {
  const context = {
    calendar: store.provider.calendar,
    findBouquet: bouquetFinder(await store.knownBouquets(environment)),
  };
  for await (const customers of customerPages({ store }, environment))
    yield customers.map((customer) => customerRow(customer, context));
}
