import { type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { toLedgers } from "../customer-files.ts";
import { type ArchiveValue, type Engine, type Filling, kyselyOver, type View, type Writers } from "../engine.ts";
import { type RawRow, TABLE_NAMES, type Tables } from "../tables.ts";
import { textArray } from "./columns.ts";
import { type Database, endClient, openClient } from "./database.ts";
import { translateAtConnecting } from "./error-translation.ts";
import { ADD_SALES, appendEntries, DELETE_ENTRIES, ENTRIES } from "./ledgers.ts";
import {
  awaitCommits,
  LOCK_AUDIT,
  LOCK_CALLS,
  LOCK_CUSTOMERS,
  LOCK_DUE,
  LOCK_EVENTS,
  LOCK_IMPORT,
  LOCK_RECORDING,
  LOCK_REFERENCE,
  SHARE_RECORDING,
} from "./locks.ts";
import { MANY_ROWS, run } from "./many-rows.ts";
import { BEGIN, type Prepared, type Query, Session } from "./session.ts";

export interface PostgresEngineParts {
  readonly url: string;
  /** The sessions for staff's queries and changes. */
  readonly database: Database;
  /** Called after every change of reference data. */
  readonly changed: () => void;
}

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
    view: (work) => database.transact([ONE_VIEW], (_, session) => work(kyselyOn((ask) => ask(session)))),
    async lockImports(tx, customers) {
      for (const query of [LOCK_IMPORT, HOLD_PROVIDER, LOCK_CUSTOMERS(customers)]) await run(tx, query);
    },
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
    async lockDue(tx, targetId, subjects) {
      await run(tx, LOCK_DUE(targetId, subjects));
    },
    async lockRecording(tx) {
      await run(tx, LOCK_RECORDING);
    },
    async lockCalls(tx) {
      await run(tx, LOCK_CALLS);
    },
    async holderOf(tx, lease) {
      const [row] = await run<{ readonly holder: string }>(tx, { ...HOLDER, values: [lease] });
      return row?.holder;
    },
    async readLedgers(tx, environment, cuids) {
      return toLedgers(await run<RawRow<"ledger_entry">>(tx, { ...ENTRIES, values: [textArray(cuids), environment] }));
    },
    async appendEntries(tx, entries) {
      for (const query of appendEntries(entries)) await run(tx, query);
    },
    async addSales(tx, rows) {
      await run(tx, ADD_SALES(rows));
    },
    rows: MANY_ROWS,
    async deleteEntries(tx, { cuid, environment, service, reqId }, plan, seq) {
      await run(tx, { ...DELETE_ENTRIES, values: [cuid, environment, service, reqId, plan, seq] });
    },
    openView: (writers) => openView({ url, database }, writers),
    openFilling: () => openFilling({ url, database }, changed),
  };
}

/** Lends a session for one statement. */
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

const ONE_VIEW: Prepared = { name: "one_view", text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" };
const HOLD_PROVIDER: Prepared = { name: "provider_hold", text: "SELECT only_row FROM provider FOR SHARE" };
const HOLDER: Prepared = { name: "lease_holder", text: "SELECT holder FROM lease WHERE name = $1 FOR SHARE" };

/** How long to wait for table locks: longer than any batch or portion of an import takes. */
const LOCK_PATIENCE = "SET LOCAL lock_timeout = '10s'";

/*
 * Every recording transaction first locks customers' rows. EXCLUSIVE stops it there, before it holds other locks; SHARE
 * would stop it halfway. SHARE stops all other writers and lets processes start. The order of the tables is the order in
 * which every transaction of topupd locks them.
 */
const LOCKS_OF_VIEW = TABLE_NAMES.map(
  (table) => `LOCK TABLE ${table} IN ${table === "customer" ? "EXCLUSIVE" : "SHARE"} MODE`,
).join("; ");

type ServedBy = Pick<PostgresEngineParts, "url" | "database">;

/*
 * Every statement sees the commits up to the first statement. They include every acknowledged top-up of any process,
 * because PostgreSQL makes a commit visible before it confirms it.
 */
const BEGIN_VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM provider";

async function openView(server: ServedBy, writers: Writers): Promise<View> {
  const begin = writers === "go_on" ? BEGIN_VIEW : `${BEGIN.text}; ${LOCK_PATIENCE}; ${LOCKS_OF_VIEW}`;
  return (await openTransaction(server, begin)).view;
}

async function openFilling(server: ServedBy, changed: () => void): Promise<Filling> {
  const lock = `LOCK TABLE ${TABLE_NAMES.join(", ")} IN EXCLUSIVE MODE`;
  const { session, view } = await openTransaction(server, `${BEGIN.text}; ${LOCK_PATIENCE}; ${lock}`);
  return {
    ...view,
    async insert(table, columns, rows) {
      const names = columns.join(", ");
      const list = JSON.stringify(rows.map((row) => toJsonRow(columns, row)));
      const from = `json_populate_recordset(NULL::${table}, $1::json)`;
      await session.ask(`INSERT INTO ${table} (${names}) SELECT ${names} FROM ${from}`, [list]);
    },
    // Without it, PostgreSQL plans as if the tables were still empty.
    async settle() {
      await session.ask(`ANALYZE ${TABLE_NAMES.join(", ")}`);
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

/** A transaction on its own session, without a time limit. PostgreSQL rolls it back when the session ends. */
async function openTransaction({ url, database: { known } }: ServedBy, begin: string) {
  const client = await openClient(url, "working", known).catch((error: unknown) => {
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
