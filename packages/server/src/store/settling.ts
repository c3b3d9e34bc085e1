import type { AccountKey } from "../domain/account.ts";
import { concludeUnused, type RetiredCheckout } from "../domain/checkout.ts";
import { type Connection, withEntry } from "../domain/customer.ts";
import { eventsBetween, type NewEvent } from "../domain/event.ts";
import { type Taker, type ToldChange, toldChange } from "../domain/news.ts";
import type { Sale } from "../domain/sale.ts";
import {
  DEFAULT_MONTHS_AHEAD,
  decideTopUp,
  isTooLateToRecord,
  type RecordedTopUp,
  type SaleRules,
  type SettledTopUp,
  type TopUpCommand,
  type TopUpSnapshot,
} from "../domain/top-up.ts";
import type { Transaction } from "../domain/transaction.ts";
import { type Instant, type Moment, plus } from "../domain/wall-time.ts";
import { StoreUnavailable } from "./errors.ts";
import type { Conclusion, ProviderSettings } from "./store.ts";

/*
 * How both engines settle an item of a batch: decide it, record it, tell of it, retire its checkout.
 * SQLite reads and writes each item in its transaction. PostgreSQL loads a batch, settles it in memory and writes it at once.
 */

/** An item of a batch: plain data, so that another process can settle it. */
export type SettlingItem =
  | { readonly kind: "top_up"; readonly command: TopUpCommand }
  | { readonly kind: "conclusion"; readonly checkoutId: string };

export type Settled = SettledTopUp | Conclusion;

/** Reads the data that an item depends on. The reads see the writes of earlier items of the batch. */
export interface SettlingReads<Snapshot extends TopUpSnapshot> {
  /** Whether the provider has a target, so that events must be written. */
  readonly hasTarget: boolean;
  /** The targets that may be told of facts of an account. */
  takersOf(account: AccountKey): readonly Taker[];
  snapshot(command: TopUpCommand): Snapshot;
  transaction(checkoutId: string): Transaction | undefined;
  retirement(checkoutId: string): RetiredCheckout | undefined;
  /** History is complete from this time on; undefined if nothing was ever deleted. */
  prunedBefore(): Instant | undefined;
}

/** Writes a decision, in the transaction of the batch. */
export interface SettlingWrites<Snapshot extends TopUpSnapshot> {
  /** Records a top-up: transaction, ledger entry, subscription and account. @param after the connection after it. */
  record(topUp: RecordedTopUp, snapshot: Snapshot, after: Connection): void;
  recordSale(transaction: Transaction, sale: Sale): void;
  appendEvent(event: NewEvent): void;
  tell(change: ToldChange): void;
  /** Stores that nothing can be recorded with a checkout any more. */
  retire(checkoutId: string, retired: RetiredCheckout): void;
}

interface Batch<Snapshot extends TopUpSnapshot> {
  readonly items: readonly SettlingItem[];
  readonly read: SettlingReads<Snapshot>;
  readonly write: SettlingWrites<Snapshot>;
  readonly provider: Pick<ProviderSettings, "basePlans" | "monthsAhead">;
  /** The time of the batch, taken after its customers were locked. */
  readonly now: Moment;
  readonly clock: () => Instant;
}

/**
 * Settles the items of a batch, in their order. Must be called right before the commit.
 * @throws StoreUnavailable if they took too long to be recorded.
 */
export function settleBatch<Snapshot extends TopUpSnapshot>(batch: Batch<Snapshot>): Settled[] {
  const { items, read, write, provider, now, clock } = batch;
  const { basePlans, monthsAhead = DEFAULT_MONTHS_AHEAD } = provider;
  const rules = { basePlans, latestEnd: plus(now.wall, { months: monthsAhead, days: 0 }) };
  const settled = items.map((item) => settleItem(read, write, item, now, rules));
  if (isTooLateToRecord(now.instant, clock())) throw new StoreUnavailable("the batch took too long to be recorded");
  return settled;
}

export function settleItem<Snapshot extends TopUpSnapshot>(
  read: SettlingReads<Snapshot>,
  write: SettlingWrites<Snapshot>,
  item: SettlingItem,
  now: Moment,
  rules: SaleRules,
): Settled {
  if (item.kind === "conclusion") return conclude(read, write, item.checkoutId, now.instant);
  const { command } = item;
  const snapshot = read.snapshot(command);
  const outcome = decideTopUp(snapshot, command, now, rules);
  if (outcome.kind === "recorded") {
    // Nothing is recorded without a connection.
    const before = snapshot.connection as Connection;
    const after = withEntry(before, outcome);
    write.record(outcome, snapshot, after);
    if (command.sale !== undefined) write.recordSale(outcome.transaction, command.sale);
    const why = { kind: "topup.recorded", topUp: outcome.transaction } as const;
    const events = read.hasTarget ? eventsBetween(command, before, after, now, why) : [];
    for (const event of events) write.appendEvent(event);
    for (const change of toldOf(outcome.transaction, read.takersOf(command), now)) write.tell(change);
  }
  const retired = outcome.kind === "refused" ? outcome.retired : undefined;
  if (retired !== undefined && snapshot.retired === undefined) write.retire(command.checkoutId, retired);
  return outcome;
}

function toldOf({ txnId, partnerId, environment }: Transaction, takers: readonly Taker[], { instant: at }: Moment) {
  const about = { kind: "topup", partnerId, environment, txnId } as const;
  return toldChange({ about, kind: "topup.recorded", at }, takers);
}

/** @returns the transaction, or undefined if there is none and never will be. */
function conclude<Snapshot extends TopUpSnapshot>(
  read: SettlingReads<Snapshot>,
  write: SettlingWrites<Snapshot>,
  checkoutId: string,
  now: Instant,
): Conclusion {
  const recorded = read.transaction(checkoutId);
  if (recorded !== undefined) return recorded;
  const conclusion = concludeUnused(checkoutId, read.retirement(checkoutId), read.prunedBefore(), now);
  if (conclusion === "retire") write.retire(checkoutId, { retiredAt: now, refused: undefined });
  return conclusion === "pruned" ? conclusion : undefined;
}
