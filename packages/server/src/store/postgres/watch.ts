import { endClient, openClient } from "./database.ts";
import { Session, type Statement } from "./session.ts";

const CHANNEL = "topupd_reference";
const POLL: Statement = {
  name: "watch",
  text: "SELECT version, pg_is_in_recovery() AS is_standby FROM reference_version",
};

/** How often is asked whether anything has changed, where no notification says so. */
const POLL_EVERY_MS = 400;
/** How long an answer to that holds; and with it, what is kept in memory. Less than the second that is promised. */
const HOLDS_MS = 900;
const RETRY_EVERY_MS = 250;

export interface WatchListener {
  /** Something of what is kept in memory has changed. */
  readonly changed: () => void;
  readonly away: () => void;
  readonly back: () => void;
}

/**
 * Watches PostgreSQL from a session of its own: whether it can be reached, and whether what processes keep in
 * memory has changed. Notifications tell at once; since they can be lost, it asks as well.
 */
export class Watch {
  readonly #url: string;
  readonly #listener: WatchListener;
  readonly #running: Promise<void>;
  #version: number | undefined;
  #holds: NodeJS.Timeout | undefined;
  #isFresh = false;
  #isClosed = false;
  /** Something has happened since the last question. */
  #isWoken = false;
  #endPause: () => void = () => {};

  constructor(url: string, listener: WatchListener) {
    this.#url = url;
    this.#listener = listener;
    this.#running = this.#run();
  }

  /** Whether what was read since the last change is still known to hold. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#running;
    clearTimeout(this.#holds);
    this.#isFresh = false;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isClosed) {
      try {
        await this.#watchOneSession(() => {
          failures = 0;
          this.#listener.back();
        });
      } catch {
        failures += 1;
        // A single session may be lost while the server is well: only one that cannot be had again says more.
        if (failures > 1) {
          this.#listener.away();
          this.#isWoken = false;
          await this.#pause(RETRY_EVERY_MS);
        }
      }
    }
  }

  async #watchOneSession(isWell: () => void): Promise<void> {
    const client = await openClient(this.#url, "serving");
    let lost = false;
    client.on("end", () => {
      lost = true;
      this.#wake();
    });
    client.on("notification", () => this.#wake());
    const session = new Session(client);
    try {
      await session.execute(`LISTEN ${CHANNEL}`);
      while (!this.#isClosed) {
        await this.#poll(session);
        isWell();
        await this.#pause(POLL_EVERY_MS);
        if (lost) throw new Error("the session was lost");
      }
    } finally {
      await endClient(client);
    }
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  async #poll(session: Session): Promise<void> {
    this.#isWoken = false;
    // Counted from the question, since the answer may have been under way for a while.
    let hasLapsed = false;
    const holds = setTimeout(() => {
      hasLapsed = true;
      if (this.#holds === holds) this.#isFresh = false;
    }, HOLDS_MS).unref();
    const [row] = await session.run<{ version: number; is_standby: boolean }>(POLL);
    if (row === undefined || row.is_standby) throw new Error("this is not the database that it was");
    clearTimeout(this.#holds);
    this.#holds = holds;
    this.#isFresh = !hasLapsed;
    if (this.#version === row.version) return;
    this.#version = row.version;
    this.#listener.changed();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#isWoken || this.#isClosed) this.#endPause();
    });
  }
}
