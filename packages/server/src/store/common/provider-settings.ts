import { createCalendar } from "../../domain/calendar.ts";
import { StoreRefused, StoreUnavailable } from "../errors.ts";
import type { ProviderSettings } from "../store.ts";

export interface ProviderWishes {
  /** Undefined where the operator left it open: then the database's own holds. */
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
}

export interface ProviderRow {
  time_zone: string;
  currency_exponent: number;
}

const DEFAULT_TIME_ZONE = "UTC";
const DEFAULT_CURRENCY_EXPONENT = 2;

/**
 * What the database's times and amounts mean. Both are written down when it is made: read in another
 * zone or with another exponent, the same rows would be other subscriptions and other money.
 * @param isEmpty whether nothing has been stored yet that they give a meaning to.
 * @throws StoreRefused where the operator asks for others than it was filled with.
 */
export function chooseProviderSettings(
  stored: ProviderRow | undefined,
  wishes: ProviderWishes,
  isEmpty: boolean,
): ProviderRow {
  const timeZone = wishes.timeZone ?? stored?.time_zone ?? DEFAULT_TIME_ZONE;
  const currencyExponent = wishes.currencyExponent ?? stored?.currency_exponent ?? DEFAULT_CURRENCY_EXPONENT;
  if (stored !== undefined && !isEmpty) {
    if (stored.time_zone !== timeZone) {
      throw new StoreRefused(
        `--time-zone (TOPUPD_TIME_ZONE) is ${timeZone}, but the database was filled with ${stored.time_zone}`,
      );
    }
    if (stored.currency_exponent !== currencyExponent) {
      throw new StoreRefused(
        `--currency-exponent (TOPUPD_CURRENCY_EXPONENT) is ${currencyExponent}, but the database was filled with ${stored.currency_exponent}`,
      );
    }
  }
  return { time_zone: timeZone, currency_exponent: currencyExponent };
}

export function toProviderSettings({ time_zone, currency_exponent }: ProviderRow): ProviderSettings {
  return { calendar: createCalendar(time_zone), currencyExponent: currency_exponent };
}

/**
 * Another process may have chosen others as long as the database was empty. What was not read or written
 * by then is read and written by these no more.
 * @throws StoreUnavailable where this process does not know of them yet.
 */
export function verifyProviderRow(stored: ProviderRow, { calendar, currencyExponent }: ProviderSettings): void {
  if (stored.time_zone === calendar.timeZone && stored.currency_exponent === currencyExponent) return;
  throw new StoreUnavailable("another process has changed time zone or currency exponent: restart this one");
}
