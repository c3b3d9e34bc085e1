import type { Environment } from "../../domain/customer.ts";
import { appendAudit } from "../audit.ts";
import { auditOfFile, type ConnectionOwner, CustomerFilePart, type CustomerFileWrites } from "../customer-files.ts";
import type { Engine } from "../engine.ts";
import { hasTarget } from "../events.ts";
import { type ProviderValues, refuseOtherProvider, SELECT_PROVIDER } from "../settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings, Store } from "../store.ts";
import { CONNECTION, isAsked, pick } from "../table.ts";
import { columnsOf, type RawRow, TABLES } from "../tables.ts";
import { asked, deleteRows, insertRows, putRows, textArray, unlessEmpty, withRows } from "./columns.ts";
import type { Database } from "./database.ts";
import { kyselyOn } from "./engine.ts";
import { appendEntries, appendEvents, ENTRIES } from "./ledgers.ts";
import { LOCK_CUSTOMERS, LOCK_IMPORT } from "./locks.ts";
import type { Prepared, Query, Session } from "./session.ts";

const { customer_code: CODE, customer_term: TERM } = TABLES;

const THESE = "WHERE cuid = ANY($1::text[]) AND environment = $2";
const STORED: readonly Prepared[] = [
  { name: "stored_customers", text: `SELECT ${columnsOf("customer").join(", ")} FROM customer ${THESE}` },
  {
    name: "stored_connections",
    text: `SELECT ${columnsOf("connection").join(", ")} FROM connection ${THESE} ORDER BY cuid, position`,
  },
  ENTRIES,
];
const OWNERS: Prepared = {
  name: "connection_owners",
  text: "SELECT cuid, req_id FROM connection WHERE name_key = ANY($1::text[]) AND environment = $2",
};

const PUT_CUSTOMERS = putRows("customer");
const DELETE_CONNECTIONS = deleteRows("connection", CONNECTION);
const PUT_CONNECTIONS = putRows("connection");
const DELETE_CODES = deleteRows("customer_code", CODE.columns);
const MOMENT = pick(TABLES.customer.columns, "cuid", "environment", "as_of");
const CONFIRM = withRows(
  {
    name: "customer_confirm",
    text: `UPDATE customer AS t SET as_of = greatest(t.as_of, k.as_of)
      FROM ${asked(MOMENT)} WHERE ${isAsked("t", TABLES.customer.key)}`,
  },
  MOMENT,
);
const ADD_CODES = insertRows("customer_code", CODE.columns, "ON CONFLICT DO NOTHING");
const DELETE_TERMS = deleteRows("customer_term", TERM.columns);
const ADD_TERMS = insertRows("customer_term", TERM.columns, "ON CONFLICT DO NOTHING");

const READ_PROVIDER: Prepared = { name: "provider", text: SELECT_PROVIDER };
/** Locks the provider's settings until the end of the transaction. */
const HOLD_PROVIDER: Prepared = { name: "provider_hold", text: `${READ_PROVIDER.text} FOR SHARE` };
const ONE_VIEW: Prepared = { name: "one_view", text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" };

export function customerImports(
  database: Database,
  engine: Engine,
  provider: ProviderSettings,
): Pick<Store, "importCustomers" | "confirmCustomers" | "previewCustomers"> {
  const change = async (
    session: Session,
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ) => {
    const cuids = textArray(rows.map(({ stated }) => stated.cuid));
    const loaded = await session.runAll(STORED.map((statement) => ({ ...statement, values: [cuids, environment] })));
    const [customers, connections, entries] = loaded as [
      RawRow<"customer">[],
      RawRow<"connection">[],
      RawRow<"ledger_entry">[],
    ];
    const part = new CustomerFilePart(environment, rows, { customers, connections, entries });
    const names = part.newNames();
    const owners =
      names.length > 0
        ? await session.run<ConnectionOwner>({ ...OWNERS, values: [textArray(names), environment] })
        : [];
    return part.apply(owners, rules, provider);
  };

  return {
    importCustomers(environment, rows, by, rules) {
      const customers = rows.map(({ stated }) => ({ cuid: stated.cuid, environment }));
      const opening = [LOCK_IMPORT, HOLD_PROVIDER, LOCK_CUSTOMERS(customers)];
      return database.transactPatiently(opening, async ([, stored = []], session) => {
        refuseOtherProvider(stored[0] as ProviderValues | undefined, provider);
        const { effects, writes, events } = await change(session, environment, rows, rules);
        await session.runAll(queriesOf(writes));
        const tx = kyselyOn((ask) => ask(session));
        for (const change of auditOfFile(environment, rules, effects)) await appendAudit(engine, tx, change, by);
        if (await hasTarget(tx)) await session.runAll(appendEvents(events()));
        await session.commit();
        return effects;
      });
    },

    async confirmCustomers(environment, customers) {
      const moments = customers.map(({ cuid, asOf }) => ({ cuid, environment, as_of: asOf.instant }));
      await database.transactPatiently([LOCK_CUSTOMERS(moments)], (_, session) => session.commit([CONFIRM(moments)]));
    },

    /** Holds no lock, and reads one snapshot. */
    previewCustomers: (environment, rows, rules) =>
      database.transact([ONE_VIEW, READ_PROVIDER], async ([, stored = []], session) => {
        refuseOtherProvider(stored[0] as ProviderValues | undefined, provider);
        return (await change(session, environment, rows, rules)).effects;
      }),
  };
}

function queriesOf(writes: CustomerFileWrites): Query[] {
  return [
    ...unlessEmpty(PUT_CUSTOMERS, writes.customers),
    ...unlessEmpty(DELETE_CONNECTIONS, writes.removedConnections),
    ...unlessEmpty(PUT_CONNECTIONS, writes.connections),
    ...unlessEmpty(DELETE_CODES, writes.removedCodes),
    ...unlessEmpty(ADD_CODES, writes.addedCodes),
    ...unlessEmpty(DELETE_TERMS, writes.removedTerms),
    ...unlessEmpty(ADD_TERMS, writes.addedTerms),
    ...appendEntries(writes.entries),
  ];
}
