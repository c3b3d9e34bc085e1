import {
  type Attribution,
  type AuditCheckpoint,
  type AuditedChange,
  NO_ENTRY,
  nextEntry,
} from "../../../domain/audit.ts";
import type { Environment } from "../../../domain/customer.ts";
import type { CustomerEffect } from "../../../domain/customer-audit.ts";
import {
  auditOfFile,
  type ConnectionOwner,
  CustomerFilePart,
  type CustomerFileWrites,
  partsWithoutRepetition,
} from "../../customer-files.ts";
import { AUDIT_COLUMNS, auditRow } from "../../rows.ts";
import { refuseOtherProvider } from "../../settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings } from "../../store.ts";
import type { ConnectionRow, CustomerRow, LedgerEntryRow, ProviderRow } from "../../tables.ts";
import type { Database } from "../session/database.ts";
import { LOCK_AUDIT, LOCK_IMPORT } from "../session/locks.ts";
import type { Prepared, Query, Session } from "../session/session.ts";
import { asked, deleteRows, insertRows, isAsked, putRows, withRows } from "./columns.ts";
import { appendEntries, CONNECTION_KEY, ENTRIES } from "./ledgers.ts";
import { LOCK_CUSTOMERS } from "./top-ups.ts";

const CUSTOMER_COLUMNS = [
  ...(["cuid", "environment", "first_name", "last_name", "mobile", "mobile_e164", "status", "as_of"] as const),
] satisfies readonly (keyof CustomerRow)[];
const CONNECTION_COLUMNS = [
  ...([...CONNECTION_KEY, "position", "status", "blocked", "segment"] as const),
] satisfies readonly (keyof ConnectionRow)[];
const CODE_COLUMNS = ["code", "environment", "cuid"] as const;

const THESE = "WHERE cuid = ANY($1::text[]) AND environment = $2";
const STORED: readonly Prepared[] = [
  { name: "stored_customers", text: `SELECT ${CUSTOMER_COLUMNS.join(", ")} FROM customer ${THESE}` },
  {
    name: "stored_connections",
    text: `SELECT ${CONNECTION_COLUMNS.join(", ")} FROM connection ${THESE} ORDER BY cuid, position`,
  },
  ENTRIES,
];
/** A name may be another's mobile number too, which is allowed. */
const OWNERS: Prepared = {
  name: "connection_owners",
  text: `SELECT n.cuid, n.req_id FROM unnest($1::text[]) AS k(code)
    JOIN customer_code AS c ON c.code = k.code AND c.environment = $2
    JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.req_id = k.code`,
};

const PUT_CUSTOMERS = putRows("customer", ["cuid", "environment"], CUSTOMER_COLUMNS);
const DELETE_CONNECTIONS = deleteRows("connection", CONNECTION_KEY);
const PUT_CONNECTIONS = putRows("connection", CONNECTION_KEY, CONNECTION_COLUMNS);
const DELETE_CODES = deleteRows("customer_code", CODE_COLUMNS);
const MOMENT_COLUMNS = ["cuid", "environment", "as_of"] as const;
const CONFIRM = withRows(
  {
    name: "customer_confirm",
    text: `UPDATE customer AS t SET as_of = greatest(t.as_of, k.as_of)
      FROM ${asked(MOMENT_COLUMNS)} WHERE ${isAsked("t", ["cuid", "environment"])}`,
  },
  MOMENT_COLUMNS,
);
const ADD_CODES = insertRows("customer_code", CODE_COLUMNS, "ON CONFLICT DO NOTHING");

