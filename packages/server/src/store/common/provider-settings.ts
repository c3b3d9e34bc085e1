import { isTimeZone } from "../../domain/calendar.ts";
import { createChangingCalendar } from "../../domain/changing-calendar.ts";
import { mobileNumbersOf } from "../../domain/mobile-number.ts";
import type { RulesOnRecord } from "../../domain/zone-rules.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "../errors.ts";
import type { ProviderSettings } from "../store.ts";

export interface ProviderWishes {
  /** Undefined where the operator left it open: then the database's own holds. */
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
  readonly defaultCountry?: string | undefined;
  /** Whoever only works with what there is changes no settings either. */
  readonly mustExist?: boolean;
  /** Refuses a database to which anything was ever added, and leaves its settings as they are. */
  readonly mustBeNew?: boolean;
}

/** Whether anything was ever added; and whether that is something to which the settings give a meaning. */
export type Filling = "new" | "begun" | "filled";

/** Every change by staff leaves an entry in the audit trail. */
export const FILLING = `SELECT CASE
  WHEN EXISTS (SELECT 1 FROM customer) OR EXISTS (SELECT 1 FROM catalogue_revision)
    OR EXISTS (SELECT 1 FROM top_up) THEN 'filled'
  WHEN EXISTS (SELECT 1 FROM partner) OR EXISTS (SELECT 1 FROM audit_entry) THEN 'begun'
  ELSE 'new' END AS filling`;

export interface ProviderRow {
  time_zone: string;
  currency_exponent: number;
  default_country: string | null;
}

const DEFAULT_TIME_ZONE = "UTC";
const DEFAULT_CURRENCY_EXPONENT = 2;

/**
 * What the database's times and amounts mean. Both are written down when it is made: read in another
 * zone or with another exponent, the same rows would be other subscriptions and other money.
 * @param filling what has been stored so far.
 * @throws SettingsRefused where the operator asks for others than it was filled with; StoreRefused where those are gone, or
 *   it must be new.
 */
export function chooseProviderSettings(
  stored: ProviderRow | undefined,
  wishes: ProviderWishes,
  filling: Filling,
): ProviderRow {
  if (wishes.mustBeNew === true && filling !== "new")
    throw new StoreRefused("the database to fill is not empty: give one to which nothing was added yet");
  // By others than it was filled with, months would be counted to other days, and amounts be other money.
  if (stored === undefined && filling === "filled")
    throw new StoreRefused(
      "the row that says the database's time zone and currency exponent is gone (table provider), though the database was filled: restore a backup, or put the row back by hand as it was; nothing was written",
    );
  const timeZone = wishes.timeZone ?? stored?.time_zone ?? DEFAULT_TIME_ZONE;
  const currencyExponent = wishes.currencyExponent ?? stored?.currency_exponent ?? DEFAULT_CURRENCY_EXPONENT;
  const country = wishes.defaultCountry ?? stored?.default_country ?? null;
  if (stored !== undefined && (filling === "filled" || wishes.mustExist === true)) {
    if (stored.time_zone !== timeZone) {
      throw new SettingsRefused(
        `--time-zone (TOPUPD_TIME_ZONE) is ${timeZone}, but the database was filled with ${stored.time_zone}`,
      );
    }
    if (stored.currency_exponent !== currencyExponent) {
      throw new SettingsRefused(
        `--currency-exponent (TOPUPD_CURRENCY_EXPONENT) is ${currencyExponent}, but the database was filled with ${stored.currency_exponent}`,
      );
    }
    // The codes by which customers are found were made with it.
    if (stored.default_country !== country) {
      throw new SettingsRefused(
        `--default-country (TOPUPD_DEFAULT_COUNTRY) is ${country}, but the database was filled with ${stored.default_country ?? "none"}: export all of it, and import it into a new one`,
      );
    }
  }
  return { time_zone: timeZone, currency_exponent: currencyExponent, default_country: country };
}

/**
 * @param record by what rules of its zone the database was used, oldest first and today's last: {@link rulesOnRecord}.
 * @throws StoreRefused where the row names a time zone that nobody knows here.
 */
export function toProviderSettings(
  { time_zone, currency_exponent, default_country }: ProviderRow,
  record: readonly RulesOnRecord[],
): ProviderSettings {
  refuseUnknownZone(time_zone);
  const calendar = createChangingCalendar(time_zone, record);
  const provider = { calendar, currencyExponent: currency_exponent };
  if (default_country === null) return provider;
  return { ...provider, defaultCountry: default_country, normaliseMobile: mobileNumbersOf(default_country) };
}

function refuseUnknownZone(time_zone: string): void {
  if (!isTimeZone(time_zone))
    throw new StoreRefused(
      `the database's time zone is ${JSON.stringify(time_zone)} (table provider), which is none that this Node.js knows: put right by hand what it should be, or restore a backup; nothing was written`,
    );
}

export function toProviderRow({ calendar, currencyExponent, defaultCountry }: ProviderSettings): ProviderRow {
  return {
    time_zone: calendar.timeZone,
    currency_exponent: currencyExponent,
    default_country: defaultCountry ?? null,
  };
}

/** What is stored beside a mobile number. */
export function e164Of(mobile: string | undefined, { normaliseMobile }: ProviderSettings): string | null {
  return (mobile === undefined ? undefined : normaliseMobile?.(mobile)) ?? null;
}

/** The codes by which a text may find customers: it as it is and, where it is a mobile number, its one form. */
export function codesToFind(code: string, { normaliseMobile }: ProviderSettings): readonly [string, ...string[]] {
  const normal = normaliseMobile?.(code);
  return normal === undefined || normal === code ? [code] : [code, normal];
}

/** Whether these are what a database has. */
export function isProviderRow(stored: ProviderRow | undefined, settings: ProviderSettings): boolean {
  const { time_zone, currency_exponent, default_country } = toProviderRow(settings);
  return (
    stored?.time_zone === time_zone &&
    stored.currency_exponent === currency_exponent &&
    stored.default_country === default_country
  );
}

/**
 * Another process may have chosen others as long as the database was empty. What was not read or written
 * by then is read and written by these no more.
 * @throws StoreUnavailable where this process does not know of them yet.
 */
export function verifyProviderRow(stored: ProviderRow, settings: ProviderSettings): void {
  if (isProviderRow(stored, settings)) return;
  throw new StoreUnavailable("another process has changed time zone, currency exponent or country: restart this one");
}
