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
import type { ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";

const STORED = "SELECT time_zone, currency_exponent, default_country FROM provider";
const PUT =
  "INSERT OR REPLACE INTO provider (only_row, time_zone, currency_exponent, default_country) VALUES (1, ?, ?, ?)";

/** @throws StoreRefused as {@link chooseProviderSettings}. */
export function settleProviderSettings(database: Database, wishes: ProviderWishes): ProviderSettings {
  const choose = () => {
    const stored = database.prepare(STORED).get() as ProviderRow | undefined;
    const settings = toProviderSettings(chooseProviderSettings(stored, wishes, fillingOf(database)));
    return { settings, isStored: isProviderRow(stored, settings) };
  };
  return database.findOrMake(
    () => {
      const { settings, isStored } = choose();
      return isStored ? settings : undefined;
    },
    () => {
      const { settings } = choose();
      const { time_zone, currency_exponent, default_country } = toProviderRow(settings);
      database.prepare(PUT).run(time_zone, currency_exponent, default_country);
      return settings;
    },
  );
}

/** @throws StoreUnavailable where another process has changed them while the database was empty. */
export function verifyProviderSettings(database: Database, settings: ProviderSettings): void {
  verifyProviderRow(database.prepare(STORED).get() as ProviderRow, settings);
}

function fillingOf(database: Database): Filling {
  return (database.prepare(FILLING).get() as { filling: Filling }).filling;
}