const READ_PROVIDER: Prepared = {
  name: "provider",
  text: "SELECT time_zone, currency_exponent, default_country FROM provider",
};
/** The settings stay what they are until the transaction ends. */
const HOLD_PROVIDER: Prepared = { name: "provider_hold", text: `${READ_PROVIDER.text} FOR SHARE` };
const ONE_VIEW: Query = [{ name: "one_view", text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" }];

const LAST_AUDIT: Prepared = {
  name: "audit_last",
  text: "SELECT seq, hash FROM audit_entry ORDER BY seq DESC LIMIT 1",
};
const APPEND_AUDIT = insertRows("audit_entry", AUDIT_COLUMNS);

/** The SQL of customers files. */
export class CustomerImports {
  readonly #database: Database;
  readonly #provider: ProviderSettings;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
  }

  /** Writes all of the rows in one transaction, or none. */
  import(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
  ): Promise<CustomerEffect[]> {
    const customers = [...new Set(rows.map(({ stated }) => stated.cuid))].map((cuid) => ({ cuid, environment }));
    const opening = [LOCK_IMPORT, [HOLD_PROVIDER], LOCK_CUSTOMERS(customers)] as const;
    return this.#database.transactPatiently(opening, async ([, provider = []], session) => {
      refuseOtherProvider(provider[0] as ProviderRow | undefined, this.#provider);
      const imported: CustomerEffect[] = [];
      for (const part of partsWithoutRepetition(rows)) {
        const { effects, writes } = await this.#change(session, environment, part, rules);
        await session.runAll(queriesOf(writes));
        for (const effect of effects) imported.push(effect);
      }
      await session.commit(await appendAudit(session, auditOfFile(environment, rules, imported), by));
      return imported;
    });
  }

  /** As the port's `confirmCustomers` says. */
  async confirm(environment: Environment, rows: readonly CustomerRowOfFile[]): Promise<void> {
    const moments = rows.map(({ stated, asOf }) => ({ cuid: stated.cuid, environment, as_of: asOf.instant }));
    await this.#database.transactPatiently([LOCK_CUSTOMERS(moments)], (_, session) =>
      session.commit([CONFIRM(moments)]),
    );
  }

  /** As the port's `previewCustomers` says: it holds no lock, and sees one moment. */
  preview(environment: Environment, rows: readonly CustomerRowOfFile[], rules: FileRules): Promise<CustomerEffect[]> {
    return this.#database.transact([ONE_VIEW, [READ_PROVIDER]], async ([, provider = []], session) => {
      refuseOtherProvider(provider[0] as ProviderRow | undefined, this.#provider);
      const previewed: CustomerEffect[] = [];
      for (const part of partsWithoutRepetition(rows))
        previewed.push(...(await this.#change(session, environment, part, rules)).effects);
      return previewed;
    });
  }

  async #change(
    session: Session,
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ): Promise<ReturnType<CustomerFilePart["apply"]>> {
    const cuids = rows.map(({ stated }) => stated.cuid);
    const loaded = await session.runAll(STORED.map((statement) => [statement, [cuids, environment]]));
    const [customers, connections, entries] = loaded as [CustomerRow[], ConnectionRow[], LedgerEntryRow[]];
    const part = new CustomerFilePart(environment, rows, { customers, connections, entries });
    const names = part.newNames();
    const owners = names.length > 0 ? await session.run<ConnectionOwner>([OWNERS, [names, environment]]) : [];
    return part.apply(owners, rules, this.#provider);
  }
}

function queriesOf(writes: CustomerFileWrites): Query[] {
  const { customers, removedConnections, connections, removedCodes, addedCodes, entries } = writes;
  return [
    ...(customers.length > 0 ? [PUT_CUSTOMERS(customers)] : []),
    ...(removedConnections.length > 0 ? [DELETE_CONNECTIONS(removedConnections)] : []),
    ...(connections.length > 0 ? [PUT_CONNECTIONS(connections)] : []),
    ...(removedCodes.length > 0 ? [DELETE_CODES(removedCodes)] : []),
    ...(addedCodes.length > 0 ? [ADD_CODES(addedCodes)] : []),
    ...appendEntries(entries),
  ];
}

/** What appends to the audit trail: from here to the commit nobody else can, so it is the last that is asked for. */
async function appendAudit(session: Session, changes: readonly AuditedChange[], by: Attribution): Promise<Query[]> {
  if (changes.length === 0) return [];
  const [, [last]] = (await session.runAll([LOCK_AUDIT, [LAST_AUDIT]])) as [unknown, AuditCheckpoint[]];
  let head = last ?? NO_ENTRY;
  const entries = changes.map((change) => {
    const entry = nextEntry(head, change, by);
    head = entry;
    return auditRow(entry);
  });
  return [APPEND_AUDIT(entries)];
}
