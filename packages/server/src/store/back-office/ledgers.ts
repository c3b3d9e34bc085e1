import type { Kysely } from "kysely";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import type { ConnectionLedger } from "../../domain/customer-import.ts";
import type { Tables } from "../tables.ts";
import type { Engine } from "./engine.ts";

export interface CustomerLedger extends ConnectionLedger {
  readonly environment: Environment;
  readonly cuid: string;
}

/** What names a customer. */
type CustomerKey = Pick<CustomerLedger, "environment" | "cuid">;

/** Customers whose ledgers are read together. */
const CUSTOMERS_AT_ONCE = 200;

/** All ledgers, however many they are, those of some customers of one environment at a time. */
export async function* allLedgers(engine: Engine, db: Kysely<Tables>): AsyncGenerator<LedgersOfSome> {
  for (let after: CustomerKey | undefined; ; ) {
    const customers = await nextCustomers(db, after, CUSTOMERS_AT_ONCE);
    for (const { environment, cuids } of byEnvironment(customers)) {
      const ledgers = await engine.readLedgers(db, environment, cuids);
      yield { environment, cuids, ledgers: ledgers.map((ledger) => ({ ...ledger, environment })) };
    }
    if (customers.length < CUSTOMERS_AT_ONCE) return;
    after = customers.at(-1);
  }
}

interface SomeCustomers {
  readonly environment: Environment;
  readonly cuids: readonly string[];
}

export interface LedgersOfSome extends SomeCustomers {
  readonly ledgers: readonly CustomerLedger[];
}

export function* byEnvironment(customers: readonly CustomerKey[]): Generator<SomeCustomers> {
  for (const environment of ENVIRONMENTS) {
    const cuids = customers.flatMap((each) => (each.environment === environment ? [each.cuid] : []));
    if (cuids.length > 0) yield { environment, cuids };
  }
}

/** Those who have ledgers, in the order of their key. */
export function nextCustomers(
  db: Kysely<Tables>,
  after: CustomerKey | undefined,
  limit: number,
): Promise<CustomerKey[]> {
  const { cuid, environment } = after ?? { cuid: "", environment: "" };
  return db
    .selectFrom("subscription")
    .select(["cuid", "environment"])
    .distinct()
    .where((eb) => eb(eb.refTuple("cuid", "environment"), ">", eb.tuple(cuid, environment as Environment)))
    .orderBy("cuid")
    .orderBy("environment")
    .limit(limit)
    .execute();
}
