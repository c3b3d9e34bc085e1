import { type AuditCheckpoint, NO_ENTRY, nextEntry } from "../../domain/audit.ts";
import type { Authority } from "../../domain/authority.ts";
import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import { portionsOf } from "../../domain/portions.ts";
import { AUDIT_COLUMNS, auditRow, rightsQuery } from "../audit.ts";
import { auditOfFile, type ConnectionOwner, CustomerFilePart, type CustomerFileWrites } from "../customer-files.ts";
import { RightsEnded } from "../errors.ts";
import { CONNECTION_KEY, entryRow, type NewEntry } from "../rows.ts";
import { type ProviderValues, refuseOtherProvider, SELECT_PROVIDER } from "../settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings, Store } from "../store.ts";
import { columnsOf, type RawRow } from "../tables.ts";
import { type Database, rowMaker, type Value } from "./database.ts";
import { kyselyOn, othersFirst } from "./engine.ts";
import { appendEntries, ENTRIES, eventInsertion, FIND_TARGET, putHeads } from "./ledgers.ts";

/** Customers that are loaded together. Their whole ledgers must fit in memory. */
const CUSTOMERS_AT_ONCE = 250;

const [CUSTOMER, CONNECTION] = [columnsOf("customer"), columnsOf("connection")];
const [CODE, TERM] = [columnsOf("customer_code"), columnsOf("customer_term")];

// CROSS JOIN keeps the order of the tables, so that each customer is found by its key.
const these = (table: string, columns: readonly string[]) => `SELECT ${columns.join(", ")} FROM json_each(?1) AS k
  CROSS JOIN ${table} AS t ON t.cuid = k.value AND t.environment = ?2`;
const CONFIRM = `UPDATE customer SET as_of = max(coalesce(as_of, 0), k.value ->> 1)
  FROM jsonb_each(?1) AS k WHERE cuid = k.value ->> 0 AND environment = ?2`;
const OWNERS = `SELECT n.cuid, n.req_id FROM json_each(?1) AS k
  CROSS JOIN connection AS n ON n.name_key = k.value AND n.environment = ?2`;
/** Columns that have the same value in all entries of an import. They are bound once. */
const SAME = [
  ["environment", "?2"],
  ["at", "?3"],
  ["wall", "?4"],
  ["kind", "'import'"],
] as const;
const EMPTY_IN_IMPORTS: readonly string[] = ["months", "days", "txn_id", "reverses", "author", "reason"];
const OF_IMPORT = columnsOf("ledger_entry").filter(
  (name) => !EMPTY_IN_IMPORTS.includes(name) && !SAME.some(([same]) => same === name),
);
const APPEND_IMPORTS = appendEntries(
  [...SAME, ...OF_IMPORT.map((name, index) => [name, jsonValue(name, index)] as const)],
  "FROM jsonb_each(?1)",
);
const LAST_AUDIT = "SELECT seq, hash FROM audit_entry ORDER BY seq DESC LIMIT 1";

/** A checkpoint every 64 MiB: an import changes pages all over the database, and rarer checkpoints write fewer of them. */
const RARE_CHECKPOINTS = "PRAGMA wal_autocheckpoint = 16000";

