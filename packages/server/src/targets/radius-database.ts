import {
  type CompiledQuery,
  DummyDriver,
  type Generated,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { createPool, type PoolConnection } from "mysql2";
import pg from "pg";
import { type RadiusAddress, readRadiusAddress } from "../domain/radius.ts";
import { DeliveryFailed } from "../domain/target.ts";

/** The tables of FreeRADIUS's SQL module, as far as topupd needs them. */
export interface RadiusTables {
  readonly radcheck: {
    readonly id: Generated<number>;
    readonly username: string;
    readonly attribute: string;
    readonly op: string;
    readonly value: string;
  };
  readonly radusergroup: {
    readonly id: Generated<number>;
    readonly username: string;
    readonly groupname: string;
    readonly priority: number;
  };
}

/** FreeRADIUS needs sessions of the server too. */
const MOST_SESSIONS = 8;
/** Time limit for a session, an answer and a lock. */
const STEP_LIMIT_MS = 5_000;
const LEAVING_MS = 500;
const MOST_TRIES = 5;
const DEADLOCKS: readonly unknown[] = ["ER_LOCK_DEADLOCK", "40P01"];

/** One session with the database. */
interface Session {
  ask<Row>(query: CompiledQuery<Row>): Promise<Row[]>;
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /** Returns the session to the pool; a broken one is closed, so that its transaction is rolled back. */
  leave(how: "whole" | "broken"): void;
}

interface Sessions {
  readonly builder: Kysely<RadiusTables>;
  open(): Promise<Session>;
  close(): Promise<void>;
}

type Ask = Session["ask"];

/** The database of FreeRADIUS. All methods reject with DeliveryFailed. */
export class RadiusDatabase {
  /** Builds statements only. */
  readonly build: Kysely<RadiusTables>;
  readonly #sessions: Sessions;

  /** @param url see readRadiusAddress. */
  constructor(url: string) {
    const address = readRadiusAddress(url);
    if (typeof address === "string") throw new Error(`the RADIUS database ${address}`);
    this.#sessions = address.engine === "postgres" ? postgresSessions(address) : mysqlSessions(address);
    this.build = this.#sessions.builder;
  }

  /** @param signal aborts the work at once. */
  async use<Result>(work: (ask: Ask) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#onSession((session) => work((query) => session.ask(query)), signal);
  }

  /** Repeats the transaction after a deadlock. */
  async transact(work: (ask: Ask) => Promise<void>, signal?: AbortSignal): Promise<void> {
    const attempt = async (session: Session) => {
      await session.begin();
      await work((query) => session.ask(query));
      await session.commit();
    };
    for (let tries = 1; ; tries += 1)
      try {
        return await this.#onSession(attempt, signal);
      } catch (error) {
        if (tries >= MOST_TRIES || !DEADLOCKS.includes(codeOf((error as Error).cause))) throw error;
      }
  }

  /** Does not wait for a server that does not answer. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LEAVING_MS);
    });
    await Promise.race([this.#sessions.close(), waited]);
    clearTimeout(timer);
  }

  async #onSession<Result>(
    work: (session: Session) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const limit = limitOf(signal);
    try {
      return await Promise.race([this.#run(work, limit), limit.passed]);
    } catch (error) {
      throw failureOf(error);
    } finally {
      limit.clear();
    }
  }

  async #run<Result>(work: (session: Session) => Promise<Result>, limit: Limit): Promise<Result> {
    const session = await this.#sessions.open();
    let isLeft = false;
    const leave = (how: "whole" | "broken") => {
      if (!isLeft) session.leave(how);
      isLeft = true;
    };
    limit.onPassed(() => leave("broken"));
    try {
      const result = await work(session);
      leave("whole");
      return result;
    } catch (error) {
      leave("broken");
      throw error;
    }
  }
}

interface Limit {
  /** Rejects when the signal aborts. */
  readonly passed: Promise<never>;
  /** @param end called on abort, or at once if already aborted. */
  onPassed(end: () => void): void;
  clear(): void;
}

function limitOf(signal: AbortSignal | undefined): Limit {
  const ends: (() => void)[] = [];
  const pass = () => {
    for (const end of ends) end();
  };
  const passed = new Promise<never>((_, reject) => {
    ends.push(() => reject(new DeliveryFailed("the RADIUS database did not answer in time")));
  });
  signal?.addEventListener("abort", pass);
  if (signal?.aborted === true) pass();
  return {
    passed,
    onPassed(end) {
      ends.push(end);
      if (signal?.aborted === true) end();
    },
    clear: () => signal?.removeEventListener("abort", pass),
  };
}

function postgresSessions({ engine: _, tls, ...login }: RadiusAddress): Sessions {
  const pool = new pg.Pool({
    ...login,
    max: MOST_SESSIONS,
    fallback_application_name: "topupd",
    ssl: tls === "disable" ? false : { rejectUnauthorized: tls === "verify-full" },
    connectionTimeoutMillis: STEP_LIMIT_MS,
    query_timeout: STEP_LIMIT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // A lost session rejects its query or is replaced.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  // A pooler may not support session settings, so they are set in each transaction.
  const begin =
    `BEGIN; SET LOCAL statement_timeout = ${STEP_LIMIT_MS};` +
    `SET LOCAL idle_in_transaction_session_timeout = ${STEP_LIMIT_MS}`;
  return {
    builder: new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
    async open() {
      const client = await pool.connect();
      return {
        ask: async <Row>({ sql, parameters }: CompiledQuery<Row>) =>
          (await client.query(sql, [...parameters])).rows as Row[],
        begin: () => client.query(begin),
        commit: () => client.query("COMMIT"),
        leave: (how) => client.release(how === "broken"),
      };
    },
    close: () => pool.end(),
  };
}

/** Sessions of MySQL and MariaDB. */
function mysqlSessions({ engine: _, tls, ...login }: RadiusAddress): Sessions {
  const isVerified = tls === "verify-full";
  const ssl = { rejectUnauthorized: isVerified, verifyIdentity: isVerified };
  const pool = createPool({
    ...login,
    connectionLimit: MOST_SESSIONS,
    maxIdle: 1,
    idleTimeout: 10_000,
    ...(tls === "disable" ? {} : { ssl }),
    connectTimeout: STEP_LIMIT_MS,
    enableKeepAlive: true,
  });
  const seconds = STEP_LIMIT_MS / 1000;
  // Strict mode refuses a name that is too long instead of cutting it. Values are bound, so no mode changes them.
  const setUp =
    `SET SESSION innodb_lock_wait_timeout = ${seconds}, SESSION lock_wait_timeout = ${seconds},` +
    `SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')`;
  pool.on("connection", (connection) =>
    connection.query({ sql: setUp, timeout: STEP_LIMIT_MS }, (error) => {
      if (error !== null) connection.destroy();
    }),
  );
  return {
    builder: new Kysely({
      dialect: {
        createAdapter: () => new MysqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new MysqlIntrospector(db),
        createQueryCompiler: () => new MysqlQueryCompiler(),
      },
    }),
    async open() {
      const connection = await new Promise<PoolConnection>((resolve, reject) => {
        pool.getConnection((error, given) => (error === null ? resolve(given) : reject(error)));
      });
      const run = <Row>(sql: string, values: readonly unknown[] = []) =>
        new Promise<Row[]>((resolve, reject) => {
          connection.execute({ sql, values: [...values], timeout: STEP_LIMIT_MS }, (error, rows) =>
            error === null ? resolve(rows as Row[]) : reject(error),
          );
        });
      return {
        ask: <Row>({ sql, parameters }: CompiledQuery<Row>) => run<Row>(sql, parameters),
        begin: () => run("START TRANSACTION"),
        commit: () => run("COMMIT"),
        leave(how) {
          if (how === "whole") return connection.release();
          connection.destroy();
          // The driver would wait for the server to close its side.
          (connection as unknown as { readonly stream: { destroy(): void } }).stream.destroy();
        },
      };
    },
    close: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

/** Reasons by error code of the drivers and servers. Other errors are reported by their code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections",
  EHOSTUNREACH: "cannot be reached",
  ECONNRESET: "closed the connection",
  PROTOCOL_CONNECTION_LOST: "closed the connection",
  ETIMEDOUT: "cannot be reached",
  ENOTFOUND: "has a host without an address",
  PROTOCOL_SEQUENCE_TIMEOUT: "did not answer in time",
  "28P01": "does not let this user in",
  ER_ACCESS_DENIED_ERROR: "does not let this user in",
  "3D000": "is not there",
  ER_BAD_DB_ERROR: "is not there",
  "42P01": "lacks radcheck or radusergroup",
  ER_NO_SUCH_TABLE: "lacks radcheck or radusergroup",
  "42501": "does not let this user write to radcheck or radusergroup",
  ER_TABLEACCESS_DENIED_ERROR: "does not let this user write to radcheck or radusergroup",
};

/** Never uses the server's own message: it may quote stored data. */
function failureOf(error: unknown): DeliveryFailed {
  if (error instanceof DeliveryFailed) return error;
  const code = codeOf(error);
  // The PostgreSQL driver's own errors have no code.
  const reason = code === undefined ? "did not answer, or ended the connection" : REASONS[code];
  // Codes with a digit or underscore come from the server and concern the write; system codes such as EPIPE have none.
  const isAnswer = reason === undefined && /[\d_]/.test(code ?? "");
  return new DeliveryFailed(`the RADIUS database ${reason ?? `failed with ${code}`}`, { cause: error, isAnswer });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
