import type { Calendar, Instant } from "../../domain/calendar.ts";
import { isTooLateToRecord, type SettledTopUp, type TopUpCommand } from "../../domain/top-up.ts";
import { StoreUnavailable } from "../errors.ts";
import type { Conclusion } from "../store.ts";
import type { Database } from "./database.ts";
import type { TopUpTables } from "./top-ups.ts";

/** What is settled in batches: data alone, so that another thread can be asked for it. */
export type SettlingItem =
  | { readonly kind: "top_up"; readonly command: TopUpCommand }
  | { readonly kind: "conclusion"; readonly checkoutId: string };

export type Settled = SettledTopUp | Conclusion;

/** Settles a batch in one write transaction, at one time: what became of each item, in order. */
export type Settle = (batch: readonly SettlingItem[]) => Promise<Settled[]>;

export interface SettlingRules {
  readonly clock: () => Instant;
  readonly calendar: Calendar;
}

export function settleIn(database: Database, topUps: TopUpTables, { clock, calendar }: SettlingRules): Settle {
  return (batch) =>
    database.write(() => {
      const now = clock();
      const settled = batch.map((item) =>
        item.kind === "top_up" ? topUps.settle(item.command, now, calendar) : topUps.conclude(item.checkoutId, now),
      );
      if (isTooLateToRecord(now, clock())) throw new StoreUnavailable("the batch took too long to be recorded");
      return settled;
    });
}
