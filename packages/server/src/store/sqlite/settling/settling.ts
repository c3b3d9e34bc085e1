import type { Instant } from "../../../domain/wall-time.ts";
import { refuseIfTooLate, type Settled, type SettlingItem } from "../../settling.ts";
import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../database.ts";
import type { TopUpTables } from "../top-ups.ts";

/** Settles a batch in one write transaction, at one time: what became of each item, in order. */
export type Settle = (batch: readonly SettlingItem[]) => Promise<Settled[]>;

export function settleIn(
  database: Database,
  topUps: TopUpTables,
  { zone }: ProviderSettings,
  clock: () => Instant,
): Settle {
  return (batch) =>
    database.write(() => {
      const now = zone.moment(clock());
      const settled = batch.map((item) =>
        item.kind === "top_up" ? topUps.settle(item.command, now) : topUps.conclude(item.checkoutId, now.instant),
      );
      refuseIfTooLate(now.instant, clock());
      return settled;
    });
}
