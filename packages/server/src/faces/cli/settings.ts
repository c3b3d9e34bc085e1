import { type Command, Option } from "commander";
import { type Config, readConfig, SETTING_NAMES, SETTINGS, type SettingName } from "../../config.ts";
import type { Store } from "../../store/store.ts";
import type { Runtime, StoreOptions } from "./runtime.ts";

/** What commands that only open the database can be told. */
export const STORE_SETTINGS: readonly SettingName[] = ["database", "timeZone", "currencyExponent", "defaultCountry"];

export type Fallbacks = Readonly<Partial<Record<SettingName, string>>>;

/** Adds the flags of some settings to a command. */
export function addSettings(command: Command, names: readonly SettingName[], fallbacks: Fallbacks = {}): Command {
  for (const name of names) {
    const { flag, placeholder, description, fallback, env } = SETTINGS[name];
    const usual = fallbacks[name] ?? fallback;
    const notes = [...(usual === undefined ? [] : [`default: ${usual}`]), `env: ${env}`].join(", ");
    const option = new Option(`--${flag} <${placeholder}>`, `${description} (${notes})`);
    command.addOption(option.helpGroup("Settings:"));
  }
  return command;
}

/** Resolves all settings from a command's flags and the environment. */
export function configOf(command: Command, runtime: Runtime, fallbacks: Fallbacks = {}): Config {
  const options: Record<string, unknown> = command.opts();
  const flags = SETTING_NAMES.flatMap((name) => {
    const value = options[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return readConfig(runtime.env, Object.fromEntries(flags), fallbacks);
}

/** Runs work on the store that settings name, and closes the store whatever comes. */
export async function withStore<Result>(
  config: Config,
  runtime: Runtime,
  options: StoreOptions,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await runtime.openStore(config, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
