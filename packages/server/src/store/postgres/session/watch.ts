import { setTimeout } from "node:timers/promises";
import { refuseOtherProvider } from "../../settings.ts";
import type { ProviderSettings } from "../../store.ts";
import type { ProviderRow } from "../../tables.ts";
import { endClient, openClient } from "./database.ts";
import { type Prepared, Session } from "./session.ts";

/** Whatever is kept in memory is changed with an entry in the audit trail. */
const POLL: Prepared = {
  name: "watch",
  text: `SELECT (SELECT coalesce(max(seq), 0) FROM audit_entry) AS version, time_zone, currency_exponent, default_country
    FROM provider`,
};
type PollRow = Omit<ProviderRow, "only_row"> & { version: number };

const POLL_EVERY_MS = 400;
/** How long an answer holds, and with it what is kept in memory. Less than the second that is promised. */
const HOLDS_MS = 900;
const RETRY_EVERY_MS = 250;

/** Tokens are small, and few partners have many. */
const MOST_VALUES = 10_000;

/**
 * Keeps partners, tokens, secrets and catalogues in memory. It asks PostgreSQL on a session of its own, several times a
 * second, whether any was changed, and forgets all of them then, and whenever it had to connect anew: another server may
 * have taken over, which has other rows under the same numbers.
 */
export class Watch {
  readonly #url: string;
  readonly #provider: ProviderSettings;
  readonly #values = new Map<string, unknown>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #generation = 0;
  /** Aborted once the last answer does not hold any more. */
  #lapse = AbortSignal.abort();

  constructor(url: string, provider: ProviderSettings) {
    this.#url = url;
    this.#provider = provider;
    this.#running = this.#run();
  }

  /** What is not there is not remembered: whoever asks for what does not exist would fill the memory with it. */
  async recall<Value>(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    if (!this.#lapse.aborted) {
      const known = this.#values.get(key);
      if (known !== undefined) return known as Value;
    }
    const generation = this.#generation;
    const value = await load();
    // What was read before a change must not be kept after it.
    if (value !== undefined && generation === this.#generation && !this.#lapse.aborted) {
      if (this.#values.size >= MOST_VALUES) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }

  forget(): void {
    this.#values.clear();
    this.#generation += 1;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    this.#lapse = AbortSignal.abort();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#watchOneSession().catch(() => {});
      await this.#pause(RETRY_EVERY_MS);
    }
  }

  async #watchOneSession(): Promise<void> {
    const client = await openClient(this.#url, "serving");
    const session = new Session(client);
    let version: number | undefined;
    try {
      while (!this.#closing.signal.aborted) {
        // Counted from the question, since the answer may be under way for a while.
        const lapse = AbortSignal.timeout(HOLDS_MS);
        const [row] = await session.run<PollRow>(POLL);
        refuseOtherProvider(row, this.#provider);
        if (version !== row?.version) this.forget();
        version = row?.version;
        this.#lapse = lapse;
        await this.#pause(POLL_EVERY_MS);
      }
    } finally {
      await endClient(client);
    }
  }

  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}
