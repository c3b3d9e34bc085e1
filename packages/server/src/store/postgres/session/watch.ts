import { StoreUnavailable } from "../../errors.ts";
import { endClient, openClient } from "./database.ts";
import { type Prepared, Session } from "./session.ts";
import { Sockets } from "./sockets.ts";
import { isOutage, isSilence } from "./trouble.ts";

const CHANNEL = "topupd_reference";
const POLL: Prepared = {
  name: "watch",
  text: `SELECT version, pg_is_in_recovery() AS is_standby, current_setting('fsync') = 'on' AS is_durable
    FROM reference_version`,
};

/** How often is asked whether anything has changed, where no notification says so. */
const POLL_EVERY_MS = 400;
/** How long an answer to that holds; and with it, what is kept in memory. Less than the second that is promised. */
const HOLDS_MS = 900;
const RETRY_EVERY_MS = 250;
/** For taking leave when it is closed. */
const LEAVING_MS = 500;

export interface WatchListener {
  /** Something of what is kept in memory has changed. */
  readonly changed: () => void;
  /** Another server may have taken over, which has other rows under the same numbers. It is told before the change. */
  readonly reconnected: () => void;
  /** A question stayed without an answer, though the server may well be there. */
  readonly unanswered: () => void;
  readonly away: (why: unknown) => void;
  readonly back: () => void;
}

/**
 * Watches PostgreSQL from a session of its own: whether it can be reached, and whether what processes keep in
 * memory has changed. Notifications tell at once; since they can be lost, it asks as well.
 */
export class Watch {
  readonly #url: string;
  readonly #listener: WatchListener;
  readonly #sockets = new Sockets();
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
    const timer = setTimeout(() => this.#sockets.destroyAll(), LEAVING_MS);
    await this.#running;
    clearTimeout(timer);
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
      } catch (error) {
        failures += 1;
        if (!this.#isClosed) await this.#bear(error, failures);
      }
    }
  }

  /** A single session may be lost while the server is well: only one that cannot be had again says more. */
  async #bear(error: unknown, failures: number): Promise<void> {
    if (failures === 1) {
      if (isSilence(error)) this.#listener.unanswered();
      return;
    }
    if (isOutage(error)) this.#listener.away(error);
    this.#isWoken = false;
    await this.#pause(RETRY_EVERY_MS);
  }

  async #watchOneSession(isWell: () => void): Promise<void> {
    const client = await openClient(this.#url, "watching", this.#sockets);
    let isLost = false;
    client.on("end", () => {
      isLost = true;
      this.#wake();
    });
    client.on("notification", () => this.#wake());
    const session = new Session(client);
    try {
      await session.execute(`LISTEN ${CHANNEL}`);
      // Another server may have taken over, with the same count of other changes.
      this.#version = undefined;
      while (!this.#isClosed) {
        await this.#poll(session);
        isWell();
        await this.#pause(POLL_EVERY_MS);
        if (isLost) throw new Error("the session was lost");
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
    const [row] = await session.run<{ version: number; is_standby: boolean; is_durable: boolean }>(POLL);
    if (row?.is_standby !== false) throw new StoreUnavailable("PostgreSQL is a standby here: its primary is needed");
    // It can be switched off while the server runs.
    if (!row.is_durable) throw new StoreUnavailable("PostgreSQL runs with fsync=off");
    clearTimeout(this.#holds);
    this.#holds = holds;
    this.#isFresh = !hasLapsed;
    if (this.#version === row.version) return;
    if (this.#version === undefined) this.#listener.reconnected();
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
