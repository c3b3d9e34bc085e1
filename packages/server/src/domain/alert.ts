import type { LimitName } from "./account.ts";
import type { Environment } from "./customer.ts";
import type { Mail } from "./mail.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "./money.ts";
import { printable } from "./names.ts";
import type { Instant, Zone } from "./wall-time.ts";

/* Alerts about partners: one for each time that a balance, or the use of a limit, crosses its bound. */

export const ALERT_KINDS = ["account.low", "limit.reached", "look_ups.refused"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

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

/** The end of an alert that has not ended. */
export const NOT_ENDED: Instant = 8_640_000_000_000_000;

/** How long an alert is kept after its end, and how long its mail is tried. */
export const ALERTS_KEPT_MS = 30 * 86_400_000;
export const MAILED_WITHIN_MS = 86_400_000;

/** The amounts of an alert, in major units with all digits. */
export function lowAmounts({ low }: Alert, exponent: CurrencyExponent) {
  const { balance, below } = low ?? {};
  if (balance === undefined || below === undefined) return undefined;
  return { balance: formatMoneyInFull(balance, exponent), below: formatMoneyInFull(below, exponent) };
}

const LIMITS: Readonly<Record<LimitName, string>> = {
  top_up_amount: "A top-up was above the limit of one top-up, and was refused.",
  day_amount: "The limit of the amount of a day is reached. Further top-ups are refused until midnight.",
  day_top_ups: "The limit of top-ups of a day is reached. Further top-ups are refused until midnight.",
  paid_ahead: "A top-up would have paid a connection too far ahead, and was refused.",
};

const LOOK_UPS_REFUSED =
  "Too many strangers were looked up: customers whom the partner never topped up, and unknown or ambiguous codes. Such look-ups are refused for up to an hour. If the partner cannot explain them, its token may be stolen.";

/** The mail about an alert. @param partner its name. */
export function alertMail(alert: Alert, partner: string, zone: Zone, exponent: CurrencyExponent): Mail {
  const { kind, environment, at, limit } = alert;
  const whose = printable(environment === "trial" ? `${partner} (trial)` : partner);
  const { balance, below } = lowAmounts(alert, exponent) ?? {};
  const [what, text] = {
    "account.low": ["balance is low", `The balance is ${balance}, below ${below}.`],
    "limit.reached": ["limit reached", limit && LIMITS[limit]],
    "look_ups.refused": ["look-ups refused", LOOK_UPS_REFUSED],
  }[kind] as [string, string];
  const time = `${zone.wallTime(at)} (${zone.name})`;
  return { subject: `topupd: ${whose}: ${what}`, text: `Partner: ${whose}\nTime: ${time}\n\n${text}\n` };
}
