import { createCalendar } from "../../domain/calendar.ts";
import { StoreRefused, StoreUnavailable } from "../errors.ts";
import type { ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";

export interface ProviderWishes {
  /** Undefined where the operator left it open: then the database's own holds. */
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
}

const DEFAULT_TIME_ZONE = "UTC";
const DEFAULT_CURRENCY_EXPONENT = 2;

interface ProviderRow {
  time_zone: string;
  currency_exponent: number;
}

/**
 * What the database's times and amounts mean. Both are written down when it is made: read in another
 * zone or with another exponent, the same rows would be other subscriptions and other money.
 * @throws StoreRefused where the operator asks for others than it was filled with.
 */
export function settleProviderSettings(database: Database, wishes: ProviderWishes): ProviderSettings {
  return database.writeAtOpening(() => {
    const stored = database.prepare("SELECT time_zone, currency_exponent FROM provider").get() as
      | ProviderRow
      | undefined;
    const timeZone = wishes.timeZone ?? stored?.time_zone ?? DEFAULT_TIME_ZONE;
    const currencyExponent = wishes.currencyExponent ?? stored?.currency_exponent ?? DEFAULT_CURRENCY_EXPONENT;
    if (stored === undefined || isEmpty(database)) {
      database
        .prepare("INSERT OR REPLACE INTO provider (only_row, time_zone, currency_exponent) VALUES (1, ?, ?)")
        .run(timeZone, currencyExponent);
    } else if (stored.time_zone !== timeZone) {
      throw new StoreRefused(
        `--time-zone (TOPUPD_TIME_ZONE) is ${timeZone}, but the database was filled with ${stored.time_zone}`,
      );
    } else if (stored.currency_exponent !== currencyExponent) {
      throw new StoreRefused(
        `--currency-exponent (TOPUPD_CURRENCY_EXPONENT) is ${currencyExponent}, but the database was filled with ${stored.currency_exponent}`,
      );
    }
    return { calendar: createCalendar(timeZone), currencyExponent };
  });
}

/**
 * Another process may have chosen others as long as the database was empty. What was not read or written
 * by then is read and written by these no more.
 * @throws StoreUnavailable where this process does not know of them yet.
 */
export function verifyProviderSettings(database: Database, { calendar, currencyExponent }: ProviderSettings): void {
  const stored = database.prepare("SELECT time_zone, currency_exponent FROM provider").get() as ProviderRow;
  if (stored.time_zone === calendar.timeZone && stored.currency_exponent === currencyExponent) return;
  throw new StoreUnavailable("another process has changed time zone or currency exponent: restart this one");
}

function isEmpty(database: Database): boolean {
  const row = database
    .prepare("SELECT EXISTS (SELECT 1 FROM customer) OR EXISTS (SELECT 1 FROM catalogue_revision) AS filled")
    .get() as { filled: 0 | 1 };
  return row.filled === 0;
}
