import type { Attribution } from "../domain/audit.ts";
import type { BlockOutcome, GoodwillCommand, GoodwillOutcome, ReversalOutcome } from "../domain/correction.ts";
import type { ConnectionKey } from "../domain/customer.ts";
import type { StatedReversal } from "../domain/history-row.ts";
import type { TakeBackOutcome } from "../domain/take-back.ts";

/** Who corrects something, and why: no correction is made without a reason. */
export interface ReasonedAttribution extends Attribution {
  readonly reason: string;
}

/**
 * What staff set right by hand. Each is decided and written in one transaction, with its entry in the audit
 * trail, and in order with the top-ups of its customer. Every method rejects as those of the store do.
 */
export interface Corrections {
  /** @param made where it was taken back before, and that was lost: it counts from then on. */
  reverse(checkoutId: string, by: ReasonedAttribution, made?: StatedReversal): Promise<ReversalOutcome>;
  grantGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<GoodwillOutcome>;
  takeBackGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<TakeBackOutcome>;
  setBlocked(key: ConnectionKey, blocked: boolean, by: ReasonedAttribution): Promise<BlockOutcome>;
}
