import type { Instant } from "../../domain/calendar.ts";
import {
  chooseProviderSettings,
  FILLING,
  type Filling,
  isProviderRow,
  type ProviderRow,
  type ProviderWishes,
  toProviderRow,
  toProviderSettings,
  verifyProviderRow,
} from "../common/provider-settings.ts";
import { rulesOnRecord, ZONE_RULES, type ZoneRulesRow } from "../common/zone-rules.ts";
import type { ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";

const STORED = "SELECT time_zone, currency_exponent, default_country FROM provider";
const PUT =
  "INSERT OR REPLACE INTO provider (only_row, time_zone, currency_exponent, default_country) VALUES (1, ?, ?, ?)";
const PUT_RULES = "INSERT INTO zone_rules (since, time_zone, rules) VALUES (?, ?, ?)";

/**
 * @returns the settings, and by what rules of their zone the database was used.
 * @throws StoreRefused as {@link chooseProviderSettings}.
 */
export function settleProviderSettings(database: Database, wishes: ProviderWishes, now: Instant): ProviderSettings {
  const choose = () => {
    const stored = database.prepare(STORED).get() as ProviderRow | undefined;
    const chosen = chooseProviderSettings(stored, wishes, fillingOf(database));
    const rows = database.prepare(ZONE_RULES).all() as unknown as ZoneRulesRow[];
    const { record, news } = rulesOnRecord(rows, chosen.time_zone, now);
    const settings = toProviderSettings(chosen, record);
    return { settings, news, isStored: isProviderRow(stored, settings) };
  };
  let stored: ProviderSettings | undefined;
  const find = () => {
    stored = undefined;
    const { settings, news, isStored } = choose();
    if (isStored) stored = settings;
    return news === undefined ? stored : undefined;
  };
  const make = () => {
    const { settings, news, isStored } = choose();
    const { time_zone, currency_exponent, default_country } = toProviderRow(settings);
    if (!isStored) database.prepare(PUT).run(time_zone, currency_exponent, default_country);
    if (news !== undefined) database.prepare(PUT_RULES).run(news.since, news.time_zone, news.rules);
    return settings;
  };
  try {
    return database.findOrMake(find, make);
  } catch (error) {
    // Rules that cannot be noted now, on a full disk for one, are noted when the database is opened next.
    if (stored === undefined) throw error;
    return stored;
  }
}

/** @throws StoreUnavailable where another process has changed them while the database was empty. */
export function verifyProviderSettings(database: Database, settings: ProviderSettings): void {
  verifyProviderRow(database.prepare(STORED).get() as ProviderRow, settings);
}

function fillingOf(database: Database): Filling {
  return (database.prepare(FILLING).get() as { filling: Filling }).filling;
}
