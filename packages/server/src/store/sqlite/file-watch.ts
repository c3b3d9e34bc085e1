import { statSync } from "node:fs";
import { StoreUnavailable } from "../errors.ts";

/** Which file was met at each path. */
export type FileIdentities = ReadonlyMap<string, string>;

/**
 * The database, its log, and the index of the log. The index holds the locks too: whoever finds none makes another, and
 * would write into the same log under locks that nobody else sees.
 */
const SUFFIXES = ["", "-wal", "-shm"];

/**
 * Watches that the files which are open are still those at the path. A process does not notice by
 * itself that they were removed or replaced: its commits would go on into files that have no name any
 * more, and be gone with it. No other process removes them lawfully while this one has them open.
 */
export class FileWatch {
  readonly #paths: readonly string[];
  readonly #known: Map<string, string>;

  constructor(path: string, known: FileIdentities = new Map()) {
    this.#paths = SUFFIXES.map((suffix) => path + suffix);
    this.#known = new Map(known);
  }

  get known(): FileIdentities {
    return this.#known;
  }

  /**
   * Takes the files that are there for those that a connection has opened. To be called once it has read.
   * @throws StoreUnavailable as {@link verify}.
   */
  opened(): void {
    for (const path of this.#paths) {
      const identity = identify(path);
      if (identity === undefined) throw moved();
      if (!this.#known.has(path)) this.#known.set(path, identity);
    }
    this.verify();
  }

  /** @throws StoreUnavailable where one of them is gone or another. */
  verify(): void {
    for (const [path, identity] of this.#known) if (identify(path) !== identity) throw moved();
  }

  /**
   * Whether what is at the path can be taken for what is open. So it can where only the log or its index was removed: no
   * other process is at work there, or it would have made them anew.
   */
  get isOurs(): boolean {
    try {
      return [...this.#known].every(([path, known], index) => {
        const identity = identify(path);
        return identity === known || (identity === undefined && index > 0);
      });
    } catch {
      return false;
    }
  }
}

function moved(): StoreUnavailable {
  return new StoreUnavailable(
    "the database's files were moved, replaced or removed: save what this process has open, and then stop it",
  );
}

function identify(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && `${stat.dev}:${stat.ino}`;
  } catch (error) {
    throw new StoreUnavailable("the database's folder cannot be read", { cause: error });
  }
}
