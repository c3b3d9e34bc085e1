import { type Config, SETTINGS } from "../../config.ts";
import { showDatabaseAddress } from "../../domain/database-address.ts";
import type { FirstSetting } from "../../office/office.ts";
import { FIRST_SETTINGS } from "../../office/setup/steps.ts";

/** The settings of the first run as staff see them. */
export function firstSettings(config: Config): FirstSetting[] {
  const shown = { ...config, database: showDatabaseAddress(config.database) };
  return FIRST_SETTINGS.map(([name, title, isNeeded]) => {
    const value = shown[name];
    return { title, variable: SETTINGS[name].env, value: value === undefined ? null : String(value), isNeeded };
  });
}
