import type { Kysely } from "kysely";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import type { CustomerChange, StoredCustomer } from "../domain/customer-import.ts";
import { storedTerms } from "../domain/customer-search.ts";
import { digestOf, readTable } from "./archive.ts";
import { listCustomers, type RecordedCustomer } from "./customers.ts";
import type { Engine } from "./engine.ts";
import { e164Of } from "./settings.ts";
import type { CheckEvent, ProviderSettings } from "./store.ts";
import type { CustomerTermRow, Tables } from "./tables.ts";

/** The search terms that an import adds and removes. */
export function termChanges(
  environment: Environment,
  { customer, mobileForm }: StoredCustomer,
  { profile, connections, ...change }: CustomerChange,
  provider: ProviderSettings,
): { readonly removed: CustomerTermRow[]; readonly added: CustomerTermRow[] } {
  if (!change.changesProfile && change.addedCodes.length + change.removedCodes.length === 0)
    return { removed: [], added: [] };
  const before = customer === undefined ? [] : storedTerms({ ...customer, mobileForm });
  const formAfter = e164Of(profile.mobile, provider) ?? undefined;
  const after = storedTerms({ ...profile, mobileForm: formAfter, connections });
  const toRow = (term: string) => ({ environment, term, cuid: profile.cuid });
  return {
    removed: before.filter((term) => !after.includes(term)).map(toRow),
    added: after.filter((term) => !before.includes(term)).map(toRow),
  };
}

const CUSTOMERS_AT_ONCE = 500;

/** Compares all search terms with the customers. */
export async function* checkTerms(engine: Engine, db: Kysely<Tables>): AsyncGenerator<CheckEvent> {
  let [stored, storedDigest, count, digest] = [0, 0n, 0, 0n];
  for await (const chunk of readTable(engine, db, "customer_term")) {
    stored += chunk.rows.length;
    storedDigest += chunk.digest;
  }
  for (const environment of ENVIRONMENTS)
    for (let after: string | undefined = ""; after !== undefined; ) {
      const customers: RecordedCustomer[] = await listCustomers(db, environment, { after, limit: CUSTOMERS_AT_ONCE });
      const rows = customers.flatMap((each) => storedTerms(each).map((term) => [environment, term, each.cuid]));
      count += rows.length;
      digest += digestOf(rows);
      after = customers.at(-1)?.cuid;
    }
  if (stored === count && BigInt.asUintN(64, storedDigest) === BigInt.asUintN(64, digest))
    yield { kind: "checked", what: "search terms are those of the customers", count };
  else yield { kind: "wrong", what: `the ${stored} search terms are not the ${count} of the customers` };
}
