import type { Attribution } from "../domain/audit.ts";
import type { Instant } from "../domain/calendar.ts";
import type { ClockDoubt } from "../domain/clock-doubt.ts";
import type { Environment } from "../domain/customer.ts";
import type { Money } from "../domain/money.ts";
import type { TransactionStatus } from "../domain/top-up.ts";

/**
 * How history is let go: first the horizon is moved, and then goes what may, some customers at a time, each portion
 * in a transaction of its own that is decided anew in it. Every method rejects as those of the store do.
 */
export interface Retention {
  /** From when on history is whole; undefined where nothing was ever let go. */
  prunedBefore(): Promise<Instant | undefined>;
  /** When the newest top-up, reversal or audit entry was recorded; undefined where there is none. */
  newestRecord(): Promise<Instant | undefined>;
  /**
   * Writes down that what is from before may be gone. It never moves back.
   * @param judge asked inside the transaction, about the newest record: where it has a doubt, nothing is moved.
   */
  moveHorizon(before: Instant, by: Attribution, judge?: JudgeClock): Promise<ClockDoubt | undefined>;
  /** The ledgers of the next customers, with their top-ups and reversals. */
  pruneLedgers(request: PruneRequest, after: PruneCursor | undefined): Promise<PrunedPortion<PruneCursor>>;
  /** The next top-ups that were recorded at another topupd, with their reversals: no ledger knows of them. */
  pruneImported(request: PruneRequest, after: ImportedCursor | undefined): Promise<PrunedPortion<ImportedCursor>>;
  /** The next checkouts with which nothing could be recorded any more. */
  pruneRetired(request: PruneRequest, after: string | undefined): Promise<PrunedPortion<string>>;
  /** Writes down what went. */
  recordPruned(pruned: Pruned, by: Attribution): Promise<void>;
}

export type JudgeClock = (newest: Instant | undefined) => ClockDoubt | undefined;

export interface PruneRequest {
  /** Not later than the horizon, unless it is a dry run. */
  readonly before: Instant;
  /** Says what would go, and lets nothing go. */
  readonly dryRun: boolean;
}

/** The customer that was looked at last. */
export interface PruneCursor {
  readonly environment: Environment;
  readonly cuid: string;
}

/** The top-up that was looked at last. */
export interface ImportedCursor extends PruneCursor {
  readonly checkoutId: string;
}

export interface PrunedPortion<Cursor> {
  readonly pruned: Pruned;
  /** Where the next portion goes on; undefined at the end. */
  readonly next: Cursor | undefined;
}

export interface Pruned {
  /** Entries of ledgers, of whatever kind. */
  readonly grants: number;
  readonly retiredCheckouts: number;
  readonly topUps: readonly PrunedTopUps[];
}

/** What the top-ups of a partner and a year of the provider's zone come to. */
export interface PrunedTopUps {
  readonly environment: Environment;
  readonly partnerId: number;
  readonly year: string;
  readonly status: TransactionStatus;
  readonly topUps: number;
  readonly amount: Money;
}
