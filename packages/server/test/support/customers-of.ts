import type { Customer, Environment } from "../../src/domain/customer.ts";
import { MOST_CANDIDATES } from "../../src/store/search.ts";
import type { Store } from "../../src/store/store.ts";

/** Those whom a code fits, with all that is known of them, in the order of their ids. */
export async function customersOf({ search }: Store, environment: Environment, code: string): Promise<Customer[]> {
  const cuids = await search.findCuids(environment, code, MOST_CANDIDATES);
  const customers = await Promise.all(cuids.map((cuid) => search.findCustomer(environment, cuid)));
  return customers.filter((customer) => customer !== undefined);
}
