import pg from "pg";
import { StoreContended, StoreUnavailable } from "../../errors.ts";
import { isDirect, verifyBackends } from "./backends.ts";
import { LeftSessions } from "./left-sessions.ts";
import { within } from "./patience.ts";
import {
  BEGIN,
  clientConfig,
  type Prepared,
  type Purpose,
  type Query,
  Session,
  setUp,
  socketOf,
  WAITS,
} from "./session.ts";
import { LEAVING_MS, Sockets } from "./sockets.ts";
import { OutdatedPlan, translateAtConnecting } from "./trouble.ts";

export interface DatabaseOptions {
  readonly url: string;
  /** How many sessions serve at a time. */
  readonly connections: number;
}

/** A top-up or an import may hold a customer for a moment; more often than this, something is wrong. */
const ATTEMPTS = 5;

/** The sessions that serve requests. Waits for none of them longer than {@link WAITS} says. */
export class Database {
  readonly #options: DatabaseOptions;
  #sessions: PooledSessions;
  /** Former ones, on which requests are still under way. */
  readonly #leaving = new Set<PooledSessions>();
  readonly #left = new LeftSessions();
  /** Why nobody can be served, as long as that is so. */
  #away: string | undefined;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#sessions = makeSessions(options);
  }

  /** Turns requests away at once, until it is back: they, and those under way, would all wait for the same nothing. */
  markAway(why: unknown): void {
    const wasAway = this.#away !== undefined;
    this.#away = (translateAtConnecting(why) as Error).message;
    if (wasAway) return;
    this.renew();
    for (const { sockets } of this.#leaving) sockets.destroyAll();
  }

  markBack(): void {
    this.#away = undefined;
  }

  /** Starts with new sessions: at the other end of the idle ones there may be nobody any more. */
  renew(): void {
    const former = this.#sessions;
    this.#sessions = makeSessions(this.#options);
    this.#leaving.add(former);
    void leave(former).finally(() => this.#leaving.delete(former));
  }

  /**
   * For whatever is to be committed while others are served.
   * @throws StoreUnavailable where that would only hang, and keep a connection, as former commits do.
   */
  async verifyCommits(): Promise<void> {
    await this.#left.verifyGone((statement, values) => this.ask(statement, values));
  }

  /** Asks one question, on a session of its own. */
  async ask<Row>(statement: Prepared, values?: readonly unknown[]): Promise<Row[]> {
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

  async close(): Promise<void> {
    const timer = setTimeout(() => this.#sessions.sockets.destroyAll(), WAITS.closing);
    if (!this.#sessions.pool.ending) await leave(this.#sessions);
    clearTimeout(timer);
    for (const { sockets } of this.#leaving) sockets.destroyAll();
  }

  /** Where statements are outdated, they are so in every session: all are replaced, and the work is done anew. */
  async #withSession<Result>(work: (session: Session, client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    try {
      return await this.#tryWithSession(work);
    } catch (error) {
      if (!(error instanceof OutdatedPlan)) throw error;
    }
    this.renew();
    return this.#tryWithSession(work);
  }

  async #tryWithSession<Result>(work: (session: Session, client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#away !== undefined) throw new StoreUnavailable(`PostgreSQL cannot be reached: ${this.#away}`);
    const client = await this.#takeClient();
    try {
      const result = await work(new Session(client), client);
      client.release(client.getTransactionStatus() !== "I");
      return result;
    } catch (error) {
      // What a session was in the middle of, and what it has prepared, is not known any more. Another one is soon made.
      client.release(true);
      this.#left.add(client, error);
      // The pool takes leave, and waits for the server to do so too.
      setTimeout(() => socketOf(client).destroy(), LEAVING_MS).unref();
      throw error;
    }
  }

  /** The pool has limits of its own for most of its steps, but not for every way in which they go wrong. */
  async #takeClient(): Promise<pg.PoolClient> {
    const taking = this.#sessions.pool.connect();
    try {
      return await within(WAITS.session, taking, "no connection to PostgreSQL could be had in time");
    } catch (error) {
      // One that comes yet is for others.
      void taking.then((client) => client.release()).catch(() => {});
      throw translateAtConnecting(error);
    }
  }
}

interface PooledSessions {
  readonly pool: pg.Pool;
  readonly sockets: Sockets;
}

/** The pool leaves the socket of a session that is refused for the server to close, of which nobody may hear. */
class ServingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (callback === undefined) return super.connect();
    super.connect((error: Error) => {
      // The driver's types do not say that there may be none.
      if (error as Error | null) socketOf(this).destroy();
      callback(error);
    });
    return undefined;
  }
}

function makeSessions({ url, connections }: DatabaseOptions): PooledSessions {
  const sockets = new Sockets();
  // The driver waits for what this gives, though its types do not say so.
  const onConnect = async (client: pg.ClientBase) => {
    try {
      await setUp(client, "serving");
    } catch (error) {
      // The pool tells whoever waits only once the server has closed its side, for which it would wait without end.
      socketOf(client).destroy();
      throw error;
    }
  };
  const config = {
    ...clientConfig({ url, purpose: "serving", sockets }),
    max: connections,
    idleTimeoutMillis: 60_000,
    Client: ServingClient,
  };
  const pool = new pg.Pool({ ...config, ...({ onConnect } as object) });
  // A session that is lost fails what it was doing, or is replaced: nothing more is to be done about it.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return { pool, sockets };
}

/** Waits for what is under way, but for nobody who does not answer. */
async function leave({ pool, sockets }: PooledSessions): Promise<void> {
  await pool.end();
  await sockets.closed();
}

/** Runs `work` on a session outside of the pool. */
export async function withOwnSession<Result>(
  url: string,
  purpose: Purpose,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const client = await openClient(url, purpose);
  try {
    if (purpose === "opening" && !(await isDirect(client))) await verifyPooler(client, url);
    return await work(new Session(client));
  } finally {
    await endClient(client);
  }
}

/** A pooler that has no room for a second session cannot be judged, and is of little use anyway. */
async function verifyPooler(client: pg.Client, url: string): Promise<void> {
  const other = await openClient(url, "opening").catch(() => undefined);
  if (other === undefined) return;
  try {
    await verifyBackends(client, other);
  } finally {
    await endClient(other);
  }
}

/** Rejects with the driver's own error. */
export async function openClient(url: string, purpose: Purpose, sockets = new Sockets()): Promise<pg.Client> {
  const client = new pg.Client(clientConfig({ url, purpose, sockets }));
  socketsOf.set(client, sockets);
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
  const left = client.end().catch(() => {});
  await socketsOf.get(client)?.closed();
  await left;
}

const socketsOf = new WeakMap<pg.Client, Sockets>();
