import type { LimitName } from "./account.ts";
import type { Environment } from "./customer.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "./money.ts";
import type { Instant } from "./wall-time.ts";

/* Problems of partners that are events too: one for each time that a balance, or the use of a limit, crosses its bound. */

export const ALERT_KINDS = ["account.low", "limit.reached", "look_ups.refused"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];
/** The fact of an entry by staff. Only the partner is told of it. */
export const ACCOUNT_ENTRY = "account.entry";

/** A problem of a partner. */
export interface Alert {
  readonly kind: AlertKind;
  readonly partnerId: number;
  readonly environment: Environment;
  readonly at: Instant;
  /** Name of the limit of `limit.reached`. */
  readonly limit: LimitName | undefined;
  /** Present in `account.low`. */
  readonly low: { readonly balance: Money; readonly below: Money } | undefined;
}

/** The end of a problem that has not ended. */
export const NOT_ENDED: Instant = 8_640_000_000_000_000;

/** How long a problem is kept after its end, and how long its mail is tried. */
export const ALERTS_KEPT_MS = 30 * 86_400_000;
export const MAILED_WITHIN_MS = 86_400_000;

/** The amounts of an alert, in major units with all digits. */
export function lowAmounts({ low }: Alert, exponent: CurrencyExponent) {
  const { balance, below } = low ?? {};
  if (balance === undefined || below === undefined) return undefined;
  return { balance: formatMoneyInFull(balance, exponent), below: formatMoneyInFull(below, exponent) };
}
