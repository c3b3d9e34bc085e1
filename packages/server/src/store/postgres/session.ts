import type { Socket } from "node:net";
import pg from "pg";
import { StoreRefused, StoreUnavailable } from "../errors.ts";
import { translate, translateAtCommit } from "./error-translation.ts";
import { foreignMigrations, shareServing } from "./serving.ts";

/** A statement that each session prepares once, under its name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

export type Value = string | number | null;

export interface Query extends Prepared {
  readonly values?: readonly Value[];
}

/**
 * The purpose of a session. `serving`: partners' requests and imports; every statement uses an index and is quick.
 * `office`: staff's queries and changes. `reports`: staff's reports on a standby. `working`: migrations, copies and checks,
 * without a time limit.
 */
export type Purpose = "serving" | "office" | "reports" | "working";

/** Limits in milliseconds; 0 means none. */
interface Limits {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
  /** Limit for an answer, longer than a statement may take: if it passes, the network failed. */
  readonly answer: number;
}

const OFFICE: Limits = { statement: 60_000, lock: 5_000, idleInTransaction: 10_000, answer: 65_000 };

/**
 * PostgreSQL enforces all limits except `answer`, even if this process hangs. At most seven statements follow the decision of
 * a top-up, including the commit. Their statement and idle limits together stay below the deadline of recording.
 */
export const LIMITS: Readonly<Record<Purpose, Limits>> = {
  serving: { statement: 2_500, lock: 2_000, idleInTransaction: 1_500, answer: 5_000 },
  office: OFFICE,
  reports: OFFICE,
  working: { statement: 0, lock: 60_000, idleInTransaction: 0, answer: 0 },
};

/** Less than two seconds, in which topupd must recover after an outage: the attempt running at its end may be lost. */
export const CONNECTING_MS = 1_500;

const OLDEST_VERSION = 150_000;

export function clientConfig(url: string, purpose: Purpose): pg.ClientConfig {
  const { answer } = LIMITS[purpose];
  return {
    connectionString: url,
    fallback_application_name: "topupd",
    connectionTimeoutMillis: CONNECTING_MS,
    ...(answer > 0 ? { query_timeout: answer } : {}),
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser },
    // Related statements are sent together and wait for the network once. The driver's types lack this option.
    ...({ pipeline: true } as object),
  };
}

interface ServerRow {
  version: number;
  encoding: string;
  fsync: string;
  is_standby: boolean;
  /** The number of migrations that this process cannot serve. */
  foreign: number;
}

/** @throws StoreRefused if top-ups would not be safe on this server. @param known see DatabaseOptions. */
export async function setUp(client: pg.ClientBase, purpose: Purpose, known?: number): Promise<void> {
  // This query is a part of connecting. The driver's types lack its time limit.
  const asking = client.query({ text: setUpText(purpose, known), ...({ query_timeout: CONNECTING_MS } as object) });
  const results = (await asking) as unknown as pg.QueryResult<ServerRow>[];
  const [row] = results.at(-1)?.rows ?? [];
  const { version, encoding, fsync, is_standby, foreign } = row as ServerRow;
  if (version < OLDEST_VERSION) throw new StoreRefused("PostgreSQL 15 or later is needed");
  if (encoding !== "UTF8") throw new StoreRefused(`the database's encoding is ${encoding}, and must be UTF8`);
  if (fsync !== "on") throw new StoreRefused("PostgreSQL runs with fsync=off: top-ups would not survive a crash");
  if (foreign > 0)
    throw new StoreRefused("a newer topupd has upgraded the database: stop this one, and start the newer");
  if (purpose === "reports") {
    if (!is_standby) throw new StoreRefused("the reports database is no standby: lists and reports need none, then");
  } else if (is_standby) throw new StoreUnavailable("PostgreSQL is a standby here: its primary is needed");
}

/** The least number that no other session has. The session keeps it by an advisory lock. */
const LANE = "SELECT lane FROM generate_series(0, 9999) AS lane WHERE pg_try_advisory_lock(7461009, lane) LIMIT 1";

function setUpText(purpose: Purpose, known: number | undefined): string {
  const { statement, lock, idleInTransaction } = LIMITS[purpose];
  const isServing = purpose === "serving";
  // A plan made while a table was small must not read the whole table after it has grown.
  const whole = isServing ? "off" : "on";
  // Every statement has one good plan, so planning it again for each request is unnecessary.
  const plans = isServing ? "force_generic_plan" : "auto";
  // No timeout applies while PostgreSQL waits for the rest of an exchange: without keepalives, a lost host keeps its locks.
  const keepalives = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3";
  return `SET statement_timeout = ${statement}; SET lock_timeout = ${lock};
    SET idle_in_transaction_session_timeout = ${idleInTransaction}; SET jit = off;
    SET plan_cache_mode = ${plans};
    ${keepalives};
    SET enable_seqscan = ${whole}; SET enable_hashjoin = ${whole}; SET enable_mergejoin = ${whole};
    SET enable_material = ${whole};
    ${shareServing(known)}
    SELECT set_config('topupd.lane', lane::text, false) FROM (${LANE}) AS l;
    SELECT set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false);
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, pg_is_in_recovery() AS is_standby, ${foreignMigrations(known)} AS foreign`;
}

