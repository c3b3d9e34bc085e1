import type { Customer, Environment } from "../domain/customer.ts";
import { customerPages } from "./customer-pages.ts";
import type { Ports } from "./ports.ts";

/**
 * Customers whose first and last name hold every word of a name, in any order and whatever the case; at most `limit`.
 * No index has names, so all customers are looked at until there are as many.
 */
export async function findByName(
  ports: Pick<Ports, "store">,
  environment: Environment,
  name: string,
  limit: number,
): Promise<Customer[]> {
  const words = name.toLowerCase().split(/\s+/);
  const found: Customer[] = [];
  for await (const customers of customerPages(ports, environment)) {
    for (const customer of customers) {
      const itsName = `${customer.firstName} ${customer.lastName}`.toLowerCase();
      if (words.every((word) => itsName.includes(word))) found.push(customer);
    }
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Numbers are no names: nobody waits until all customers were looked at for a mobile number with a slip in it. */
export function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text);
}
