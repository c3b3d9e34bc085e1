import { refuseOtherProvider } from "../../settings.ts";
import type { ProviderSettings } from "../../store.ts";
import type { ProviderRow } from "../../tables.ts";
import { endClient, openClient } from "./database.ts";
import { type Prepared, Session } from "./session.ts";
import { isOutage } from "./trouble.ts";

/** Whatever is kept in memory is changed with an entry in the audit trail. */
const POLL: Prepared = {
  name: "watch",
  text: `SELECT (SELECT coalesce(max(seq), 0) FROM audit_entry) AS version, time_zone, currency_exponent, default_country
    FROM provider`,
};
type PollRow = Omit<ProviderRow, "only_row"> & { version: number };

const POLL_EVERY_MS = 400;
/** How long an answer holds; and with it, what is kept in memory. Less than the second that is promised. */
const HOLDS_MS = 900;
const RETRY_EVERY_MS = 250;

export interface WatchListener {
  /** Something of what is kept in memory has changed. */
  readonly changed: () => void;
  /** Another server may have taken over, which has other rows under the same numbers. It is told before the change. */
  readonly reconnected: () => void;
  readonly away: (why: unknown) => void;
  readonly back: () => void;
}

/**
 * Asks PostgreSQL on a session of its own, several times a second, whether what processes keep in memory has changed, and
 * so learns whether it can be reached.
 */
export class Watch {
  readonly #url: string;
  readonly #provider: ProviderSettings;
  readonly #listener: WatchListener;
  readonly #running: Promise<void>;
  #version: number | undefined;
  #isFresh = false;
  #holds: NodeJS.Timeout | undefined;
  #isClosed = false;
  #endPause: () => void = () => {};

  constructor(url: string, provider: ProviderSettings, listener: WatchListener) {
    this.#url = url;
    this.#provider = provider;
    this.#listener = listener;
    this.#running = this.#run();
  }

  /** Whether what was read since the last change is still known to hold. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPause();
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
      } catch (error) {
        failures += 1;
        // A single session may be lost while the server is well: only one that cannot be had again says more.
        if (failures === 1) continue;
        if (isOutage(error)) this.#listener.away(error);
        await this.#pause(RETRY_EVERY_MS);
      }
    }
  }

  async #watchOneSession(isWell: () => void): Promise<void> {
    const client = await openClient(this.#url, "watching");
    const session = new Session(client);
    this.#version = undefined;
    try {
      while (!this.#isClosed) {
        await this.#poll(session);
        isWell();
        await this.#pause(POLL_EVERY_MS);
      }
    } finally {
      await endClient(client);
    }
  }

  async #poll(session: Session): Promise<void> {
    // Counted from the question, since the answer may be under way for a while.
    const lapse = { isOver: false };
    const holds = setTimeout(() => {
      lapse.isOver = true;
      if (this.#holds === holds) this.#isFresh = false;
    }, HOLDS_MS).unref();
    const [row] = await session.run<PollRow>([POLL]);
    refuseOtherProvider(row, this.#provider);
    if (this.#version === undefined) this.#listener.reconnected();
    if (this.#version !== row?.version) this.#listener.changed();
    this.#version = row?.version;
    clearTimeout(this.#holds);
    this.#holds = holds;
    this.#isFresh = !lapse.isOver;
  }

  #pause(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
