import type { AuditEntry } from "../domain/audit.ts";
import type { Instant } from "../domain/wall-time.ts";

/** The audit trail, to be read. What grows it is every change that staff or an import makes. */
export interface AuditTrail {
  /** Entries after `after`, oldest first, at most `limit`. Rejects as the methods of the store do. */
  readOn(after: number, limit: number): Promise<AuditEntry[]>;
  /** Those that all of the filter fits, newest first, at most `limit`; rejects likewise. */
  list(filter: AuditFilter, limit: number): Promise<AuditEntry[]>;
}

/** All that is said must hold; what is undefined was not said. */
export interface AuditFilter {
  /** Of this number or an earlier one. */
  readonly upTo?: number | undefined;
  readonly author?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** Whose change it tells of, be it among others'. */
  readonly cuid?: string | undefined;
  /** Made at this time or later. */
  readonly from?: Instant | undefined;
  /** Made before this time. */
  readonly until?: Instant | undefined;
}