/** The socket of a session. The driver's types lack it. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

export const BEGIN: Prepared = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT: Prepared = { name: "commit", text: "COMMIT" };

/** One session with PostgreSQL. It rejects with errors of the store if the server failed. */
export class Session {
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async run<Row>(query: Query): Promise<Row[]> {
    const [rows] = await this.runAll([query]);
    return rows as Row[];
  }

  /** Sends all queries at once. PostgreSQL runs them in order. Rejects with the error of the first that fails. */
  async runAll(queries: readonly Query[]): Promise<unknown[][]> {
    if (queries.length === 0) return [];
    return (await this.#exchange(queries)).map(({ rows }) => rows);
  }

  /** Runs a statement without preparing it; without values, the text may contain several statements. */
  ask(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#client.query({ text, values: [...values] }).catch((error: unknown) => {
      throw translate(error);
    });
  }

  /**
   * Runs the queries and commits. All are sent at once, but each in its own exchange, so that PostgreSQL's idle limit ends
   * the session before a commit that arrives too late.
   * @throws StoreUnavailable if it is unknown whether the commit happened.
   */
  async commit(queries: readonly Query[] = []): Promise<void> {
    const stream = socketOf(this.#client);
    stream.cork();
    const sent = [...queries, COMMIT].map((query) => this.#exchange([query]));
    stream.uncork();
    const settled = await Promise.allSettled(sent);
    const failed = settled.find((result) => result.status === "rejected");
    if (failed !== undefined) throw translateAtCommit(failed.reason);
    // PostgreSQL answers COMMIT in a failed transaction with ROLLBACK, and without an error.
    const [committed] = (settled.at(-1) as PromiseFulfilledResult<Answer[]>).value;
    if (committed?.command !== COMMIT.text) throw new Error("PostgreSQL rolled back the transaction");
  }

  #exchange(queries: readonly Query[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      // The driver accepts an exchange, although its types do not say so.
      void this.#client.query(
        new Exchange(queries) as never,
        ((error: unknown, answers: Answer[]) => {
          if (error === null) resolve(answers);
          else reject(translate(error));
        }) as never,
      );
    });
  }
}

/** The result of one statement. */
export interface Answer {
  readonly rows: unknown[];
  /** PostgreSQL's command tag, such as COMMIT. */
  readonly command: string;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The parts of the driver's connection that an exchange uses. The driver's types lack them. */
type Wire = Record<"parse" | "bind" | "describe" | "execute" | "sync", (message?: object) => void> & {
  readonly stream: Socket;
  /** Statements by name: those that PostgreSQL has prepared, and those sent to be prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
};

/** Columns of prepared statements, by session and name. They stay valid: PostgreSQL refuses a statement if they change. */
const columnsOf = new WeakMap<Wire, Map<string, readonly Column[]>>();

/**
 * Prepared statements sent as one packet with one Sync at the end. PostgreSQL stops at the first that fails and sends one
 * answer. The idle limit of a session does not apply inside an exchange: a commit must be alone in one.
 */
export class Exchange extends (pg.Query as unknown as new (config: Prepared) => object) {
  declare callback: (error: unknown, answers?: Answer[]) => void;
  /** The statement that is being answered. The driver reads it to note that PostgreSQL has prepared the statement. */
  declare name: string;
  declare text: string;
  readonly #queries: readonly Query[];
  readonly #answers: Answer[] = [];
  #known = new Map<string, readonly Column[]>();
  #columns: readonly Column[] | undefined;
  #rows: unknown[] = [];

  /** @param queries at least one. */
  constructor(queries: readonly Query[]) {
    super(queries[0] as Query);
    this.#queries = queries;
  }

  submit(wire: Wire): null {
    this.#known = columnsOf.get(wire) ?? this.#known;
    columnsOf.set(wire, this.#known);
    const pieces: Uint8Array[] = [];
    const stream = { writable: true, write: (piece: Uint8Array) => pieces.push(piece) };
    const out: Wire = Object.create(wire, { stream: { value: stream } });
    for (const { name, text, values = [] } of this.#queries) {
      if (!(name in wire.parsedStatements || name in wire.submittedNamedStatements)) {
        out.parse({ name, text });
        wire.submittedNamedStatements[name] = text;
      }
      out.bind({ statement: name, values, valueMapper: toText });
      if (!this.#known.has(name)) out.describe({ type: "P" });
      out.execute({});
    }
    out.sync();
    // One write: each separate packet would wake the server, which takes longer.
    wire.stream.write(Buffer.concat(pieces));
    this.#next();
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: getTypeParser(dataTypeID) }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of (this.#columns ?? []).entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#known.set(this.name, this.#columns ?? []);
    this.#answers.push({ rows: this.#rows, command: text });
    this.#next();
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#answers);
  }

  handleError(error: unknown, { submittedNamedStatements }: Wire): void {
    for (const { name } of this.#queries) delete submittedNamedStatements[name];
    this.callback(error);
  }

  #next(): void {
    const query = this.#queries[this.#answers.length];
    if (query === undefined) return;
    this.name = query.name;
    this.text = query.text;
    this.#columns = this.#known.get(query.name);
    this.#rows = [];
  }
}

function toText(value: Value): string | null {
  return value === null ? null : String(value);
}

const INT8 = 20;

/** Reads int8 as a number: the domain's whole numbers are below 2^53. */
export function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
