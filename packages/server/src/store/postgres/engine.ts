import { CompiledQuery, type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { ARCHIVE_TABLES } from "../archive.ts";
import { toLedgers } from "../customer-files.ts";
import { type Engine, type Filling, kyselyOver, type View } from "../engine.ts";
import type { ArchiveValue, Writers } from "../store.ts";
import type { LedgerEntryRow, Raw, Tables } from "../tables.ts";
import { type Database, endClient, openClient } from "./session/database.ts";
import { translateAtConnecting } from "./session/error-translation.ts";
import {
  awaitCommits,
  LOCK_ATTEMPTS,
  LOCK_AUDIT,
  LOCK_CUSTOMERS,
  LOCK_EVENTS,
  LOCK_REFERENCE,
  SHARE_RECORDING,
} from "./session/locks.ts";
import { BEGIN, type Prepared, type Query, Session } from "./session/session.ts";
import { textArray } from "./tables/columns.ts";
import { appendEntries, DELETE_ENTRIES, ENTRIES } from "./tables/customers.ts";

export interface PostgresEngineParts {
  readonly url: string;
  /** For what staff ask and change. */
  readonly database: Database;
  /** Called after every change of reference data. */
  readonly changed: () => void;
}

/** Makes the engine on which the SQL that is written once runs. */
export function createPostgresEngine({ url, database, changed }: PostgresEngineParts): Engine {
  const transact = <Result>(opening: readonly Query[], work: (tx: Kysely<Tables>) => Promise<Result>) =>
    database.transactPatiently(opening, async (_, session) => {
      const result = await work(kyselyOn((ask) => ask(session)));
      await session.commit();
      return result;
    });
  return {
    db: kyselyOn((ask) => database.withSession(ask)),
    transact: (work) => transact([], work),
    change: (work) => transact([LOCK_REFERENCE], work).finally(changed),
    async lockCustomers(tx, customers) {
      await run(tx, LOCK_CUSTOMERS(customers));
      await run(tx, SHARE_RECORDING);
    },
    awaitCommits: () => awaitCommits(database),
    async lockAuditTrail(tx) {
      await run(tx, LOCK_AUDIT);
    },
    async lockEvents(tx) {
      await run(tx, LOCK_EVENTS);
    },
    async lockAttempts(tx) {
      await run(tx, LOCK_ATTEMPTS);
    },
    async holderOf(tx, lease) {
      const [row] = await run<{ readonly holder: string }>(tx, { ...HOLDER, values: [lease] });
      return row?.holder;
    },
    async readLedgers(tx, environment, cuids) {
      return toLedgers(await run<Raw<LedgerEntryRow>>(tx, { ...ENTRIES, values: [textArray(cuids), environment] }));
    },
    async appendEntry(tx, key, plan, entry) {
      for (const query of appendEntries([{ key, plan, entry }])) await run(tx, query);
    },
    async deleteEntries(tx, { cuid, environment, service, reqId }, plan, seq) {
      await run(tx, { ...DELETE_ENTRIES, values: [cuid, environment, service, reqId, plan, seq] });
    },
    openView: (writers) => openView(url, writers),
    openFilling: () => openFilling(url, changed),
  };
}

/** Gives a session, for one statement. */
type WithSession = <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>;

export function kyselyOn(withSession: WithSession): Kysely<Tables> {
  const dialect = {
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  };
  return kyselyOver(dialect, ({ sql, parameters }) =>
    withSession(async (session) => {
      const { rows, rowCount } = await session.ask(sql, parameters);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    }),
  );
}

async function run<Row>(tx: Kysely<Tables>, { text, values = [] }: Query): Promise<Row[]> {
  return (await tx.withoutPlugins().executeQuery(CompiledQuery.raw(text, [...values]))).rows as Row[];
}

const HOLDER: Prepared = { name: "lease_holder", text: "SELECT holder FROM lease WHERE name = $1 FOR SHARE" };

/** How long others may still hold what is to be locked: longer than any batch or portion of an import takes. */
const LOCK_PATIENCE = "SET LOCAL lock_timeout = '10s'";

/*
 * Everything that records begins with a lock on the rows of customers: EXCLUSIVE turns it away there, before it holds
 * anything, where SHARE would let it pass and stop it in its midst. SHARE keeps all others from writing, and lets
 * processes start. Tables are locked in the order in which every transaction of topupd takes them.
 */
const LOCKS_OF_VIEW = ARCHIVE_TABLES.map(
  (table) => `LOCK TABLE ${table} IN ${table === "customer" ? "EXCLUSIVE" : "SHARE"} MODE`,
).join("; ");

/*
 * Every statement sees what was committed when the first one began. A top-up that was acknowledged is among it, whichever
 * process did so: PostgreSQL shows a commit to others before it answers for it.
 */
const ONE_VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM provider";

async function openView(url: string, writers: Writers): Promise<View> {
  const begin = writers === "go_on" ? ONE_VIEW : `${BEGIN.text}; ${LOCK_PATIENCE}; ${LOCKS_OF_VIEW}`;
  return (await openTransaction(url, begin)).view;
}

async function openFilling(url: string, changed: () => void): Promise<Filling> {
  const lock = `LOCK TABLE ${ARCHIVE_TABLES.join(", ")} IN EXCLUSIVE MODE`;
  const { session, view } = await openTransaction(url, `${BEGIN.text}; ${LOCK_PATIENCE}; ${lock}`);
  return {
    ...view,
    async insert(table, columns, rows) {
      const names = columns.join(", ");
      const list = JSON.stringify(rows.map((row) => toJsonRow(columns, row)));
      const from = `json_populate_recordset(NULL::${table}, $1::json)`;
      await session.ask(`INSERT INTO ${table} (${names}) SELECT ${names} FROM ${from}`, [list]);
    },
    // Without it, PostgreSQL takes the tables for as small as they were.
    async settle() {
      await session.ask(`ANALYZE ${ARCHIVE_TABLES.join(", ")}`);
    },
    commit: () => session.commit().finally(changed),
  };
}

function toJsonRow(columns: readonly string[], row: readonly ArchiveValue[]) {
  return Object.fromEntries(
    columns.map((column, index) => {
      const value = row[index];
      return [column, value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value];
    }),
  );
}

/** A transaction on a session of its own, which takes as long as it needs. PostgreSQL takes it back with the session. */
async function openTransaction(url: string, begin: string) {
  const client = await openClient(url, "working").catch((error: unknown) => {
    throw translateAtConnecting(error);
  });
  const session = new Session(client);
  try {
    await session.ask(begin);
  } catch (error) {
    await endClient(client);
    throw error;
  }
  const view: View = { db: kyselyOn((ask) => ask(session)), close: () => endClient(client) };
  return { session, view };
}
