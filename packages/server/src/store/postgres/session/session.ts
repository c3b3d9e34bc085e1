import type { Socket } from "node:net";
import pg from "pg";
import { StoreRefused, StoreUnavailable } from "../../errors.ts";
import { commitWithin } from "./commit-within.ts";
import type { Sockets } from "./sockets.ts";
import { isCancelled, isDivisionByZero, translate, translateAtCommit } from "./trouble.ts";

/** A statement of SQL that is prepared once in each session, under its name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** A statement with its parameters. */
export type Query = readonly [statement: Prepared, values?: readonly unknown[]];

/**
 * How long, in milliseconds, a session waits for anything. PostgreSQL enforces the waits inside a transaction
 * by itself, so that they hold even where this process stands still or cannot be reached.
 *
 * From the decision on, six statements follow at most, the commit among them. Each may take as long as a
 * statement may, and before each the session may be idle, if the network delivers them in pieces: all together
 * stay below the deadline of recording. Where the network holds back a part of one, {@link commitWithin} does.
 */
export const WAITS = {
  /** Less than the two seconds in which topupd is back after an outage: the attempt under way when it ends may be lost. */
  connecting: 1_500,
  statement: 3_000,
  lock: 2_000,
  idleInTransaction: 1_800,
  /** The whole of a transaction: PostgreSQL ends it where it knows this limit (17 and later), and commits no batch after it. */
  transaction: 20_000,
  /** For an answer; longer than a statement may take, so that it speaks of the network. */
  answer: 5_000,
  /** For a session of the pool: to connect one and to set it up, or until one is free. */
  session: 4_000,
  /** For a batch, with all that comes before and after it; longer than all of that may take together. */
  batch: 35_000,
  /** For each step by which a database is opened, but for migrations, which may take as long as they need. */
  opening: 60_000,
  /** For what is still under way when nobody waits for it any more. */
  closing: 6_000,
} as const;

const OLDEST_VERSION = 150_000;

/**
 * What a session is for. `serving`: every statement has an index and takes little time; a plan that was made
 * while a table was small must not read all of it once it has grown. `watching`: one small question, whose
 * answer says whether others would get one. `opening`: what all sessions rest on, and migrations, while nobody else can
 * open. `working`: checks and copies. The last two may take as long as they need.
 */
export type Purpose = "serving" | "watching" | "opening" | "working";

/** In milliseconds; 0 is no limit. */
interface Limits {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
  readonly transaction: number;
  readonly answer: number;
}

const LIMITS: Readonly<Record<Purpose, Limits>> = {
  serving: WAITS,
  // PostgreSQL's own refusal comes well before the silence that speaks of the network.
  watching: { ...WAITS, statement: 1_000, lock: 1_000, answer: 2_000 },
  opening: { statement: 0, lock: 55_000, idleInTransaction: 10_000, transaction: 0, answer: 0 },
  working: { statement: 0, lock: 60_000, idleInTransaction: 0, transaction: 0, answer: 0 },
};

/*
 * A client that is gone without a word, with the network between, is noticed after 25 seconds, and not after the two hours
 * of most systems: it may hold a customer's row. Others than Linux do not know all of these settings.
 *
 * Whatever a promise or a statement rests on is set here, to the value it has where that is good enough: what the
 * session does not set itself would follow the server's, the database's or the role's settings as they change. With
 * row_security off, a policy that hides rows is an error: what cannot be seen must not be told to be missing. Whether
 * triggers fire is a superuser's to set.
 */
const SET_UP = `SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $3, false),
    (SELECT set_config(name, $4, false) FROM pg_settings WHERE name = 'transaction_timeout'),
    (SELECT count(set_config(name, value, false)) FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
      ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '25000')) AS peer(name, value)
      WHERE $6 = 'on' AND version() LIKE '%linux%'),
    set_config('idle_session_timeout', '0', false),
    set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false),
    set_config('client_min_messages', 'warning', false), set_config('array_nulls', 'on', false),
    set_config('quote_all_identifiers', 'off', false), set_config('jit', 'off', false), set_config('enable_seqscan', $5, false),
    set_config('enable_hashjoin', $5, false), set_config('enable_mergejoin', $5, false),
    (SELECT count(set_config('enable_' || way, 'on', false))
      FROM unnest('{indexscan,indexonlyscan,bitmapscan,nestloop,sort}'::text[]) AS way),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('default_transaction_deferrable', 'off', false), set_config('row_security', 'off', false),
    current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
    current_setting('fsync') AS fsync, pg_is_in_recovery() AS is_standby,
    current_setting('session_replication_role') <> 'replica' AS has_triggers`;

interface ServerRow {
  version: number;
  encoding: string;
  fsync: string;
  is_standby: boolean;
  has_triggers: boolean;
}

export interface SessionOptions {
  readonly url: string;
  readonly purpose: Purpose;
  /** Whoever makes the sockets can destroy them. */
  readonly sockets: Sockets;
}

/** What the driver needs to know for one session. */
export function clientConfig({ url, purpose, sockets }: SessionOptions): pg.ClientConfig {
  const { answer } = LIMITS[purpose];
  return {
    connectionString: url,
    fallback_application_name: "topupd",
    connectionTimeoutMillis: WAITS.connecting,
    ...(answer > 0 ? { query_timeout: answer } : {}),
    stream: sockets.open,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser },
    // Statements that belong together go out together, and wait for the network once.
    ...({ pipeline: true } as object),
  };
}

const TOO_SHORT =
  "PostgreSQL took too long to set a session up, though that takes milliseconds: is statement_timeout of the role, the database or the server too short? (ALTER ROLE ... SET statement_timeout = '5s')";