export function customerImports(
  database: Database,
  provider: ProviderSettings,
): Pick<Store, "importCustomers" | "confirmCustomers" | "previewCustomers"> {
  database.exec(RARE_CHECKPOINTS);
  const customersOf = findMany<RawRow<"customer">>(database, these("customer", CUSTOMER), CUSTOMER);
  const connections = `${these("connection", CONNECTION)} ORDER BY cuid, position`;
  const connectionsOf = findMany<RawRow<"connection">>(database, connections, CONNECTION);
  const entriesOf = findMany<RawRow<"ledger_entry">>(database, ENTRIES, columnsOf("ledger_entry"));
  const ownersOf = database.prepareRows<ConnectionOwner>(OWNERS);
  const confirm = database.prepare(CONFIRM);
  const putCustomers = putMany(database, "customer", ["cuid", "environment"], CUSTOMER);
  const deleteConnections = deleteMany(database, "connection", CONNECTION_KEY);
  const putConnections = putMany(database, "connection", CONNECTION_KEY, CONNECTION);
  const deleteCodes = deleteMany(database, "customer_code", CODE);
  const addCodes = insertMany(database, "INSERT OR IGNORE INTO customer_code", CODE);
  const deleteTerms = deleteMany(database, "customer_term", TERM);
  const addTerms = insertMany(database, "INSERT OR IGNORE INTO customer_term", TERM);
  const lastEntry = database.prepareRows<{ id: number | null }>("SELECT max(id) AS id FROM ledger_entry");
  const append = database.prepare(APPEND_IMPORTS);
  const putHeadsSince = database.prepare(putHeads("id > ?"));
  const findTarget = database.prepareRows(FIND_TARGET);
  const insertEvent = eventInsertion(database);
  const lastAudit = database.prepareRows<AuditCheckpoint>(LAST_AUDIT);
  const appendAudit = insertMany(database, "INSERT INTO audit_entry", AUDIT_COLUMNS);

  function* partsOf(rows: readonly CustomerRowOfFile[]): Generator<readonly CustomerRowOfFile[]> {
    refuseOtherProvider(database.prepare(SELECT_PROVIDER).get() as ProviderValues | undefined, provider);
    yield* portionsOf(rows, CUSTOMERS_AT_ONCE);
  }

  const change = (environment: Environment, rows: readonly CustomerRowOfFile[], rules: FileRules) => {
    const cuids = JSON.stringify(rows.map(({ stated }) => stated.cuid));
    const part = new CustomerFilePart(environment, rows, {
      customers: customersOf(cuids, environment),
      connections: connectionsOf(cuids, environment),
      entries: entriesOf(cuids, environment),
    });
    const names = part.newNames();
    const owners = names.length > 0 ? ownersOf(JSON.stringify(names), environment) : [];
    return part.apply(owners, rules, provider);
  };

  const write = (environment: Environment, writes: CustomerFileWrites, { now }: FileRules): void => {
    putCustomers(writes.customers);
    deleteConnections(writes.removedConnections);
    putConnections(writes.connections);
    deleteCodes(writes.removedCodes);
    addCodes(writes.addedCodes);
    deleteTerms(writes.removedTerms);
    addTerms(writes.addedTerms);
    if (writes.entries.length === 0) return;
    const last = lastEntry()[0]?.id ?? 0;
    append.run(JSON.stringify(writes.entries.map(importValues)), environment, now.instant, now.wall);
    putHeadsSince.run(last);
  };

  const kysely = kyselyOn(async (ask) => ask(database));
  const requireRights = (authority: Authority | undefined): void => {
    if (authority === undefined) return;
    const { sql, parameters } = rightsQuery(kysely, authority).compile();
    if (database.prepare(sql).get(...(parameters as Value[])) === undefined) throw new RightsEnded();
  };

  return {
    async importCustomers(environment, rows, by, rules) {
      await othersFirst();
      return database.write(() => {
        const imported: CustomerEffect[] = [];
        const hasTarget = findTarget().length > 0;
        for (const part of partsOf(rows)) {
          const { effects, writes, events } = change(environment, part, rules);
          write(environment, writes, rules);
          if (hasTarget) for (const event of events()) insertEvent(event);
          for (const effect of effects) imported.push(effect);
        }
        const changes = auditOfFile(environment, rules, imported);
        if (changes.length > 0) requireRights(by.authority);
        let last = lastAudit()[0] ?? NO_ENTRY;
        const entries = changes.map((audited) => {
          const entry = nextEntry(last, audited, by);
          last = entry;
          return auditRow(entry);
        });
        appendAudit(entries);
        return imported;
      });
    },

    async confirmCustomers(environment, customers) {
      const moments = JSON.stringify(customers.map(({ cuid, asOf }) => [cuid, asOf.instant]));
      await othersFirst();
      await database.write(() => confirm.run(moments, environment));
    },

    async previewCustomers(environment, rows, rules) {
      await othersFirst();
      return database.read(() => [...partsOf(rows)].flatMap((part) => change(environment, part, rules).effects));
    },
  };
}

/*
 * Any number of rows go to SQLite and come back as one JSON text: the driver takes longer to pass a value than SQLite takes
 * to read or write it. Unlike json_each, jsonb_each does not turn each row back into text.
 */

/** Prepares a query that takes a JSON list of cuids and their environment. */
function findMany<Row>(
  database: Database,
  query: string,
  columns: readonly (keyof Row & string)[],
): (cuids: string, environment: Environment) => Row[] {
  // SQLite keeps the order of the rows in the list.
  const statement = database.prepareRows<{ found: string }>(
    `SELECT json_group_array(json_array(${columns.join(", ")})) AS found FROM (${query})`,
  );
  const toRow = rowMaker<Row>(columns);
  return (cuids, environment) => {
    const lists = JSON.parse(statement(cuids, environment)[0]?.found ?? "[]") as unknown[][];
    return lists.map(toRow);
  };
}

const JSON_ROWS = "FROM jsonb_each(?)";

/** A value of a row's list. SQLite skips all values before it, so a short list is faster. */
function jsonValue(_: string, index: number): string {
  return `value ->> ${index}`;
}

/** @param insert the beginning of the statement, such as `INSERT INTO` with a table. */
function insertMany<Column extends string>(database: Database, insert: string, columns: readonly Column[]) {
  const values = columns.map(jsonValue).join(", ");
  return writeMany(database, `${insert} (${columns.join(", ")}) SELECT ${values} ${JSON_ROWS}`, columns);
}

/** Inserts rows or replaces those of the same key. Unlike INSERT OR REPLACE, breaking another unique index is an error. */
function putMany<Column extends string>(
  database: Database,
  table: string,
  key: readonly Column[],
  columns: readonly Column[],
) {
  const values = columns.map(jsonValue).join(", ");
  const changed = columns.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`);
  // Without WHERE, SQLite reads ON CONFLICT as the ON of a join.
  const insert = `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values} ${JSON_ROWS} WHERE true`;
  const sql = `${insert} ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changed.join(", ")}`;
  return writeMany(database, sql, columns);
}

function deleteMany<Column extends string>(database: Database, table: string, key: readonly Column[]) {
  const values = key.map(jsonValue).join(", ");
  return writeMany(database, `DELETE FROM ${table} WHERE (${key.join(", ")}) IN (SELECT ${values} ${JSON_ROWS})`, key);
}

function importValues(entry: NewEntry): Value[] {
  const row = entryRow(entry);
  return OF_IMPORT.map((name) => row[name]);
}

function writeMany<Column extends string>(database: Database, sql: string, columns: readonly Column[]) {
  const statement = database.prepare(sql);
  return (rows: readonly Readonly<Record<Column, Value>>[]): void => {
    if (rows.length > 0) statement.run(JSON.stringify(rows.map((row) => columns.map((column) => row[column]))));
  };
}
