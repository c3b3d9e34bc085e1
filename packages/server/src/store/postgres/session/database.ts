import pg from "pg";
import { StoreContended } from "../../errors.ts";
import { translateAtConnecting } from "./error-translation.ts";
import { BEGIN, CONNECTING_MS, clientConfig, type Purpose, type Query, Session, setUp, socketOf } from "./session.ts";

export interface DatabaseOptions {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** How many sessions are open at a time, at most. */
  readonly connections: number;
  readonly purpose: Purpose;
}

/** A top-up or an import may hold a customer for a moment; more often than this, something is wrong. */
const ATTEMPTS = 5;
/** For the server to close its side, which takes it a moment if it can be reached at all. */
const LEAVING_MS = 500;

/** A pool of sessions. Waits for none of them longer than its purpose says. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.ClientBase>();

  constructor({ url, connections, purpose }: DatabaseOptions) {
    // The driver waits for what this gives, though its types do not say so.
    const onConnect = async (client: pg.ClientBase) => {
      try {
        await setUp(client, purpose);
      } catch (error) {
        // The pool tells whoever waits only once the server has closed its side, for which it would wait without end.
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
    // A session that is lost fails what it was doing, or is replaced: nothing more is to be done about it.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      client.on("error", () => {});
      this.#clients.add(client);
    });
    this.#pool.on("remove", (client) => this.#clients.delete(client));
  }

  /** Asks one question, on a session of its own. */
  ask<Row>(query: Query): Promise<Row[]> {
    return this.withSession((session) => session.run<Row>(query));
  }

  /**
   * Runs `work` in a transaction that it must commit by itself; otherwise it is rolled back.
   * @param opening is sent together with the beginning; `work` gets the rows of each.
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
   * As {@link transact}, and again where others held for too long what it was to write.
   * @throws StoreContended where they always did.
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

  /** A session that is left within a transaction is rolled back. */
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
      // What the session was in the middle of is not known any more: PostgreSQL rolls it back. Another one is soon made.
      client.release(true);
      socketOf(client).destroy();
      throw error;
    }
  }

  /** Waits for what is under way, but for nobody who does not answer. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
    const leave = () => {
      for (const client of this.#clients) socketOf(client).destroy();
    };
    setTimeout(leave, LEAVING_MS).unref();
  }
}

/** Runs `work` on a session outside of a pool, which may take as long as it needs. */
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

/** Rejects with the driver's own error. */
export async function openClient(url: string, purpose: Purpose): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(url, purpose));
  client.on("error", () => {});
  try {
    await client.connect();
    await setUp(client, purpose);
    return client;
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

/** Takes leave of the server, if it listens. */
export async function endClient(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => socketOf(client).destroy(), LEAVING_MS);
  await client.end().catch(() => {});
  clearTimeout(timer);
}
