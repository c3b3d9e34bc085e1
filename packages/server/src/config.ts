import { SERVICES } from "./domain/bouquet.ts";
import { DEFAULT_BASE_PLANS } from "./domain/catalogue.ts";
import { readDatabaseAddress, readPostgresAddress, withoutPassword } from "./domain/database-address.ts";
import { MAX_CURRENCY_EXPONENT, NUMBER_GROUPINGS } from "./domain/money.ts";
import { isCountry } from "./domain/names.ts";
import { DEFAULT_MONTHS_AHEAD, MOST_MONTHS_AHEAD } from "./domain/top-up.ts";
import { isTimeZone } from "./domain/wall-time.ts";
import { BACKUP_SETTINGS } from "./system/backup-settings.ts";
import { LOG_LEVELS } from "./system/log.ts";
import { LOG_IN_SETTINGS, problemOfLogIn } from "./system/log-in-settings.ts";
import { MAIL_SETTINGS, problemOfMail } from "./system/mail-settings.ts";
import {
  integer,
  mustBe,
  readAddressList,
  readBasePlans,
  readDate,
  readHost,
  readHostNames,
  readOrigin,
  readPrefix,
  readTextLine,
} from "./system/setting-values.ts";
import { STAFF_LIMIT_SETTINGS } from "./system/staff-limit-settings.ts";

/** An unknown setting, or a value that is not valid. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A setting. `read` throws an Error that says what the value must be. */
interface Setting {
  readonly placeholder: string;
  readonly fallback?: string;
  readonly description: string;
  readonly read: (text: string) => unknown;
}

const TABLE = {
  host: { placeholder: "ADDRESS", fallback: "127.0.0.1", description: "address to listen on", read: readHost },
  port: {
    placeholder: "NUMBER",
    fallback: "8080",
    description: "port to listen on; 0 picks a free one",
    read: integer(0, 65_535),
  },
  workers: {
    placeholder: "NUMBER",
    description: "number of worker processes; if not set, one for each core, at most 8",
    read: integer(1, 64),
  },
  database: {
    placeholder: "URL",
    fallback: "sqlite:./topupd.db",
    description: "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    read: readDatabaseAddress,
  },
  databaseConnections: {
    placeholder: "NUMBER",
    fallback: "10",
    description: "maximum PostgreSQL connections of the service, shared by its processes",
    read: integer(1, 1000),
  },
  reportsDatabase: {
    placeholder: "URL",
    description: "a standby of the PostgreSQL database, which lists and reports read; if not set, the database itself",
    read: readPostgresAddress,
  },
  prefix: {
    placeholder: "PATH",
    fallback: "/staging/api/third-party",
    description: "start of every path, before the version",
    read: readPrefix,
  },
  publicUrl: {
    placeholder: "URL",
    description: "partners' base URL, shown in the documents; if not set, they show none",
    read: readOrigin,
  },
  trustedProxies: {
    placeholder: "LIST",
    description:
      "IP addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted, separated by commas; if not set, none",
    read: readAddressList,
  },
  timeZone: {
    placeholder: "NAME",
    description: "the provider's time zone; if not set, the database's own, or UTC",
    read: (text) => (isTimeZone(text) ? text : mustBe("an IANA time zone such as Asia/Kathmandu")),
  },
  currencyExponent: {
    placeholder: "NUMBER",
    description: "decimals of the currency; if not set, the database's own, or 2",
    read: integer(0, MAX_CURRENCY_EXPONENT),
  },
  currency: {
    placeholder: "CODE",
    description: "currency code that staff and partners see beside amounts, such as NPR; if not set, none",
    read: (text) => (/^[A-Z]{3}$/.test(text) ? text : mustBe("three capital letters of ISO 4217 such as NPR")),
  },
  numberGrouping: {
    placeholder: "WAY",
    fallback: "western",
    description: "how the console and mails group digits: western (1,234,567) or indian (12,34,567)",
    read: (text) => NUMBER_GROUPINGS.find((way) => way === text) ?? mustBe(`one of ${NUMBER_GROUPINGS.join(", ")}`),
  },
  defaultCountry: {
    placeholder: "COUNTRY",
    description:
      "country of mobile numbers without a country code, such as NP; if not set, the database's own, or none",
    read: (text) => (isCountry(text) ? text : mustBe("two capital letters of ISO 3166 such as NP")),
  },
  providerName: {
    placeholder: "TEXT",
    description: "the provider's name on printed settlements; if not set, none",
    read: readTextLine,
  },
  providerAddress: {
    placeholder: "TEXT",
    description: "the provider's address on printed settlements; if not set, none",
    read: readTextLine,
  },
  providerNumber: {
    placeholder: "TEXT",
    description: "the provider's registration on printed settlements, such as Reg. 12345/081; if not set, none",
    read: readTextLine,
  },
  providerTax: {
    placeholder: "TEXT",
    description: "the provider's tax number on printed settlements, such as PAN 301234567; if not set, none",
    read: readTextLine,
  },
  basePlans: {
    placeholder: "LIST",
    fallback: SERVICES.map((service) => `${service}=${DEFAULT_BASE_PLANS[service]}`).join(","),
    description: "for each service, whether a connection may have one or many running base plans",
    read: readBasePlans,
  },
  monthsAhead: {
    placeholder: "MONTHS",
    fallback: String(DEFAULT_MONTHS_AHEAD),
    description: "how many months ahead a connection can be paid",
    read: integer(1, MOST_MONTHS_AHEAD),
  },
  lapsedDays: {
    placeholder: "DAYS",
    fallback: "0",
    description: "number of days that an ended subscription stays listed",
    read: integer(0, 3650),
  },
  logLevel: {
    placeholder: "LEVEL",
    fallback: "info",
    description: `lowest level that is logged: ${LOG_LEVELS.join(", ")}`,
    read: (text) => LOG_LEVELS.find((level) => level === text) ?? mustBe(`one of ${LOG_LEVELS.join(", ")}`),
  },
  drainSeconds: {
    placeholder: "SECONDS",
    fallback: "1",
    description: "seconds after SIGTERM during which /readyz says not ready and connections are still accepted",
    read: integer(0, 300),
  },
  shutdownSeconds: {
    placeholder: "SECONDS",
    fallback: "10",
    description: "seconds after that until unfinished requests are cut off",
    read: integer(1, 300),
  },
  metricsPort: {
    placeholder: "NUMBER",
    description: "port that serves /metrics; 0 picks a free one; if not set, no metrics are served",
    read: integer(0, 65_535),
  },
  metricsHost: {
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    description: "address for the metrics port",
    read: readHost,
  },
  consolePort: {
    placeholder: "NUMBER",
    description: "port of the console and the staff API; 0 picks a free one; if not set, neither is served",
    read: integer(0, 65_535),
  },
  consoleHost: {
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    description: "address for the console port",
    read: readHost,
  },
  counterPort: {
    placeholder: "NUMBER",
    description: "port of the counter, where sellers of partners sell; 0 picks a free one; needs --console-port",
    read: integer(0, 65_535),
  },
  counterHost: {
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    description: "address for the counter port",
    read: readHost,
  },
  consoleNames: {
    placeholder: "LIST",
    description:
      "host names of the console and the counter, separated by commas; mails link to the first; IP addresses and localhost always work",
    read: readHostNames,
  },
  ...LOG_IN_SETTINGS,
  ...MAIL_SETTINGS,
  ...BACKUP_SETTINGS,
  privateTargets: {
    placeholder: "LIST",
    description:
      "private IP addresses and CIDR ranges that webhooks and RADIUS databases may have, separated by commas; if not set, none",
    read: readAddressList,
  },
  ...STAFF_LIMIT_SETTINGS,
  v100DeprecatedOn: {
    placeholder: "DATE",
    description: "date of the announced deprecation of v1.0.0, in UTC",
    read: readDate,
  },
  v100SunsetOn: {
    placeholder: "DATE",
    description: "announced end date of v1.0.0, in UTC",
    read: readDate,
  },
} satisfies Readonly<Record<string, Setting>>;

