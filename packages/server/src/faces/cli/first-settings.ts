import { type Config, readConfig, SETTINGS, type SettingName } from "../../config.ts";
import { showDatabaseAddress } from "../../domain/database-address.ts";
import { isCountry } from "../../domain/names.ts";
import type { FirstSetting } from "../../office/office.ts";
import { FIRST_SETTINGS } from "../../office/setup/steps.ts";
import { WrongUsage } from "./failures.ts";
import type { FirstRunTools, Runtime } from "./runtime.ts";

/** The settings of the first run as staff see them. */
export function firstSettings(config: Config): FirstSetting[] {
  const shown = { ...config, database: showDatabaseAddress(config.database) };
  return FIRST_SETTINGS.map(([name, title, isNeeded]) => {
    const value = shown[name];
    return { title, variable: SETTINGS[name].env, value: value === undefined ? null : String(value), isNeeded };
  });
}

export type FirstSettingName = (typeof FIRST_SETTINGS)[number][0];
export type GivenSettings = Partial<Record<SettingName, string>>;

interface Asking {
  readonly runtime: Pick<Runtime, "stderr" | "firstRun">;
  /** The settings so far, by variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of flags. */
  readonly given: GivenSettings;
  /** Default of a new database. */
  readonly database: string;
  /** Undefined: all questions get their defaults. */
  readonly ask: FirstRunTools["ask"];
}

/**
 * Asks for the settings of the first run in order.
 * @throws WrongUsage if a setting has neither a value nor a default, ConfigError if a value is not valid.
 */
export async function askFirstSettings(asking: Asking): Promise<GivenSettings> {
  const { env, given } = asking;
  readConfig(env, given);
  const answers: GivenSettings = {};
  for (const [name, title, isNeeded] of FIRST_SETTINGS) {
    const answer = given[name] ?? (await answerTo(asking, name, title, isNeeded, answers));
    if (answer !== undefined) answers[name] = answer;
  }
  return answers;
}

/** The values that differ from those of the environment file, by variable. */
export function changedSettings(
  inFile: Readonly<Record<string, string>>,
  values: GivenSettings,
): Record<string, string> {
  const all = Object.entries(values) as [SettingName, string][];
  const isNew = (name: SettingName, value: string) => value !== (inFile[SETTINGS[name].env] ?? SETTINGS[name].fallback);
  return Object.fromEntries(all.flatMap(([name, value]) => (isNew(name, value) ? [[SETTINGS[name].env, value]] : [])));
}

async function answerTo(
  asking: Asking,
  name: FirstSettingName,
  title: string,
  isNeeded: boolean,
  before: GivenSettings,
): Promise<string | undefined> {
  const { ask, runtime, env } = asking;
  const usual = env[SETTINGS[name].env] ?? defaultOf(asking, name, before);
  if (ask !== undefined) return askUntilValid(ask, runtime, { name, title, isNeeded, usual });
  if (usual === undefined && isNeeded) throw new WrongUsage(`--${SETTINGS[name].flag} is needed: it has no default`);
  return usual;
}

interface Question {
  readonly name: FirstSettingName;
  readonly title: string;
  readonly isNeeded: boolean;
  /** The answer of an empty line. */
  readonly usual: string | undefined;
}

async function askUntilValid(
  ask: NonNullable<Asking["ask"]>,
  { stderr }: Asking["runtime"],
  { name, title, isNeeded, usual }: Question,
): Promise<string | undefined> {
  const hint = usual ?? (isNeeded ? undefined : "none");
  const question = `${title}${hint === undefined ? "" : ` [${hint}]`}: `;
  for (;;) {
    const answer = (await ask(question)).trim() || usual;
    if (answer === undefined && !isNeeded) return undefined;
    try {
      SETTINGS[name].read(answer ?? "");
      return answer;
    } catch (error) {
      stderr(`It ${(error as Error).message}.\n`);
    }
  }
}

function defaultOf({ runtime, database }: Asking, name: FirstSettingName, before: GivenSettings): string | undefined {
  if (name === "database") return database;
  // Most servers run in UTC, and no import can be made again in another zone: the person must say which one it is.
  if (name === "timeZone") return runtime.firstRun.timeZone === "UTC" ? undefined : runtime.firstRun.timeZone;
  if (name === "defaultCountry") return countryOf(before.timeZone ?? "");
  if (name === "currencyExponent") return decimalsOf(before.currency ?? "");
  return SETTINGS[name].fallback;
}

/** The decimals of a currency by ISO 4217. @param currency three capital letters. */
function decimalsOf(currency: string): string {
  const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
  return String(maximumFractionDigits);
}

const LETTERS = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
const COUNTRIES = () => LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(isCountry);

/** The country that has the time zone; undefined if none or several have it. */
function countryOf(timeZone: string): string | undefined {
  const same = (zone: string) => new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  const wanted = same(timeZone);
  const [country, ...others] = COUNTRIES().filter((each) => zonesOf(each).some((zone) => same(zone) === wanted));
  return others.length === 0 ? country : undefined;
}

/** Node 20 has the property, later versions the method. */
type Zoned = Intl.Locale & { readonly timeZones?: readonly string[]; getTimeZones?(): readonly string[] };

function zonesOf(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Zoned;
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}
