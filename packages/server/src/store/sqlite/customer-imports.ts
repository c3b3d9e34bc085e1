import { type Attribution, type AuditCheckpoint, NO_ENTRY, nextEntry } from "../../domain/audit.ts";
import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import {
  auditOfFile,
  type ConnectionOwner,
  CustomerFilePart,
  type CustomerFileWrites,
  partsWithoutRepetition,
} from "../customer-files.ts";
import { AUDIT_COLUMNS, auditRow } from "../rows.ts";
import { refuseOtherProvider } from "../settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings } from "../store.ts";
import type { ConnectionRow, CustomerCodeRow, CustomerRow, LedgerEntryRow, ProviderRow } from "../tables.ts";
import { type Database, toRow, type Value } from "./database.ts";
import { appendEntries, ENTRIES, ENTRY_VALUES, entryValues, putHeads } from "./ledgers.ts";

/** What is looked up together: with all that was ever entered, it must not fill the memory. */
const CUSTOMERS_AT_ONCE = 250;

const CUSTOMER_COLUMNS = [
  ...(["cuid", "environment", "first_name", "last_name", "mobile", "mobile_e164", "status", "as_of"] as const),
] satisfies readonly (keyof CustomerRow)[];
const CONNECTION_KEY = ["cuid", "environment", "service", "req_id"] as const;
const CONNECTION_COLUMNS = [
  ...([...CONNECTION_KEY, "position", "status", "blocked", "segment"] as const),
] satisfies readonly (keyof ConnectionRow)[];
const CODE_COLUMNS = ["code", "environment", "cuid"] as const satisfies readonly (keyof CustomerCodeRow)[];

// CROSS JOIN keeps the order of the tables: a customer after the other, each by its key.
const these = (table: string, columns: readonly string[]) => `SELECT ${columns.join(", ")} FROM json_each(?1) AS k
  CROSS JOIN ${table} AS t ON t.cuid = k.value AND t.environment = ?2`;
const CONFIRM = `UPDATE customer SET as_of = max(coalesce(as_of, 0), k.value ->> 1)
  FROM jsonb_each(?1) AS k WHERE cuid = k.value ->> 0 AND environment = ?2`;
const OWNERS = `SELECT n.cuid, n.req_id FROM json_each(?1) AS k
  CROSS JOIN customer_code AS c ON c.code = k.value AND c.environment = ?2
  CROSS JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.req_id = k.value`;
const PROVIDER = "SELECT time_zone, currency_exponent, default_country FROM provider";
const LAST_AUDIT = "SELECT seq, hash FROM audit_entry ORDER BY seq DESC LIMIT 1";

/** A part of a file changes pages all over the database: more of them reach the file in one go. In pages, 64 MiB. */
const LESS_OFTEN = "PRAGMA wal_autocheckpoint = 16000";