/** The value of each setting: a flag wins over the environment, which wins over the fallback. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof TABLE)[Name]> };

type ValueOf<Of extends Setting> =
  | ReturnType<Of["read"]>
  | (Of extends { readonly fallback: string } ? never : undefined);

export type SettingName = keyof typeof TABLE;
export const SETTING_NAMES = Object.keys(TABLE) as SettingName[];

const ENV_PREFIX = "TOPUPD_";

/** Each setting with its flag (without dashes) and its variable: `lapsed-days` and `TOPUPD_LAPSED_DAYS`. */
export const SETTINGS = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [name, { ...TABLE[name], flag, env: ENV_PREFIX + flag.toUpperCase().replaceAll("-", "_") }];
  }),
) as Readonly<Record<SettingName, Setting & { readonly flag: string; readonly env: string }>>;

/**
 * @param flags values from the command line, by setting.
 * @param fallbacks the command's defaults that differ from the table.
 * @throws ConfigError that names the first bad or unknown setting.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Partial<Record<SettingName, string>>>,
  fallbacks: Readonly<Partial<Record<SettingName, string>>> = {},
): Config {
  refuseUnknown(env);
  const values = SETTING_NAMES.map((name) => {
    const { env: variable, flag, fallback, read } = SETTINGS[name];
    const given =
      flags[name] !== undefined ? { by: `--${flag}`, text: flags[name] } : { by: variable, text: env[variable] };
    const text = given.text ?? fallbacks[name] ?? fallback;
    return [name, text === undefined ? undefined : readAs(given.by, text, read)];
  });
  const config = Object.freeze(Object.fromEntries(values)) as Config;
  const problem = problemOfLogIn(config) ?? problemOfMail(config) ?? problemOfCounter(config);
  if (problem !== undefined) throw new ConfigError(problem);
  return config;
}

function problemOfCounter({ counterPort, consolePort }: Config): string | undefined {
  return counterPort !== undefined && consolePort === undefined ? "--counter-port needs --console-port" : undefined;
}

function readAs(by: string, text: string, read: (text: string) => unknown): unknown {
  try {
    return read(text);
  } catch (error) {
    throw new ConfigError(`${by} ${(error as Error).message}, but is ${JSON.stringify(withoutPassword(text))}`, {
      cause: error,
    });
  }
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set(SETTING_NAMES.map((name) => SETTINGS[name].env));
  const unknown = Object.keys(env).filter((name) => name.startsWith(ENV_PREFIX) && !known.has(name));
  if (unknown.length > 0) throw new ConfigError(`${unknown.join(" and ")}: there is no such setting`);
}
