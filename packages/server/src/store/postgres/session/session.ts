import type { Socket } from "node:net";
import type pg from "pg";
import { StoreRefused, StoreUnavailable } from "../../errors.ts";
import { translate, translateAtCommit } from "./error-translation.ts";
import { type Answer, Exchange, getTypeParser } from "./exchange.ts";

/** A statement of SQL that is prepared once in each session, under its name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

export type Value = string | number | null;

/** A statement with its parameters. */
export interface Query extends Prepared {
  readonly values?: readonly Value[];
}

/**
 * What a session is for. `serving`: partners' requests and imports; every statement has an index and takes little time.
 * `office`: what staff ask and change.
 * `working`: migrations, copies and checks, which take as long as they need.
 */
export type Purpose = "serving" | "office" | "working";

/** In milliseconds; 0 is no limit. */
interface Limits {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
  /** For an answer; longer than a statement may take, so that it speaks of the network. */
  readonly answer: number;
}

/**
 * PostgreSQL enforces all but the last, so that they hold even where this process stands still. From the decision of a
 * top-up on, five statements follow at most, the commit among them. Each may take as long as a statement may, and before
 * each the session may be idle: all together stay below the deadline of recording.
 */
export const LIMITS: Readonly<Record<Purpose, Limits>> = {
  serving: { statement: 3_000, lock: 2_000, idleInTransaction: 1_800, answer: 5_000 },
  office: { statement: 60_000, lock: 5_000, idleInTransaction: 10_000, answer: 65_000 },
  working: { statement: 0, lock: 60_000, idleInTransaction: 0, answer: 0 },
};

/** Less than the two seconds in which topupd is back after an outage: the attempt under way when it ends may be lost. */
export const CONNECTING_MS = 1_500;

const OLDEST_VERSION = 150_000;

/** What the driver needs to know for one session. */
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
    // Statements that belong together go out together, and wait for the network once. The driver's types do not know it.
    ...({ pipeline: true } as object),
  };
}

interface ServerRow {
  version: number;
  encoding: string;
  fsync: string;
  is_standby: boolean;
}

/** Sets a fresh session up. @throws StoreRefused where a promise would not be kept on the server. */
export async function setUp(client: pg.ClientBase, purpose: Purpose): Promise<void> {
  // Still a part of connecting. The driver's types do not know the limit.
  const asking = client.query({ text: setUpText(purpose), ...({ query_timeout: CONNECTING_MS } as object) });
  const results = (await asking) as unknown as pg.QueryResult<ServerRow>[];
  const [row] = results.at(-1)?.rows ?? [];
  const { version, encoding, fsync, is_standby } = row as ServerRow;
  if (version < OLDEST_VERSION) throw new StoreRefused("PostgreSQL 15 or later is needed");
  if (encoding !== "UTF8") throw new StoreRefused(`the database's encoding is ${encoding}, and must be UTF8`);
  if (fsync !== "on") throw new StoreRefused("PostgreSQL runs with fsync=off: top-ups would not survive a crash");
  if (is_standby) throw new StoreUnavailable("PostgreSQL is a standby here: its primary is needed");
}

function setUpText(purpose: Purpose): string {
  const { statement, lock, idleInTransaction } = LIMITS[purpose];
  const isServing = purpose === "serving";
  // A plan that was made while a table was small must not read all of it once it has grown.
  const whole = isServing ? "off" : "on";
  // Every statement has one good plan, so that it need not be planned for each request.
  const plans = isServing ? "force_generic_plan" : "auto";
  // No timeout counts while PostgreSQL waits for the rest of an exchange: a host that has vanished would hold its locks.
  const keepalives = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3";
  return `SET statement_timeout = ${statement}; SET lock_timeout = ${lock};
    SET idle_in_transaction_session_timeout = ${idleInTransaction}; SET jit = off;
    SET plan_cache_mode = ${plans};
    ${keepalives};
    SET enable_seqscan = ${whole}; SET enable_hashjoin = ${whole}; SET enable_mergejoin = ${whole};
    SET enable_material = ${whole};
    SELECT set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false);
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, pg_is_in_recovery() AS is_standby`;
}

/** The driver's types do not show it. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

export const BEGIN: Prepared = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT: Prepared = { name: "commit", text: "COMMIT" };

/** One session with PostgreSQL. Its errors speak of the store where they speak of the server. */
export class Session {
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async run<Row>(query: Query): Promise<Row[]> {
    const [rows] = await this.runAll([query]);
    return rows as Row[];
  }

  /** Sends all at once, to be run one after the other up to the first that fails, with which it rejects. */
  async runAll(queries: readonly Query[]): Promise<unknown[][]> {
    if (queries.length === 0) return [];
    return (await this.#exchange(queries)).map(({ rows }) => rows);
  }

  /** A statement that is asked too seldom to be prepared; or, without values, several. */
  ask(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#client.query({ text, values: [...values] }).catch((error: unknown) => {
      throw translate(error);
    });
  }

  /**
   * Writes, and commits with it: all at once, but each in an exchange of its own. A commit that arrives late must find
   * that PostgreSQL has ended the session, since it was idle in a transaction.
   * @throws StoreUnavailable where it is not known whether the commit happened.
   */
  async commit(queries: readonly Query[] = []): Promise<void> {
    const stream = socketOf(this.#client);
    stream.cork();
    const sent = [...queries, COMMIT].map((query) => this.#exchange([query]));
    stream.uncork();
    const settled = await Promise.allSettled(sent);
    const failed = settled.find((result) => result.status === "rejected");
    if (failed !== undefined) throw translateAtCommit(failed.reason);
    // PostgreSQL answers the commit of a transaction that has failed with a rollback, and no error.
    const [committed] = (settled.at(-1) as PromiseFulfilledResult<Answer[]>).value;
    if (committed?.command !== COMMIT.text) throw new Error("PostgreSQL rolled back what was to be committed");
  }

  #exchange(queries: readonly Query[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      // The driver's types do not know that it takes an exchange.
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
