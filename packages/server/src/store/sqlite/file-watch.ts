import { statSync } from "node:fs";
import { resolve } from "node:path";
import { StoreUnavailable } from "../errors.ts";

/** Which file was met at each path. */
export type FileIdentities = ReadonlyMap<string, string>;

/**
 * Of the log, and of its index. The index holds the locks too: whoever finds none makes another, and would write into the
 * same log under locks that nobody else sees.
 */
const BESIDE = ["-wal", "-shm"];

/**
 * Watches that the files which are open are still those at the path. A process does not notice by
 * itself that they were removed or replaced: its commits would go on into files that have no name any
 * more, and be gone with it. No other process removes them lawfully while this one has them open.
 */
export class FileWatch {
  readonly #path: string;
  readonly #known: Map<string, string>;
  #beside: readonly string[] = [];

  constructor(path: string, known: FileIdentities = new Map()) {
    this.#path = resolve(path);
    this.#known = new Map(known);
  }

  get known(): FileIdentities {
    return this.#known;
  }

  /**
   * Takes the files that are there for those that a connection has opened. To be called once it has read.
   * @param file where the connection's file is, beside which the others are: the path may lead there by links, which are
   *   watched too.
   * @throws StoreUnavailable as {@link verify}.
   */
  opened(file: string): void {
    const isFirst = this.#known.size === 0;
    this.#beside = BESIDE.map((suffix) => file + suffix);
    for (const path of [this.#path, file, ...this.#beside]) {
      const identity = identify(path);
      if (identity === undefined || !(isFirst || this.#known.has(path))) throw moved();
      if (isFirst) this.#known.set(path, identity);
    }
    this.verify();
  }

  /** @throws StoreUnavailable where one of them is gone or another. */
  verify(): void {
    for (const [path, known] of this.#known) if (identify(path) !== known) throw moved();
  }

  /**
   * Whether what is at the path can be taken for what is open. So it can where only the log or its index was removed: no
   * other process is at work there, or it would have made them anew.
   */
  get isOurs(): boolean {
    try {
      return [...this.#known].every(([path, known]) => {
        const identity = identify(path);
        return identity === known || (identity === undefined && this.#beside.includes(path));
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
