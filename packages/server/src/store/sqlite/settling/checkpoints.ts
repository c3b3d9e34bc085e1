import type { Database } from "../database.ts";
import { CHECKPOINT_PAGES } from "../file.ts";

/** How long one waits for those who read. They are to be a turn of the event loop away from their end. */
const WAITS_MS = 50;

/** The checkpoints of a connection that has a thread to itself, which may wait where the event loop may not. */
export class Checkpoints {
  readonly #database: Database;
  readonly #look;
  /** How many pages of the log may be missing in the file. */
  #mostAhead = CHECKPOINT_PAGES;

  constructor(database: Database) {
    this.#database = database;
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
    // By an index that others do not share, it would write over what they have written.
    if (!this.#database.isOurs) return;
    try {
      if (pagesAhead(this.#look.get()) < this.#mostAhead) return;
      // Whoever reads for long is not waited for again after every batch.
      this.#mostAhead = pagesAhead(this.#restart()) + CHECKPOINT_PAGES;
    } catch {
      this.#mostAhead += CHECKPOINT_PAGES;
    }
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
