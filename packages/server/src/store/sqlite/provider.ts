import {
  chooseProviderSettings,
  FILLING,
  type Filling,
  type ProviderRow,
  type ProviderWishes,
  toProviderSettings,
  verifyProviderRow,
} from "../common/provider-settings.ts";
import type { ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";

const STORED = "SELECT time_zone, currency_exponent, default_country FROM provider";

/** @throws StoreRefused where the operator asks for other settings than the database was filled with. */
export function settleProviderSettings(database: Database, wishes: ProviderWishes): ProviderSettings {
  return database.writeAtOpening(() => {
    const stored = database.prepare(STORED).get() as ProviderRow | undefined;
    const chosen = chooseProviderSettings(stored, wishes, fillingOf(database));
    database
      .prepare(
        "INSERT OR REPLACE INTO provider (only_row, time_zone, currency_exponent, default_country) VALUES (1, ?, ?, ?)",
      )
      .run(chosen.time_zone, chosen.currency_exponent, chosen.default_country);
    return toProviderSettings(chosen);
  });
}

/** @throws StoreUnavailable where another process has changed them while the database was empty. */
export function verifyProviderSettings(database: Database, settings: ProviderSettings): void {
  verifyProviderRow(database.prepare(STORED).get() as ProviderRow, settings);
}

function fillingOf(database: Database): Filling {
  return (database.prepare(FILLING).get() as { filling: Filling }).filling;
}
