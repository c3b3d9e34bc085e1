import type { Kysely } from "kysely";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import type { ConnectionLedger } from "../domain/customer-import.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

/** Customers whose ledgers are read together: some milliseconds of work, after which others have their turn. */
export const CUSTOMERS_AT_ONCE = 200;

export interface LedgersOfSome {
  readonly environment: Environment;
  readonly cuids: readonly string[];
  readonly ledgers: readonly CustomerLedger[];
}

export interface CustomerLedger extends ConnectionLedger {
  readonly environment: Environment;
  readonly cuid: string;
}

/** All ledgers, however many they are, those of some customers of one environment at a time. */
export async function* allLedgers(engine: Engine, db: Kysely<Tables>): AsyncGenerator<LedgersOfSome> {
  for (const environment of ENVIRONMENTS)
    for (let after: string | undefined = ""; after !== undefined; ) {
      const cuids = await nextCuids(db, environment, after);
      if (cuids.length > 0) yield { environment, cuids, ledgers: await readLedgers(engine, db, environment, cuids) };
      after = cuids.length < CUSTOMERS_AT_ONCE ? undefined : cuids.at(-1);
    }
}

export async function readLedgers(
  engine: Engine,
  db: Kysely<Tables>,
  environment: Environment,
  cuids: readonly string[],
): Promise<CustomerLedger[]> {
  return (await engine.readLedgers(db, environment, cuids)).map((ledger) => ({ ...ledger, environment }));
}

/** Of those who have ledgers, in their order. */
export async function nextCuids(db: Kysely<Tables>, environment: Environment, after: string): Promise<string[]> {
  const query = db.selectFrom("subscription").select("cuid").distinct().where("environment", "=", environment);
  const page = query.where("cuid", ">", after).orderBy("cuid").limit(CUSTOMERS_AT_ONCE);
  return (await page.execute()).map(({ cuid }) => cuid);
}
