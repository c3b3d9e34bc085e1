import type { ObserveCheckpoints } from "../../store.ts";
import type { Database } from "../database.ts";
import { checkpointFailure } from "../error-translation.ts";
import { CHECKPOINT_PAGES } from "../file.ts";

/**
 * So many pages of the log go into the file at a time. Nothing is settled meanwhile, and on a large database, where each has
 * a place of its own on the disk, a long log would take a tenth of a second and more; many short ones take more flushes.
 */
const STEP_PAGES = 2_000;

/** How long one waits for those who read. They are to be a turn of the event loop away from their end. */
const WAITS_MS = 50;

/** The checkpoints of the settler, made between batches, where nobody waits for a commit. */
export class Checkpoints {
  readonly #database: Database;
  readonly #observe: ObserveCheckpoints;
  readonly #look;
  /** How many pages of the log may be missing in the file. */
  #mostAhead = STEP_PAGES;
  /** How long the log may become, in pages, before others are waited for so that it can begin anew. */
  #longest = CHECKPOINT_PAGES;
  #failure: string | undefined;

  /** @param observe is called at each change. */
  constructor(database: Database, observe: ObserveCheckpoints) {
    this.#database = database;
    this.#observe = observe;
    this.#look = database.prepareRows<LogState>("PRAGMA wal_checkpoint(NOOP)");
    // SQLite would make them inside of a commit, for which somebody waits.
    database.exec("PRAGMA wal_autocheckpoint = 0");
  }

  /**
   * Writes what was added to the log into the file, where that is enough. Once all of it is there, and nobody reads what is
   * only in the log, the next write begins the log anew. Where somebody always does, it becomes long; then they are
   * waited for, so that they look anew: in vain where a view lasts longer, as a backup's does. What fails is left to the
   * next time: no commit needs a checkpoint.
   * @param again also tries again what has failed, however little was added since.
   */
  makeWhereDue(again = false): void {
    try {
      const before = this.#look()[0] as LogState;
      if (pagesAhead(before) < this.#mostAhead && !(again && this.#failure !== undefined)) return;
      const isLong = before.log >= this.#longest;
      const after = isLong ? this.#restart() : this.#checkpoint("PASSIVE");
      // Whoever reads for long is not waited for again after every batch.
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

  /** PASSIVE minds nobody and waits for nobody; RESTART also waits for those who read. */
  #checkpoint(mode: "PASSIVE" | "RESTART"): LogState {
    return this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as unknown as LogState;
  }
}

/** What SQLite says of the log, after it was asked for a checkpoint or for none. */
interface LogState {
  /** Whether others were in the way: that tells nothing of the disk. */
  readonly busy: 0 | 1;
  /** How many pages it has. */
  readonly log: number;
  /** How many of them are in the file. */
  readonly checkpointed: number;
}

function pagesAhead({ log, checkpointed }: LogState): number {
  return log - checkpointed;
}
