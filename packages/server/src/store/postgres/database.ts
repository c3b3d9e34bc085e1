import pg from "pg";
import { StoreUnavailable } from "../errors.ts";
import { BEGIN, clientConfig, type Purpose, type Query, Session, type Statement, setUp, WAITS } from "./session.ts";
import { translate } from "./trouble.ts";

export interface DatabaseOptions {
  readonly url: string;
  /** How many sessions serve at a time. */
  readonly connections: number;
}

/** The sessions that serve requests. Waits for none of them longer than {@link WAITS} says. */
export class Database {
  readonly #options: DatabaseOptions;
  #pool: pg.Pool;
  #isAway = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#pool = this.#makePool();
  }

  /** Turns requests away at once, until it is back: they would all wait for the same nothing. */
  markAway(): void {
    this.#isAway = true;
  }

  /** Starts with sessions of its own: those of before may wait for answers that never come. */
  markBack(): void {
    if (!this.#isAway) return;
    const former = this.#pool;
    this.#pool = this.#makePool();
    this.#isAway = false;
    former.end().catch(() => {});
  }

  /** Asks one question, on a session of its own. */
  async ask<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> {
    return this.#withSession((session) => session.run<Row>(statement, values));
  }

  /**
   * Runs `work` in a transaction that it must commit by itself; otherwise it is rolled back.
   * @param opening is sent together with the beginning; `work` gets the rows of each.
   */
  async transact<Result>(
    opening: readonly Query[],
    work: (rows: unknown[][], session: Session) => Promise<Result>,
  ): Promise<Result> {
    return this.#withSession(async (session, client) => {
      try {
        const [, ...rows] = await session.runAll([[BEGIN], ...opening]);
        return await work(rows, session);
      } finally {
        // Where that fails too, the session is not used again, and PostgreSQL rolls back by itself.
        if (client.getTransactionStatus() !== "I") await session.rollBack().catch(() => {});
      }
    });
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #withSession<Result>(work: (session: Session, client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#isAway) throw new StoreUnavailable("PostgreSQL cannot be reached");
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    try {
      const result = await work(new Session(client), client);
      client.release();
      return result;
    } catch (error) {
      // What a session was in the middle of is not known any more, unless it is plainly between transactions.
      client.release(error instanceof StoreUnavailable || client.getTransactionStatus() !== "I");
      throw error;
    }
  }

  #makePool(): pg.Pool {
    const { url, connections } = this.#options;
    // The driver waits for what this gives, though its types do not say so.
    const onConnect = (client: pg.ClientBase) => setUp(client, "serving");
    const config = { ...clientConfig({ url, purpose: "serving" }), max: connections, idleTimeoutMillis: 60_000 };
    const pool = new pg.Pool({ ...config, ...({ onConnect } as object) });
    // A session that is lost fails what it was doing, or is replaced: nothing more is to be done about it.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  }
}

/** Runs `work` on a session outside of the pool. */
export async function withOwnSession<Result>(
  url: string,
  purpose: Purpose,
  work: (session: Session, client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await openClient(url, purpose);
  try {
    return await work(new Session(client), client);
  } finally {
    await endClient(client);
  }
}

/** Rejects with the driver's own error. */
export async function openClient(url: string, purpose: Purpose): Promise<pg.Client> {
  const client = new pg.Client(clientConfig({ url, purpose }));
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
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WAITS.connecting);
  });
  await Promise.race([client.end().catch(() => {}), patience]);
  clearTimeout(timer);
}
