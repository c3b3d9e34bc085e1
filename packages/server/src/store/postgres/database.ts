import pg from "pg";
import { StoreContended } from "../errors.ts";
import { translateAtConnecting } from "./error-translation.ts";
import { BEGIN, CONNECTING_MS, clientConfig, type Purpose, type Query, Session, setUp, socketOf } from "./session.ts";

export interface DatabaseOptions {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** The maximum number of open sessions. */
  readonly connections: number;
  readonly purpose: Purpose;
  /** The number of migrations that this process knows; undefined if the sessions do not serve. */
  readonly known?: number | undefined;
}

/** A top-up or an import locks a customer only for a moment. After this many attempts, something is wrong. */
const ATTEMPTS = 5;
/** Time for the server to close its side of a connection. */
const LEAVING_MS = 500;

/** A pool of sessions. No operation waits longer than the limits of its purpose. */
export class Database {
  /** See {@link DatabaseOptions}. */
  readonly known: number | undefined;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.ClientBase>();

  constructor({ url, connections, purpose, known }: DatabaseOptions) {
    this.known = known;
    // The driver awaits this promise, although its types do not say so.
    const onConnect = async (client: pg.ClientBase) => {
      try {
        await setUp(client, purpose, known);
      } catch (error) {
        // The pool reports the error only after the server has closed its side, and would wait for that forever.
        socketOf(client).destroy();
        throw error;
      }
    };
    this.#pool = new pg.Pool({
      ...clientConfig(url, purpose),
      max: connections,
      connectionTimeoutMillis: CONNECTING_MS,
      idleTimeoutMillis: 60_000,
      ...({ onConnect } as object),
    });
    // A lost session fails its own query or is replaced when idle: there is nothing more to do.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      client.on("error", () => {});
      this.#clients.add(client);
    });
    this.#pool.on("remove", (client) => this.#clients.delete(client));
  }

  /** Runs one query on any session of the pool. */
  ask<Row>(query: Query): Promise<Row[]> {
    return this.withSession((session) => session.run<Row>(query));
  }

  /**
   * Runs `work` in a transaction. `work` must commit it, or else it is rolled back.
   * @param opening queries sent together with BEGIN; `work` gets the rows of each.
   */
  transact<Result>(
    opening: readonly Query[],
    work: (rows: unknown[][], session: Session) => Promise<Result>,
  ): Promise<Result> {
    return this.withSession(async (session) => {
      const [, ...rows] = await session.runAll([BEGIN, ...opening]);
      return work(rows, session);
    });
  }

  /**
   * Runs {@link transact}, and retries it if rows stay locked too long.
   * @throws StoreContended after the last attempt.
   */
  async transactPatiently<Result>(
    opening: readonly Query[],
    work: (rows: unknown[][], session: Session) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.transact(opening, work);
      } catch (error) {
        if (!(error instanceof StoreContended) || attempt >= ATTEMPTS) throw error;
      }
    }
  }

  /** Lends a session. A transaction that `work` leaves open is rolled back. */
  async withSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translateAtConnecting(error);
    });
    try {
      const result = await work(new Session(client));
      if (client.getTransactionStatus() !== "I") await new Session(client).ask("ROLLBACK");
      client.release();
      return result;
    } catch (error) {
      // The state of the session is unknown. PostgreSQL rolls back its transaction, and the pool makes a new session.
      client.release(true);
      socketOf(client).destroy();
      throw error;
    }
  }

  /** Waits for running queries, but not for a server that does not answer. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
    const leave = () => {
      for (const client of this.#clients) socketOf(client).destroy();
    };
    setTimeout(leave, LEAVING_MS).unref();
  }
}

/** Runs `work` on a session outside of a pool, without a time limit. */
export async function withOwnSession<Result>(
  url: string,
  work: (session: Session, client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await openClient(url, "working");
  try {
    return await work(new Session(client), client);
  } finally {
    await endClient(client);
  }
}

/** Opens a session outside of a pool. Rejects with the driver's own error. */
export async function openClient(url: string, purpose: Purpose, known?: number): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(url, purpose));
  client.on("error", () => {});
  try {
    await client.connect();
    await setUp(client, purpose, known);
    return client;
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

/** Closes a session, even if the server does not answer. */
export async function endClient(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => socketOf(client).destroy(), LEAVING_MS);
  await client.end().catch(() => {});
  clearTimeout(timer);
}
