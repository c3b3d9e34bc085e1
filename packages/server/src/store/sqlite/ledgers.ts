import type { ConnectionKey, Environment, NewEntry } from "../../domain/customer.ts";
import type { NewEvent } from "../../domain/event.ts";
import type { ToldChange } from "../../domain/news.ts";
import { CHANGE, type ChangeRow, changeRows, ON_CHANGE } from "../due.ts";
import type { Db } from "../engine.ts";
import { eventRow } from "../events.ts";
import { entryRow, HEAD_COLUMNS, HEAD_FROM_ENTRY, LEDGER_KEY, TOP_UP_ENTRY } from "../rows.ts";
import { namesOf, omit } from "../table.ts";
import { columnsOf, type RawRow, TABLES } from "../tables.ts";
import type { Database, Value } from "./database.ts";
import { GIVEN_ROWS, givenValue, readMany, run, writeMany } from "./many-rows.ts";

const LEDGER = LEDGER_KEY.join(", ");
/** The condition for {@link ledgerValues}. */
export const OF_LEDGER = LEDGER_KEY.map((column, index) => `${column} = ?${index + 1}`).join(" AND ");

const ENTRY = columnsOf("ledger_entry");

/**
 * The statement that appends entries.
 * @param found columns, each with the SQL of its value; other columns stay null. @param from the FROM clause for the values.
 */
export function appendEntries(found: readonly (readonly [(typeof ENTRY)[number], string])[], from = ""): string {
  const [columns, values] = [found.map(([column]) => column), found.map(([, value]) => value)];
  const isLedger = LEDGER_KEY.map((column) => `s.${column} = ${values[columns.indexOf(column)]}`).join(" AND ");
  return `INSERT INTO ledger_entry (previous, ${columns.join(", ")})
    SELECT (SELECT last_entry FROM subscription AS s WHERE ${isLedger}), ${values.join(", ")} ${from}`;
}

/** The statement that updates the subscription rows after entries. @param which the condition that selects the entries. */
export function putHeads(which: string): string {
  return `INSERT INTO subscription (last_entry, ${LEDGER}, ${HEAD_COLUMNS.join(", ")})
    SELECT id, ${LEDGER}, ${Object.values(HEAD_FROM_ENTRY).join(", ")} FROM ledger_entry WHERE ${which}
    ON CONFLICT (${LEDGER}) DO UPDATE SET last_entry = excluded.last_entry,
      ${HEAD_COLUMNS.map((column) => `${column} = excluded.${column}`).join(", ")}`;
}

const PUT_HEADS = putHeads("id > ?1");

/** Appends entries, at most one of each ledger, and updates the subscription rows. */
export async function appendMany(tx: Db, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(entryRow);
  const used = ENTRY.filter((column) => rows.some((row) => row[column] !== null));
  const append = appendEntries(
    used.map((column, index) => [column, givenValue(column, index)]),
    GIVEN_ROWS,
  );
  const [last] = await run<{ id: number | null }>(tx, "SELECT max(id) AS id FROM ledger_entry", []);
  await writeMany(tx, append, used, rows);
  await run(tx, PUT_HEADS, [last?.id ?? 0]);
}

export function ledgerValues({ cuid, environment, service, reqId }: ConnectionKey, plan: string): Value[] {
  return [cuid, environment, service, reqId, plan];
}

/**
 * The entries of a ledger, from the last one back. Each previous entry must be older, so that a damaged chain ends too.
 * CROSS JOIN keeps the order of the tables.
 */
const chainFrom = (lastEntries: string) => `WITH RECURSIVE chain (id) AS (
  ${lastEntries}
  UNION ALL
  SELECT e.previous FROM chain CROSS JOIN ledger_entry AS e ON e.id = chain.id WHERE e.previous < e.id)`;

/** Reads the ledgers of a JSON list of cuids in an environment, each in the order of its entries. */
const ENTRIES = `${chainFrom(`SELECT s.last_entry FROM json_each(?1) AS k
    CROSS JOIN subscription AS s ON s.cuid = k.value AND s.environment = ?2`)}
  SELECT ${ENTRY.join(", ")} FROM chain CROSS JOIN ledger_entry USING (id)
  ORDER BY ${LEDGER}, seq`;

