import type { Calendar, Instant } from "../../../domain/calendar.ts";
import { refuseIfTooLate, type Settled, type SettlingItem } from "../../common/settling.ts";
import type { Database } from "../database.ts";
import type { TopUpTables } from "../tables/top-ups.ts";

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
      refuseIfTooLate(now, clock());
      return settled;
    });
}
