import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createZone, type Instant } from "../../domain/wall-time.ts";
import { Batcher } from "../batcher.ts";
import type { Settled, SettlingItem } from "../settling.ts";
import type { ObserveBatch, ObserveCheckpoints, ProviderSettings } from "../store.ts";
import { Database } from "./database.ts";
import { CHECKPOINT_PAGES, checkpointFailure } from "./file.ts";
import { SqliteReferenceCache } from "./reference-cache.ts";
import { type Answered, type Asked, failureOf, Messages, packOutcome, unpackItem } from "./settler-protocol.ts";
import { topUpTables } from "./top-ups.ts";

/** The start parameters of the settler, as plain data. */
export interface SettlerData extends Omit<ProviderSettings, "zone" | "normaliseMobile"> {
  /** The database file. */
  readonly path: string;
  readonly timeZone: string;
  /** The path of the socket to create. */
  readonly socketPath: string;
}

export interface SettlerOptions {
  readonly data: SettlerData;
  readonly clock: () => Instant;
  readonly observeBatch: ObserveBatch;
  readonly observeCheckpoints: ObserveCheckpoints;
}

export interface SettlerServer {
  /** Call it regularly: it retries a failed checkpoint even if nothing is settled. */
  readonly ping: () => void;
  /** Settles the waiting items and closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Settles the items of all workers in shared batches, on the only connection that records top-ups.
 * @throws StoreUnavailable if the database cannot be opened.
 */
export async function serveSettling(options: SettlerOptions): Promise<SettlerServer> {
  const { data, clock, observeBatch, observeCheckpoints } = options;
  const { timeZone, currencyExponent, defaultCountry, basePlans, monthsAhead } = data;
  const provider = { zone: createZone(timeZone), currencyExponent, defaultCountry, basePlans, monthsAhead };
  const database = new Database(data.path, { mustExist: true });
  const reference = new SqliteReferenceCache(database, provider);
  const checkpoints = new Checkpoints(database, observeCheckpoints);
  const topUps = topUpTables({ database, provider, clock, reference });
  const batcher = new Batcher<SettlingItem, Settled>({
    // The next turn sends the answers. The checkpoint comes one turn later, so that they do not wait for it.
    settle: (batch) =>
      topUps.settle(batch).finally(() => setImmediate(() => setImmediate(() => checkpoints.makeIfDue()))),
    observe: observeBatch,
  });
  const workers = new Set<Messages<Answered, Asked>>();
  const server = createServer((socket) => {
    const worker = serveWorker(socket, (item) => batcher.add(item));
    workers.add(worker);
    socket.on("close", () => workers.delete(worker));
    // The items of a worker that has ended are still settled.
    socket.on("error", () => {});
  });
  server.listen(data.socketPath);
  await once(server, "listening");
  return {
    ping: () => checkpoints.makeIfDue(true),
    async close() {
      server.close();
      await batcher.drained();
      for (const worker of workers) worker.end();
      database.close();
    },
  };
}

function serveWorker(socket: Socket, settle: (item: SettlingItem) => Promise<Settled>): Messages<Answered, Asked> {
  const messages = new Messages<Answered, Asked>(socket, (asked) => {
    for (const [id, item] of asked) {
      settle(unpackItem(item)).then(
        (settled) => messages.send([id, packOutcome(settled)]),
        (error: unknown) => messages.send([id, undefined, failureOf(error)]),
      );
    }
  });
  return messages;
}

/**
 * Pages of the write-ahead log that one checkpoint writes into the file. Nothing is settled meanwhile. On a large database,
 * whose pages are scattered over the disk, more pages would take over 100 ms; fewer would need more flushes.
 */
const STEP_PAGES = 2_000;

/** How long a checkpoint waits for readers. A reader needs at most one turn of the event loop. */
const WAITS_MS = 50;

/** Makes the settler's checkpoints between batches, when no commit waits. */
export class Checkpoints {
  readonly #database: Database;
  readonly #observe: ObserveCheckpoints;
  readonly #readLogState;
  /** Pages that the log may be ahead of the file before the next checkpoint. */
  #mostAhead = STEP_PAGES;
  /** Length of the log, in pages, above which a checkpoint waits for readers so that the log can restart. */
  #longest = CHECKPOINT_PAGES;
  #failure: string | undefined;

  /** @param observe is called at each change. */
  constructor(database: Database, observe: ObserveCheckpoints) {
    this.#database = database;
    this.#observe = observe;
    this.#readLogState = database.prepareRows<LogState>("PRAGMA wal_checkpoint(NOOP)");
    // SQLite's own checkpoints would run inside a commit and delay it.
    database.exec("PRAGMA wal_autocheckpoint = 0");
  }

  /**
   * Writes the log into the file if enough pages were added. When all pages are in the file and no reader needs the log,
   * the next write restarts the log. If readers always need it, the log grows; a checkpoint then waits for them, in vain if
   * a view lasts longer, such as a backup's. A failed checkpoint is retried later: no commit needs it.
   * @param again whether to retry a failed checkpoint even if few pages were added since.
   */
  makeIfDue(again = false): void {
    try {
      const before = this.#readLogState()[0] as LogState;
      if (pagesAhead(before) < this.#mostAhead && !(again && this.#failure !== undefined)) return;
      const isLong = before.log >= this.#longest;
      const after = isLong ? this.#restart() : this.#checkpoint("PASSIVE");
      // A long reader must not delay every batch.
      if (isLong) this.#longest = after.busy === 1 ? after.log + 2 * STEP_PAGES : CHECKPOINT_PAGES;
      this.#mostAhead = pagesAhead(after) + STEP_PAGES;
      if (after.busy === 0) this.#ended(undefined);
    } catch (error) {
      this.#mostAhead += CHECKPOINT_PAGES;
      this.#ended(checkpointFailure(error));
    }
  }

  #ended(failure: string | undefined): void {
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#observe(failure);
  }

  #restart(): LogState {
    this.#database.exec(`PRAGMA busy_timeout = ${WAITS_MS}`);
    try {
      return this.#checkpoint("RESTART");
    } finally {
      this.#database.exec("PRAGMA busy_timeout = 0");
    }
  }

  /** PASSIVE waits for nothing; RESTART waits for readers. */
  #checkpoint(mode: "PASSIVE" | "RESTART"): LogState {
    return this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as unknown as LogState;
  }
}

/** The state of the write-ahead log, as SQLite reports it. */
interface LogState {
  /** Whether readers prevented the checkpoint; the disk may still be fine. */
  readonly busy: 0 | 1;
  /** Pages in the log. */
  readonly log: number;
  /** Pages of the log that are in the file too. */
  readonly checkpointed: number;
}

function pagesAhead({ log, checkpointed }: LogState): number {
  return log - checkpointed;
}
