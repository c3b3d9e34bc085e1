import type { Instant } from "../../../domain/calendar.ts";
import type { SettledTopUp, TopUpCommand } from "../../../domain/top-up.ts";
import { Batcher } from "../../batcher.ts";
import { toProviderRow } from "../../common/provider-settings.ts";
import { BATCH_LIMITS, overloaded, type Settled, type SettlingItem } from "../../common/settling.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { Conclusion, ObserveBatch, ObserveCheckpoints, ProviderSettings } from "../../store.ts";
import type { Database } from "../database.ts";
import type { TopUpTables } from "../tables/top-ups.ts";
import { type Settle, settleIn } from "./settling.ts";
import { settleHereOrThere } from "./settling-place.ts";
import { SettlingThread, type StartSettlingThread } from "./settling-thread.ts";

export interface SettlerParts {
  readonly path: string;
  readonly clock: () => Instant;
  readonly observeBatch?: ObserveBatch | undefined;
  readonly observeCheckpoints?: ObserveCheckpoints | undefined;
  /** For a service, which has others to answer meanwhile. */
  readonly settlingThread?: SettlingThreadWishes | undefined;
}

export interface SettlingThreadWishes {
  readonly start: StartSettlingThread;
  /** Also what comes alone. */
  readonly settlesAll?: boolean;
}

/** Batches settled here between two looks of the thread at the log: each writes a few pages. */
const REST_EVERY = 32;

/** Settles what must be durable before it is answered, in batches: here or, where one is wished for, in a thread. */
export class Settler {
  readonly #thread: SettlingThread | undefined;
  readonly #batcher: Batcher<SettlingItem, Settled>;
  #isClosed = false;

  constructor(database: Database, topUps: TopUpTables, provider: ProviderSettings, parts: SettlerParts) {
    const { path, clock, observeBatch, settlingThread: wishes } = parts;
    let settle: Settle = settleIn(database, topUps, { clock, calendar: provider.calendar });
    if (wishes !== undefined) {
      database.sharesCache();
      const start = () =>
        wishes.start({
          path,
          files: database.files,
          provider: toProviderRow(provider),
          rules: provider.calendar.record,
        });
      this.#thread = new SettlingThread(start, parts.observeCheckpoints);
      const there = settleThere(this.#thread, database);
      database.leavesCheckpoints();
      settle = wishes.settlesAll === true ? there : settleHereOrThere(restingAfter(settle, this.#thread), there, clock);
    }
    this.#batcher = new Batcher({
      settle,
      isAway: (error) => error instanceof StoreUnavailable,
      ...BATCH_LIMITS,
      overloaded,
      observe: observeBatch,
    });
  }

  topUp(command: TopUpCommand): Promise<SettledTopUp> {
    return this.#add({ kind: "top_up", command }) as Promise<SettledTopUp>;
  }

  conclude(checkoutId: string): Promise<Conclusion> {
    return this.#add({ kind: "conclusion", checkoutId }) as Promise<Conclusion>;
  }

  /** @throws StoreUnavailable where there is to be a thread, and it does not reach the database. */
  async ping(): Promise<void> {
    await this.#thread?.settle([]);
  }

  /** Nothing is taken from now on. Resolves once nothing is being settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#batcher.drained();
    await this.#thread?.close();
  }

  async #add(item: SettlingItem): Promise<Settled> {
    if (this.#isClosed) throw new StoreUnavailable("the store is closed");
    return this.#batcher.add(item);
  }
}

/** What is settled here makes the log longer too, of which the thread hears now and then. */
function restingAfter(settle: Settle, thread: SettlingThread): Settle {
  let settled = 0;
  return async (batch) => {
    try {
      return await settle(batch);
    } finally {
      settled += 1;
      if (settled % REST_EVERY === 0) thread.rest();
    }
  };
}

function settleThere(thread: SettlingThread, database: Database): Settle {
  return async (batch) => {
    try {
      return await thread.settle(batch);
    } finally {
      // Whoever is answered now may ask at once, and is to see what was settled.
      database.changedElsewhere();
      thread.rest();
    }
  };
}
