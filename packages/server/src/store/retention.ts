import type { Attribution } from "../domain/audit.ts";
import type { Environment } from "../domain/customer.ts";
import type { Instant } from "../domain/wall-time.ts";

/**
 * How history is let go: first the horizon is moved, and then goes what may, some customers at a time, each portion in a
 * transaction of its own (ledger's page, section 5). Every method rejects as those of the store do.
 */
export interface Retention {
  /** From when on history is whole; undefined where nothing was ever let go. */
  prunedBefore(): Promise<Instant | undefined>;
  /** Writes down that what is from before may be gone. It never moves back. */
  moveHorizon(before: Instant, by: Attribution): Promise<void>;
  /**
   * The ledger entries of the next customers, with their top-ups and reversals.
   * @param before not later than the horizon, unless it is a dry run.
   */
  pruneLedgers(before: Instant, after: PruneCursor | undefined, dryRun: boolean): Promise<PrunedPortion<PruneCursor>>;
  /** The next checkouts with which nothing could be recorded any more. */
  pruneRetired(before: Instant, after: string | undefined, dryRun: boolean): Promise<PrunedPortion<string>>;
  /** Writes down what went. */
  recordPruned(pruned: Pruned, by: Attribution): Promise<void>;
}

/** The customer that was looked at last. */
export interface PruneCursor {
  readonly environment: Environment;
  readonly cuid: string;
}

export interface PrunedPortion<Cursor> {
  readonly pruned: Pruned;
  /** Where the next portion goes on; undefined at the end. */
  readonly next: Cursor | undefined;
}

export interface Pruned {
  readonly entries: number;
  readonly topUps: number;
  readonly retiredCheckouts: number;
}
