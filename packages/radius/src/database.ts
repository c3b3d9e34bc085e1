import { type LookupFunction, Socket, type TcpSocketConnectOpts } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type CompiledQuery, type Generated, Kysely, MysqlDialect, PostgresDialect } from "kysely";
import { createPool } from "mysql2";
import pg from "pg";

/** A database of FreeRADIUS. */
export interface RadiusAddress {
  readonly engine: "postgres" | "mysql";
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `no-verify`: encrypted, but the server is not verified. */
  readonly tls: "verify-full" | "no-verify" | "disable";
}

/** A failure of the database, in words without secrets and stored data. Rows may have been written. */
export class RadiusFailed extends Error {
  override readonly name = "RadiusFailed";
  /** Whether the server refused this write: it is reachable, and may accept others. */
  readonly isAnswer: boolean;

  constructor(message: string, isAnswer = false, cause?: unknown) {
    super(message, { cause });
    this.isAnswer = isAnswer;
  }
}

/** The used tables of FreeRADIUS's SQL module. */
interface Tables {
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
  readonly radacct: {
    readonly radacctid: number | string;
    readonly username: string;
    readonly acctsessionid: string;
    readonly nasipaddress: string;
    readonly framedipaddress: string | null;
    readonly callingstationid: string | null;
    readonly acctupdatetime: unknown;
    /** Null or the zero date while the session is open. */
    readonly acctstoptime: unknown;
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
  /** Builds statements only. */
  readonly build: Kysely<Tables>;
  open(): Promise<Session>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Name of the program in PostgreSQL's list of sessions. */
  readonly application: string;
  /** Finds the addresses of the host (default: Node's own). Its error EACCES means that they are not allowed. */
  readonly lookup?: LookupFunction | undefined;
}

/** The database of FreeRADIUS. All methods reject with RadiusFailed. A signal aborts the work at once. */
export class RadiusDatabase {
  readonly build: Kysely<Tables>;
  readonly engine: RadiusAddress["engine"];
  readonly #sessions: Sessions;

  constructor(address: RadiusAddress, options: ConnectionOptions) {
    this.#sessions =
      address.engine === "postgres" ? postgresSessions(address, options) : mysqlSessions(address, options);
    this.build = this.#sessions.build;
    this.engine = address.engine;
  }

  async ask<Row>(query: CompiledQuery<Row>, signal?: AbortSignal): Promise<Row[]> {
    return this.#onSession((session) => session.ask(query), signal);
  }

  /** Repeats the transaction after a deadlock. */
  async transact(queries: readonly CompiledQuery[], signal?: AbortSignal): Promise<void> {
    const attempt = async (session: Session) => {
      await session.begin();
      for (const query of queries) await session.ask(query);
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
    await Promise.race([this.#sessions.close(), delay(LEAVING_MS, undefined, { ref: false })]);
  }

  async #onSession<Result>(work: (session: Session) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    let open: Session | undefined;
    const leave = (how: "whole" | "broken") => {
      open?.leave(how);
      open = undefined;
    };
    const run = async () => {
      const session = await this.#sessions.open();
      open = session;
      try {
        signal?.throwIfAborted();
        const result = await work(session);
        leave("whole");
        return result;
      } catch (error) {
        leave("broken");
        throw error;
      }
    };
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        leave("broken");
        reject(new RadiusFailed("the RADIUS database did not answer in time"));
      };
    });
    signal?.addEventListener("abort", abort);
    if (signal?.aborted === true) abort();
    try {
      return await Promise.race([run(), aborted]);
    } catch (error) {
      throw failureOf(error);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** A socket for a driver, which connects it itself. */
function socketWith(lookup: LookupFunction | undefined) {
  const socket = new Socket();
  const connect = socket.connect.bind(socket) as (options: TcpSocketConnectOpts) => Socket;
  return Object.assign(socket, {
    connect: (port: number, host: string) => connect({ port, host, ...(lookup && { lookup }) }),
  });
}

function postgresSessions({ engine: _, tls, ...login }: RadiusAddress, options: ConnectionOptions): Sessions {
  const { application, lookup } = options;
  const pool = new pg.Pool({
    ...login,
    stream: () => socketWith(lookup),
    max: MOST_SESSIONS,
    fallback_application_name: application,
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
    build: new Kysely({ dialect: new PostgresDialect({ pool }) }),
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
function mysqlSessions({ engine: _, tls, ...login }: RadiusAddress, { lookup }: ConnectionOptions): Sessions {
  const isVerified = tls === "verify-full";
  const ssl = { rejectUnauthorized: isVerified, verifyIdentity: isVerified };
  const pool = createPool({
    ...login,
    stream: () => socketWith(lookup).connect(login.port, login.host).setKeepAlive(true).setNoDelay(true),
    connectionLimit: MOST_SESSIONS,
    maxIdle: 1,
    idleTimeout: 10_000,
    ...(tls === "disable" ? {} : { ssl }),
    connectTimeout: STEP_LIMIT_MS,
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
    build: new Kysely({ dialect: new MysqlDialect({ pool }) }),
    async open() {
      const connection = await pool.promise().getConnection();
      const run = async (sql: string, values: readonly unknown[] = []) =>
        (await connection.execute({ sql, values: [...values], timeout: STEP_LIMIT_MS }))[0];
      return {
        ask: async <Row>({ sql, parameters }: CompiledQuery<Row>) => (await run(sql, parameters)) as Row[],
        begin: () => run("START TRANSACTION"),
        commit: () => run("COMMIT"),
        leave(how) {
          if (how === "whole") return connection.release();
          connection.destroy();
          // The driver would wait for the server to close its side.
          (connection.connection as unknown as { readonly stream: { destroy(): void } }).stream.destroy();
        },
      };
    },
    close: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

/** Reasons by error code of the drivers and servers. Other errors are reported by their code. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "has an address that is not allowed",
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
  "42P01": "lacks radcheck, radusergroup or radacct",
  ER_NO_SUCH_TABLE: "lacks radcheck, radusergroup or radacct",
  "42501": "does not let this user use radcheck, radusergroup or radacct",
  ER_TABLEACCESS_DENIED_ERROR: "does not let this user use radcheck, radusergroup or radacct",
};

/** Never uses the server's own message: it may quote stored data. */
function failureOf(error: unknown): RadiusFailed {
  if (error instanceof RadiusFailed) return error;
  const code = codeOf(error);
  // The PostgreSQL driver's own errors have no code.
  const reason = code === undefined ? "did not answer, or ended the connection" : REASONS[code];
  // Codes with a digit or underscore come from the server and concern the write; system codes such as EPIPE have none.
  const isAnswer = reason === undefined && /[\d_]/.test(code ?? "");
  return new RadiusFailed(`the RADIUS database ${reason ?? `failed with ${code}`}`, isAnswer, error);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