/** The SQL of customers files. */
export class CustomerImports {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #customers;
  readonly #connections;
  readonly #entries;
  readonly #owners;
  readonly #confirm;
  readonly #putCustomers;
  readonly #deleteConnections;
  readonly #putConnections;
  readonly #deleteCodes;
  readonly #addCodes;
  readonly #lastEntry;
  readonly #appendEntries;
  readonly #putHeads;
  readonly #lastAudit;
  readonly #appendAudit;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
    database.exec(LESS_OFTEN);
    this.#customers = findMany<CustomerRow>(database, these("customer", CUSTOMER_COLUMNS), CUSTOMER_COLUMNS);
    const connections = `${these("connection", CONNECTION_COLUMNS)} ORDER BY cuid, position`;
    this.#connections = findMany<ConnectionRow>(database, connections, CONNECTION_COLUMNS);
    this.#entries = findMany<LedgerEntryRow>(database, ENTRIES, ENTRY_VALUES);
    this.#confirm = database.prepare(CONFIRM);
    this.#owners = database.prepareRows<ConnectionOwner>(OWNERS);
    this.#putCustomers = insertMany(database, "INSERT OR REPLACE INTO customer", CUSTOMER_COLUMNS);
    this.#deleteConnections = deleteMany(database, "connection", CONNECTION_KEY);
    this.#putConnections = insertMany(database, "INSERT OR REPLACE INTO connection", CONNECTION_COLUMNS);
    this.#deleteCodes = deleteMany(database, "customer_code", CODE_COLUMNS);
    this.#addCodes = insertMany(database, "INSERT OR IGNORE INTO customer_code", CODE_COLUMNS);
    this.#lastEntry = database.prepareRows<{ id: number | null }>("SELECT max(id) AS id FROM ledger_entry");
    this.#appendEntries = database.prepare(appendEntries(ENTRY_VALUES.map(jsonValue), JSON_ROWS));
    this.#putHeads = database.prepare(putHeads("id > ?"));
    this.#lastAudit = database.prepareRows<AuditCheckpoint>(LAST_AUDIT);
    this.#appendAudit = insertMany(database, "INSERT INTO audit_entry", AUDIT_COLUMNS);
  }

  /** To be called inside a write transaction. */
  import(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
  ): CustomerEffect[] {
    const imported: CustomerEffect[] = [];
    for (const part of this.#partsOf(rows)) {
      const { effects, writes } = this.#change(environment, part, rules);
      this.#write(writes);
      for (const effect of effects) imported.push(effect);
    }
    let last = this.#lastAudit()[0] ?? NO_ENTRY;
    const entries = auditOfFile(environment, rules, imported).map((change) => {
      const entry = nextEntry(last, change, by);
      last = entry;
      return auditRow(entry);
    });
    this.#appendAudit(entries);
    return imported;
  }

  /** As the port's `previewCustomers` says. */
  preview(environment: Environment, rows: readonly CustomerRowOfFile[], rules: FileRules): CustomerEffect[] {
    return [...this.#partsOf(rows)].flatMap((part) => this.#change(environment, part, rules).effects);
  }

  /** As the port's `confirmCustomers` says. To be called inside a write transaction. */
  confirm(environment: Environment, rows: readonly CustomerRowOfFile[]): void {
    this.#confirm.run(JSON.stringify(rows.map(({ stated, asOf }) => [stated.cuid, asOf.instant])), environment);
  }

  *#partsOf(rows: readonly CustomerRowOfFile[]): Generator<CustomerRowOfFile[]> {
    refuseOtherProvider(this.#database.prepare(PROVIDER).get() as ProviderRow | undefined, this.#provider);
    for (let from = 0; from < rows.length; from += CUSTOMERS_AT_ONCE)
      yield* partsWithoutRepetition(rows.slice(from, from + CUSTOMERS_AT_ONCE));
  }

  #change(environment: Environment, rows: readonly CustomerRowOfFile[], rules: FileRules) {
    const cuids = JSON.stringify(rows.map(({ stated }) => stated.cuid));
    const stored = {
      customers: this.#customers(cuids, environment),
      connections: this.#connections(cuids, environment),
      entries: this.#entries(cuids, environment),
    };
    const part = new CustomerFilePart(environment, rows, stored);
    const names = part.newNames();
    const owners = names.length > 0 ? this.#owners(JSON.stringify(names), environment) : [];
    return part.apply(owners, rules, this.#provider);
  }

  #write(writes: CustomerFileWrites): void {
    this.#putCustomers(writes.customers);
    this.#deleteConnections(writes.removedConnections);
    this.#putConnections(writes.connections);
    this.#deleteCodes(writes.removedCodes);
    this.#addCodes(writes.addedCodes);
    if (writes.entries.length === 0) return;
    const last = this.#lastEntry()[0]?.id ?? 0;
    this.#appendEntries.run(
      JSON.stringify(writes.entries.map(({ key, plan, entry }) => entryValues(key, plan, entry))),
    );
    this.#putHeads.run(last);
  }
}

/*
 * Any number of rows go to SQLite, and come from it, as one JSON text: the driver takes longer to hand over a value than
 * SQLite to write or to read it. jsonb_each, unlike json_each, does not write each row out as text again.
 */

/** The rows of a query that is asked with a JSON list of cuids, and their environment. */
function findMany<Row>(
  database: Database,
  query: string,
  columns: readonly (keyof Row & string)[],
): (cuids: string, environment: Environment) => Row[] {
  const values = columns.join(", ");
  // SQLite makes the list in the order in which the rows come.
  const statement = database.prepareRows<{ found: string }>(
    `SELECT json_group_array(json_array(${values})) AS found FROM (${query})`,
  );
  return (cuids, environment) => {
    const lists = JSON.parse(statement(cuids, environment)[0]?.found ?? "[]") as unknown[][];
    return lists.map((list) => toRow<Row>(columns, list));
  };
}

const JSON_ROWS = "FROM jsonb_each(?)";
const jsonValue = (_: string, index: number) => `value ->> ${index}`;

type WriteMany<Column extends string> = (rows: readonly Readonly<Record<Column, Value>>[]) => void;

/** @param insert how the statement begins: `INSERT INTO` a table, as it were. */
function insertMany<Column extends string>(
  database: Database,
  insert: string,
  columns: readonly Column[],
): WriteMany<Column> {
  const values = columns.map(jsonValue).join(", ");
  return writeMany(database, `${insert} (${columns.join(", ")}) SELECT ${values} ${JSON_ROWS}`, columns);
}

function deleteMany<Column extends string>(
  database: Database,
  table: string,
  key: readonly Column[],
): WriteMany<Column> {
  const values = key.map(jsonValue).join(", ");
  return writeMany(database, `DELETE FROM ${table} WHERE (${key.join(", ")}) IN (SELECT ${values} ${JSON_ROWS})`, key);
}

function writeMany<Column extends string>(
  database: Database,
  sql: string,
  columns: readonly Column[],
): WriteMany<Column> {
  const statement = database.prepare(sql);
  return (rows) => {
    if (rows.length > 0) statement.run(JSON.stringify(rows.map((row) => columns.map((column) => row[column]))));
  };
}
