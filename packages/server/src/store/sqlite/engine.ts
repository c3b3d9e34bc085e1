import { setImmediate } from "node:timers/promises";
import { type CompiledQuery, type Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { toLedgers } from "../customer-files.ts";
import { type ArchiveValue, type Engine, type Filling, kyselyOver, type View, type Writers } from "../engine.ts";
import { LEDGER_KEY } from "../rows.ts";
import { addSalesSql, SOLD } from "../sales.ts";
import type { RawTables, Tables } from "../tables.ts";
import { type Database, translating, type Value } from "./database.ts";
import { appendMany, DELETE_ENTRIES, ledgerValues, OF_LEDGER, readEntries } from "./ledgers.ts";
import { GIVEN_ROWS, givenValue, MANY_ROWS, run, writeMany } from "./many-rows.ts";

interface SqliteEngineParts {
  /** Opens a connection to the file. */
  readonly connect: () => Database;
  /** Called after every commit, so that the other connection of this process ends its view. */
  readonly committed: () => void;
}

export type SqliteEngine = Engine & { close(): Promise<void> };

/** Makes the engine. It has its own connection, opened at the first query. */
export function createSqliteEngine({ connect, committed }: SqliteEngineParts): SqliteEngine {
  let opened: Database | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** Queries and transactions use the connection one after the other. */
  const inTurn = <Result>(work: (database: Database) => Result | Promise<Result>): Promise<Result> => {
    const done = last.then(async () => {
      await othersFirst();
      opened ??= connect();
      return work(opened);
    });
    last = done.catch(() => {});
    return done;
  };
  const transact: Engine["transact"] = (work) =>
    inTurn(async (database) => {
      await database.beginWriting();
      try {
        const result = await work(kyselyOn(async (ask) => ask(database)));
        translating(() => database.commit());
        committed();
        return result;
      } finally {
        database.rollBack();
      }
    });
  return {
    db: kyselyOn(inTurn),
    transact,
    change: transact,
    view: (work) =>
      inTurn(async (database) => {
        await database.beginView();
        try {
          return await work(kyselyOn(async (ask) => ask(database)));
        } finally {
          database.rollBack();
        }
      }),
    // A write transaction locks the whole file: there is nothing else to lock.
    async lockImports(tx) {
      await run(tx, RARE_CHECKPOINTS, []);
    },
    lockCustomers: async () => {},
    lockAuditTrail: async () => {},
    lockEvents: async () => {},
    lockDue: async () => {},
    lockCalls: async () => {},
    lockRecording: async () => {},
    async holderOf(tx, lease) {
      const row = await tx.selectFrom("lease").select("holder").where("name", "=", lease).executeTakeFirst();
      return row?.holder;
    },
    awaitCommits: () => transact(async () => {}),
    async readLedgers(tx, environment, cuids) {
      return toLedgers(await readEntries(tx, environment, cuids));
    },
    appendEntries: appendMany,
    addSales: (tx, rows) => writeMany(tx, ADD_SALES, SOLD, rows),
    rows: MANY_ROWS,
    async deleteEntries(tx, key, plan, seq) {
      await run(tx, DELETE_ENTRIES, [...ledgerValues(key, plan), seq]);
    },
    openView: (writers) => openView(connect, writers),
    openFilling: () => openFilling(connect),
    async close() {
      await last;
      opened?.close();
    },
  };
}

const ADD_SALES = addSalesSql("0", `${SOLD.map(givenValue).join(", ")} ${GIVEN_ROWS} WHERE true`);

/** A checkpoint every 64 MiB: an import changes pages all over the database, and rarer checkpoints write fewer of them. */
const RARE_CHECKPOINTS = "PRAGMA wal_autocheckpoint = 16000";

/** Lends a connection for one statement. */
type WithDatabase = <Result>(work: (database: Database) => Result) => Promise<Result>;

const WRITES = new Set(["InsertQueryNode", "UpdateQueryNode", "DeleteQueryNode"]);

export function kyselyOn(withDatabase: WithDatabase): Kysely<Tables> {
  const dialect = {
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  };
  return kyselyOver(dialect, <Row>({ sql, parameters, query }: CompiledQuery) =>
    withDatabase((database) =>
      translating(() => {
        // The texts of hand-written statements are few.
        const statement = query.kind === "RawNode" ? database.prepareOnce(sql) : database.prepare(sql);
        if (!WRITES.has(query.kind)) return { rows: statement.all(...(parameters as Value[])) as Row[] };
        return { rows: [], numAffectedRows: BigInt(statement.run(...(parameters as Value[])).changes) };
      }),
    ),
  );
}

/** SQLite runs synchronously: this lets the event loop answer partners first. */
export function othersFirst(): Promise<void> {
  return setImmediate();
}

function overView(database: Database): Kysely<Tables> {
  return kyselyOn(async (ask) => {
    await othersFirst();
    return ask(database);
  });
}

/** If writers must wait, the view is a write transaction that writes nothing. */
async function openView(connect: () => Database, writers: Writers): Promise<View> {
  const database = connect();
  try {
    await (writers === "wait" ? database.beginWriting() : database.beginView());
  } catch (error) {
    database.close();
    throw error;
  }
  return { db: overView(database), close: async () => end(database) };
}

/** 64 MiB, because rows may arrive in an order that scatters them over a table. */
const FILLING_CACHE = "PRAGMA cache_size = -65536";

async function openFilling(connect: () => Database): Promise<Filling> {
  const database = connect();
  try {
    await database.beginWriting();
    database.exec(FILLING_CACHE);
  } catch (error) {
    database.close();
    throw error;
  }
  const insertions = new Map<string, (row: readonly ArchiveValue[]) => void>();
  return {
    db: overView(database),
    async insert(table, columns, rows) {
      const insertion = insertions.get(table) ?? insertionInto(database, table, columns);
      insertions.set(table, insertion);
      translating(() => rows.forEach(insertion));
    },
    settle: async () => {},
    commit: async () => translating(() => database.commit()),
    close: async () => end(database),
  };
}

function end(database: Database): void {
  // SQLite delays closing, and with it the end of the transaction, until the last statement is garbage-collected.
  database.rollBack();
  database.close();
}

/** Prepares the insertion of a row. A subscription points to no entry until its entries arrive. */
function insertionInto(database: Database, table: keyof RawTables, columns: readonly string[]) {
  const names = columns.join(", ");
  const values = columns.map((_, index) => `?${index + 1}`).join(", ");
  if (table !== "ledger_entry") {
    const [column, value] = table === "subscription" ? ["last_entry, ", "0, "] : ["", ""];
    const insert = database.prepare(`INSERT INTO ${table} (${column}${names}) VALUES (${value}${values})`);
    return (row: readonly ArchiveValue[]) => void insert.run(...(row as Value[]));
  }
  const places = LEDGER_KEY.map((column) => columns.indexOf(column));
  const isLedger = LEDGER_KEY.map((column, index) => `${column} = ?${(places[index] ?? 0) + 1}`).join(" AND ");
  const append = database.prepare(`INSERT INTO ledger_entry (previous, ${names})
    VALUES ((SELECT nullif(last_entry, 0) FROM subscription WHERE ${isLedger}), ${values})`);
  const lead = database.prepare(`UPDATE subscription SET last_entry = last_insert_rowid() WHERE ${OF_LEDGER}`);
  return (row: readonly ArchiveValue[]) => {
    append.run(...(row as Value[]));
    lead.run(...places.map((place) => row[place] as Value));
  };
}
