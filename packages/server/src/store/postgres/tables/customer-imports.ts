import type { Attribution } from "../../../domain/audit.ts";
import type { Instant } from "../../../domain/calendar.ts";
import { customerDigest } from "../../../domain/checkout.ts";
import type { Environment } from "../../../domain/customer.ts";
import { customersImported, type ImportedChange } from "../../../domain/customer-audit.ts";
import type { CustomerChange, ImportMode } from "../../../domain/customer-import.ts";
import type { StatedCustomer } from "../../../domain/customer-row.ts";
import { type CustomerEffect, effectOf } from "../../../domain/import-effect.ts";
import { e164Of } from "../../common/provider-settings.ts";
import { StoredCustomers, type StoredRows, withoutRepetition } from "../../common/stored-customers.ts";
import type { ProviderSettings } from "../../store.ts";
import { HOLD_PROVIDER, ONE_VIEW, READ_PROVIDER, verifyProvider } from "../provider.ts";
import type { Database } from "../session/database.ts";
import { LOCK_IMPORT } from "../session/locks.ts";
import type { Prepared, Query, Session } from "../session/session.ts";
import { auditing } from "./audit.ts";
import { type Column, deleteRows, insertRows, replacing } from "./columns.ts";
import { appendEntries, CONNECTION_KEY } from "./ledger.ts";
import { LOCK_CUSTOMERS } from "./top-ups.ts";

const CUSTOMER_KEY = CONNECTION_KEY.slice(0, 3);
const CUSTOMER: readonly Column[] = [
  ...CUSTOMER_KEY,
  ["first_name", "text"],
  ["last_name", "text"],
  ["mobile", "text"],
  ["status", "text"],
  ["mobile_e164", "text"],
];
const CONNECTION: readonly Column[] = [
  ...CONNECTION_KEY,
  ["position", "integer"],
  ["status", "text"],
  ["topped_up", "boolean"],
  ["segment", "text"],
  ["blocked", "boolean"],
];
const CODE: readonly Column[] = [
  ["code", "text"],
  ["environment", "text"],
  ["cuid", "text"],
];
const PUT_CUSTOMERS = insertRows("customer", CUSTOMER, replacing(CUSTOMER_KEY, CUSTOMER));
const DELETE_CONNECTIONS = deleteRows("connection", CONNECTION_KEY);
const PUT_CONNECTIONS = insertRows("connection", CONNECTION, replacing(CONNECTION_KEY, CONNECTION));
const DELETE_CODES = deleteRows("customer_code", CODE);
const PUT_CODES = insertRows("customer_code", CODE, "ON CONFLICT DO NOTHING");

const THESE = "WHERE customer_digest = ANY($1::bigint[]) AND environment = $2";

/** What {@link StoredRows} holds, in its order. */
const LOAD_STORED: readonly Prepared[] = [
  { name: "stored_customers", text: `SELECT * FROM customer ${THESE}` },
  { name: "stored_connections", text: `SELECT * FROM connection ${THESE} ORDER BY cuid, position` },
  { name: "stored_subscriptions", text: `SELECT * FROM subscription ${THESE}` },
  { name: "stored_grants", text: `SELECT * FROM subscription_grant ${THESE} ORDER BY seq` },
];

/** The SQL of customer imports. */
export class CustomerImports {
  readonly #database: Database;
  readonly #provider: ProviderSettings;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
  }

  /** Writes all of the customers in one transaction, or none. */
  async import(
    environment: Environment,
    customers: readonly StatedCustomer[],
    by: Attribution,
    mode: ImportMode,
  ): Promise<CustomerEffect[]> {
    // In one order, whoever takes them.
    const digests = [...new Set(customers.map(({ cuid }) => customerDigest({ environment, cuid })))];
    const opening: Query[] = [LOCK_IMPORT, HOLD_PROVIDER, [LOCK_CUSTOMERS, [digests]]];
    return this.#database.transactPatiently(opening, async ([, provider = []], session) => {
      verifyProvider(provider, this.#provider);
      const imported: ImportedChange[] = [];
      for (const once of withoutRepetition(customers)) {
        const stored = await loadStored(session, environment, once);
        const some = once.map((stated) => stored.change(stated, by.at, mode, this.#provider));
        const changes = some.map(({ change }) => change);
        await session.runAll(writesOf(environment, changes, this.#provider));
        for (const each of some) imported.push(each);
      }
      await session.commit(await auditing(session, customersImported(environment, mode, imported), by));
      return imported.map(effectOf);
    });
  }

  /** As the port's `previewCustomers` says: it holds no lock, and sees one moment. */
  preview(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
  ): Promise<CustomerEffect[]> {
    return this.#database.transact([ONE_VIEW, READ_PROVIDER], async ([, provider = []], session) => {
      verifyProvider(provider, this.#provider);
      const stored = await loadStored(session, environment, customers);
      return customers.map((stated) => effectOf(stored.change(stated, now, mode, this.#provider)));
    });
  }
}

async function loadStored(
  session: Session,
  environment: Environment,
  customers: readonly StatedCustomer[],
): Promise<StoredCustomers> {
  const digests = customers.map(({ cuid }) => customerDigest({ environment, cuid }));
  const rows = await session.runAll(LOAD_STORED.map((statement): Query => [statement, [digests, environment]]));
  const [stored = [], connections = [], subscriptions = [], grants = []] = rows;
  return new StoredCustomers({ customers: stored, connections, subscriptions, grants } as unknown as StoredRows);
}

function writesOf(environment: Environment, changes: readonly CustomerChange[], provider: ProviderSettings): Query[] {
  const of = <Row>(rows: (change: CustomerChange, customer: readonly [number, Environment, string]) => Row[]) =>
    changes.flatMap((change) => {
      const { cuid } = change.profile;
      return rows(change, [customerDigest({ environment, cuid }), environment, cuid]);
    });
  const profiles = of(({ profile, changesProfile }, customer) =>
    changesProfile
      ? [
          [
            ...customer,
            profile.firstName,
            profile.lastName,
            profile.mobile,
            profile.status,
            e164Of(profile.mobile, provider),
          ],
        ]
      : [],
  );
  const removed = of(({ removedConnections }, customer) =>
    removedConnections.map(({ service, reqId }) => [...customer, service, reqId]),
  );
  const connections = of((change, customer) =>
    (change.changesConnections ? change.connections : []).map(
      ({ service, reqId, status, toppedUp, segment, blocked }, position) => [
        ...[...customer, service, reqId],
        ...[position, status, toppedUp, segment, blocked],
      ],
    ),
  );
  const removedCodes = of(({ removedCodes: codes, profile }) => codes.map((code) => [code, environment, profile.cuid]));
  const addedCodes = of(({ addedCodes: codes, profile }) => codes.map((code) => [code, environment, profile.cuid]));
  const entries = of(({ entries: list, profile: { cuid } }) =>
    list.map(({ service, reqId, ...entry }) => ({ ...entry, key: { environment, cuid, service, reqId } })),
  );
  return [
    PUT_CUSTOMERS(profiles),
    DELETE_CONNECTIONS(removed),
    PUT_CONNECTIONS(connections),
    DELETE_CODES(removedCodes),
    PUT_CODES(addedCodes),
    ...appendEntries(entries),
  ];
}