export function readEntries(db: Db, environment: Environment, cuids: readonly string[]) {
  return readMany<RawRow<"ledger_entry">>(db, ENTRIES, ENTRY, [JSON.stringify(cuids), environment]);
}

/** One row if a partner has topped up a customer. */
export const TOPPED_UP = `${chainFrom("SELECT last_entry FROM subscription WHERE cuid = ?1 AND environment = ?2")}
  SELECT 1 FROM chain CROSS JOIN ledger_entry AS e USING (id) CROSS JOIN top_up AS t ON t.txn_id = e.txn_id
  WHERE t.partner_id = ?3 LIMIT 1`;

/**
 * Deletes the entries of a ledger below a number (the value after the ledger's key). The first entry that stays then points
 * to a missing one, and the ledger begins there.
 */
export const DELETE_ENTRIES = `${chainFrom(`SELECT last_entry FROM subscription WHERE ${OF_LEDGER}`)}
  DELETE FROM ledger_entry WHERE id IN (SELECT id FROM chain) AND seq < ?6`;

export const bound = (columns: readonly string[]) => columns.map((column) => `@${column}`).join(", ");
const OF_TOP_UP = namesOf(TOP_UP_ENTRY);
/** The subscription after a top-up takes its name from the bouquet of the top-up. */
const APPEND_TOP_UP = `INSERT INTO ledger_entry
    (previous, kind, after_code, after_name, after_add_on, ${OF_TOP_UP.join(", ")})
  VALUES ($previous, 'top_up', @code, @name, @add_on, ${bound(OF_TOP_UP)})`;
const MOVE_HEAD = `UPDATE subscription SET last_entry = $last,
    ${HEAD_COLUMNS.map((column) => `${column} = @${HEAD_FROM_ENTRY[column]}`).join(", ")}
  WHERE ${LEDGER_KEY.map((column) => `${column} = @${column}`).join(" AND ")}`;

/** Appends the entry of a top-up and updates the subscription row. @returns takes the row id of the ledger's last entry. */
export function topUpAppending(database: Database) {
  type Row = RawRow<"ledger_entry">;
  const appendEntry = database.prepareWrite<Row>(appendEntries(ENTRY.map((column) => [column, `@${column}`])));
  const putHead = database.prepare(putHeads("id = last_insert_rowid()"));
  const appendTopUp = database.prepareWrite<Row, { previous: number }>(APPEND_TOP_UP);
  const moveHead = database.prepareWrite<Row, { last: number | bigint }>(MOVE_HEAD);
  return (entry: NewEntry, previous: number | undefined): void => {
    const row = entryRow(entry);
    if (previous === undefined) {
      appendEntry(row);
      putHead.run();
      return;
    }
    const { lastInsertRowid: last } = appendTopUp(row, { previous });
    moveHead(row, { last });
  };
}

/** Returns a row if the provider has a target, so that events must be written. */
export const FIND_TARGET = "SELECT 1 FROM target WHERE partner_id IS NULL LIMIT 1";
/** The webhook of an account. */
export const FIND_WEBHOOK = "SELECT id, partner_id, environment FROM target WHERE partner_id = ? AND environment = ?";

const EVENT = namesOf(omit(TABLES.event.columns, TABLES.event.key));
/** SQLite gives each event the next number. */
const INSERT = `INSERT INTO event (${EVENT.join(", ")}) VALUES (${bound(EVENT)})`;

/** Prepares the function that writes an event in a transaction. */
export function eventInsertion(database: Database): (event: NewEvent) => void {
  const insert = database.prepareWrite<ReturnType<typeof eventRow>>(INSERT);
  return (event) => void insert(eventRow(event));
}

const CHANGE_NAMES = namesOf(CHANGE);
const CHANGE_DUE = `INSERT INTO due (${CHANGE_NAMES.join(", ")}) VALUES (${bound(CHANGE_NAMES)}) ${ON_CHANGE}`;

/** Prepares the function that makes subjects due at their targets, in a transaction. */
export function dueChanging(database: Database): (changes: readonly ToldChange[]) => void {
  const put = database.prepareWrite<ChangeRow>(CHANGE_DUE);
  return (changes) => {
    for (const row of changeRows(changes)) put(row);
  };
}
