import type { ObserveCheckpoints } from "../../store.ts";
import type { Database } from "../database.ts";
import { CHECKPOINT_PAGES } from "../file.ts";
import { checkpointTrouble } from "../trouble.ts";

/** How long one waits for those who read. They are to be a turn of the event loop away from their end. */
const WAITS_MS = 50;

/** The checkpoints of a connection that has a thread to itself, which may wait where the event loop may not. */
export class Checkpoints {
  readonly #database: Database;
  readonly #observe: ObserveCheckpoints;
  readonly #look;
  /** How many pages of the log may be missing in the file. */
  #mostAhead = CHECKPOINT_PAGES;
  #hasFailed = false;

  /** @param observe hears of each that was tried how it ended. */
  constructor(database: Database, observe: ObserveCheckpoints) {
    this.#database = database;
    this.#observe = observe;
    this.#look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    // SQLite would make them inside of a commit, for which somebody waits.
    database.exec("PRAGMA wal_autocheckpoint = 0");
  }

  /**
   * Writes a log that has become long into the file, and has the next write begin it anew, for which nobody may be reading
   * what is only in the log. So it waits, blocking, for views that are older than the last commit: for a turn where all
   * turns look anew. In vain where one lasts longer, as a backup's does. Nobody else can write meanwhile. What fails is
   * left to the next time: no commit needs a checkpoint.
   */
  makeWhereDue(): void {
    this.#makeFrom(this.#mostAhead);
  }

  /** Also tries again at once what has failed, however little was added since: to be called now and then. */
  makeWhereDueOrFailed(): void {
    this.#makeFrom(this.#hasFailed ? 0 : this.#mostAhead);
  }

  #makeFrom(mostAhead: number): void {
    // By an index that others do not share, it would write over what they have written.
    if (!this.#database.isOurs) return;
    try {
      if (pagesAhead(this.#look.get()) < mostAhead) return;
      const state = this.#restart();
      // Whoever reads for long is not waited for again after every batch.
      this.#mostAhead = pagesAhead(state) + CHECKPOINT_PAGES;
      if (!isBusy(state)) this.#ended(undefined);
    } catch (error) {
      this.#mostAhead += CHECKPOINT_PAGES;
      this.#ended(checkpointTrouble(error));
    }
  }

  #ended(trouble: string | undefined): void {
    this.#hasFailed = trouble !== undefined;
    this.#observe(trouble);
  }

  #restart(): unknown {
    this.#database.exec(`PRAGMA busy_timeout = ${WAITS_MS}`);
    try {
      return this.#database.prepare("PRAGMA wal_checkpoint(RESTART)").get();
    } finally {
      this.#database.opened();
    }
  }
}

/** @param state what SQLite says of the log: how many pages it has, and how many of them are in the file. */
function pagesAhead(state: unknown): number {
  const { log, checkpointed } = state as { readonly log: number; readonly checkpointed: number };
  return log - checkpointed;
}

/** Whether others were in the way: that tells nothing of the disk. */
function isBusy(state: unknown): boolean {
  return (state as { readonly busy: number }).busy !== 0;
}
