import type { Attribution } from "../domain/audit.ts";
import type { Environment } from "../domain/customer.ts";
import type { HistoryEffect } from "../domain/history.ts";
import type { HistoricTopUp } from "../domain/history-row.ts";

/**
 * How top-ups come here that another topupd has recorded. No subscription is moved by them: their time is in the
 * dates that customers are imported with. Every method rejects as those of the store do.
 */
export interface History {
  /**
   * Writes those that are not refused in one transaction, or none, with an entry in the audit trail. A reversal of what
   * was made here is only told of: it is a correction.
   * @param topUps of customers of this environment, in any order.
   * @returns what that did with each, in their order.
   */
  import(
    environment: Environment,
    topUps: readonly HistoricTopUp[],
    by: Attribution,
  ): Promise<readonly HistoryEffect[]>;
  /** What an import would do with each, written by nobody and holding nobody up. */
  preview(topUps: readonly HistoricTopUp[]): Promise<readonly HistoryEffect[]>;
}