/** Sets a fresh session up. @throws StoreRefused where a promise would not be kept on the server. */
export async function setUp(client: pg.ClientBase, purpose: Purpose): Promise<void> {
  const { statement, lock, idleInTransaction, transaction } = LIMITS[purpose];
  const limits = [statement, lock, idleInTransaction, transaction].map(String);
  const asking = client.query<ServerRow>({
    text: SET_UP,
    values: [
      ...limits,
      purpose === "serving" || purpose === "watching" ? "off" : "on",
      purpose === "working" ? "off" : "on",
    ],
    // Still a part of connecting, for working sessions too. The driver's types do not know it.
    ...({ query_timeout: WAITS.connecting } as object),
  });
  const { rows } = await asking.catch((error: unknown) => {
    // Until then, the session has what the role, the database or the server sets.
    throw isCancelled(error) ? new StoreUnavailable(TOO_SHORT, { cause: error }) : error;
  });
  const { version, encoding, fsync, is_standby, has_triggers } = rows[0] as ServerRow;
  if (version < OLDEST_VERSION) throw new StoreRefused("PostgreSQL 15 or later is needed");
  if (encoding !== "UTF8") throw new StoreRefused(`the database's encoding is ${encoding}, and must be UTF8`);
  if (fsync !== "on") throw new StoreRefused("PostgreSQL runs with fsync=off: top-ups would not survive a crash");
  if (!has_triggers)
    throw new StoreRefused(
      "triggers do not fire here, since session_replication_role is replica: running processes would not hear of revoked tokens (ALTER ROLE or ALTER DATABASE ... RESET session_replication_role)",
    );
  if (is_standby) throw new StoreUnavailable("PostgreSQL is a standby here: its primary is needed");
}

/** The driver's types do not show it. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

/** One session with PostgreSQL. Its errors speak of the store where they speak of the server. */
export class Session {
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async run<Row>(statement: Prepared, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#send(statement, values)).rows as Row[];
  }

  /** Sends all at once, to be run one after the other. Rejects with what failed first. */
  async runAll(queries: readonly Query[]): Promise<unknown[][]> {
    const results = await this.#sendAll(queries);
    return results.map(({ rows }) => rows);
  }

  /** One or more statements that nothing is expected of: transaction control, migrations and the like. */
  async execute(text: string): Promise<void> {
    await this.#client.query(text).catch(rethrow);
  }

  /** A question that is asked too seldom to be prepared. */
  async ask<Row>(text: string): Promise<Row[]> {
    return (await this.#client.query(text).catch(rethrow)).rows as Row[];
  }

  /**
   * Writes, and commits with it.
   * @param withinMs of the transaction's beginning, by PostgreSQL's own clock; later, nothing is committed.
   * @throws StoreUnavailable where it is not known whether the commit happened, or whether it will last.
   */
  async commit(queries: readonly Query[], withinMs?: number): Promise<void> {
    let isWarned = false;
    const onNotice = ({ code }: { readonly code: string | undefined }) => {
      // Its severity may be in the language of the server.
      isWarned ||= code?.startsWith("00") === false;
    };
    this.#client.on("notice", onNotice);
    const sent =
      withinMs === undefined ? this.#sendAll([...queries, [COMMIT]]) : this.#sendAll(queries, commitWithin(withinMs));
    const results = await sent.catch(rethrowAtCommit).finally(() => this.#client.off("notice", onNotice));
    // PostgreSQL answers the commit of a transaction that has failed with a rollback, and no error.
    if (results.at(-1)?.command !== "COMMIT") throw new Error("PostgreSQL rolled back what was to be committed");
    // It commits with a warning where it was told to wait no longer for the standby that must have it too.
    if (isWarned) throw new StoreUnavailable("PostgreSQL has committed, but warns of it");
  }

  async rollBack(): Promise<void> {
    await this.execute("ROLLBACK");
  }

  async #sendAll(queries: readonly Query[], end?: string): Promise<pg.QueryResult[]> {
    const settled = await Promise.allSettled(
      this.#together(() => [
        ...queries.map(([statement, values = []]) => this.#send(statement, values)),
        ...(end === undefined ? [] : [this.#sendAsOne(end)]),
      ]),
    );
    const failed = settled.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    // Of several statements that are one message, the driver gives a list.
    return settled.flatMap((result) => (result as PromiseFulfilledResult<pg.QueryResult | pg.QueryResult[]>).value);
  }

  /** Lets what is sent go out in one piece: in many, each would wake the other side by itself, which takes longer. */
  #together<Result>(send: () => Result): Result {
    const stream = socketOf(this.#client);
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  /** One message, which PostgreSQL reads whole before it begins with it. */
  async #sendAsOne(text: string): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(text);
    } catch (error) {
      throw isDivisionByZero(error)
        ? new StoreUnavailable("the transaction took too long", { cause: error })
        : translate(error);
    }
  }

  #send({ name, text }: Prepared, values: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#client.query({ name, text, values: values as unknown[] }).catch(rethrow);
  }
}

export const BEGIN: Prepared = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT: Prepared = { name: "commit", text: "COMMIT" };

function rethrowAtCommit(error: unknown): never {
  throw translateAtCommit(error);
}

function rethrow(error: unknown): never {
  throw translate(error);
}

const INT8 = 20;
const JSONB = 3802;

/** Whole numbers are below 2^53, as the domain has them; JSON is read by whoever asked for it. */
function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  if (oid === INT8) return Number;
  if (oid === JSONB) return (value) => value;
  return pg.types.getTypeParser(oid, format as "text");
}
