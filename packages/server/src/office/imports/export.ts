import type { Static } from "typebox";
import { type Customer, customerRow, type Environment } from "../../domain/customer.ts";
import type { ConnectionLedger } from "../../domain/customer-import.ts";
import { headAsOf } from "../../domain/ledger.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { listCustomers } from "../../store/customers.ts";
import type { Rows } from "../fields.ts";
import type { Office } from "../office.ts";
import type { CustomerRowSchema } from "./schemas.ts";

/** Few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_AT_ONCE = 500;

/**
 * All customers of an environment, as rows of a customers file, some hundred at a time: one who is added meanwhile may be
 * missing. Each row names its moment, a minute ago, and leaves out what was made here after it: so an import of the rows
 * changes nothing.
 */
export async function* exportedCustomers(
  { store, clock }: Pick<Office, "store" | "clock">,
  environment: Environment,
): Rows<Static<typeof CustomerRowSchema>> {
  const { engine } = store;
  const asOf = clock() - SETTLED_AFTER_MS;
  await engine.awaitCommits();
  let after: string | undefined;
  do {
    const customers = await listCustomers(engine.db, environment, { after, limit: CUSTOMERS_AT_ONCE });
    const cuids = customers.map(({ cuid }) => cuid);
    const ledgers = new Map<string, ConnectionLedger[]>(cuids.map((cuid) => [cuid, []]));
    for (const ledger of await engine.readLedgers(engine.db, environment, cuids))
      ledgers.get(ledger.cuid)?.push(ledger);
    yield customers.map((each) => customerRow(asItWas(each, ledgers.get(each.cuid) ?? [], asOf), isoTime(asOf)));
    after = cuids.at(-1);
  } while (after !== undefined);
  return undefined;
}

function asItWas(customer: Customer, ledgers: readonly ConnectionLedger[], asOf: Instant): Customer {
  const connections = customer.connections.map((connection) => {
    const its = ledgers.filter(({ service, reqId }) => service === connection.service && reqId === connection.reqId);
    return { ...connection, ledgers: its.map((ledger) => headAsOf(ledger, asOf)) };
  });
  return { ...customer, connections };
}
