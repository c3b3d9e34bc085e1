import { type DatabaseAddress, readDatabaseAddress, withoutPassword } from "./database-address.ts";
import { AddressList, MOST_ADDRESS_RANGES } from "./domain/address-list.ts";
import { readAddressRange } from "./domain/address-range.ts";
import { SERVICES } from "./domain/bouquet.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "./domain/catalogue.ts";
import { isCountry } from "./domain/mobile-number.ts";
import { MAX_CURRENCY_EXPONENT } from "./domain/money.ts";
import { type Instant, readWallTime } from "./domain/wall-time.ts";
import { isTimeZone } from "./domain/zone.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

/** Every setting of topupd, resolved: a flag wins over the environment, which wins over the default. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Processes that take requests; undefined where nothing was said. */
  readonly workers: number | undefined;
  readonly database: DatabaseAddress;
  /** How many sessions the service has with PostgreSQL at most, beside the one of each process that watches it. */
  readonly databaseConnections: number;
  readonly prefix: string;
  /** Undefined where none is trusted. */
  readonly trustedProxies: AddressList | undefined;
  /** Undefined where nothing was said: then the database's own holds. */
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
  readonly defaultCountry: string | undefined;
  /** How many base plans of each service a connection may have running. */
  readonly basePlans: BasePlans;
  readonly lapsedDays: number;
  readonly logLevel: LogLevel;
  readonly drainSeconds: number;
  readonly shutdownSeconds: number;
  /** Undefined where no metrics are served. */
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  readonly v100DeprecatedOn: Instant | undefined;
  readonly v100SunsetOn: Instant | undefined;
}

/** A setting that is not known, or whose value is not. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How one setting is given, and read. `read` throws an Error that says what the value must be. */
interface Setting<Value = unknown> {
  readonly env: string;
  /** Without the leading dashes. */
  readonly flag: string;
  readonly placeholder: string;
  readonly fallback: string | undefined;
  readonly description: string;
  readonly read: (text: string) => Value;
}

type Settings = { readonly [Key in keyof Config]: Setting<Exclude<Config[Key], undefined>> };

export const SETTINGS: Settings = {
  host: {
    env: "TOPUPD_HOST",
    flag: "host",
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    description: "address to listen on",
    read: (text) => (text === "" ? mustBe("an address") : text),
  },
  port: {
    env: "TOPUPD_PORT",
    flag: "port",
    placeholder: "NUMBER",
    fallback: "8080",
    description: "port to listen on; 0 takes a free one",
    read: (text) => readInteger(text, 0, 65_535),
  },
  workers: {
    env: "TOPUPD_WORKERS",
    flag: "workers",
    placeholder: "NUMBER",
    fallback: undefined,
    description: "processes that take requests; unless given, as many as there are cores, and at most 8",
    read: (text) => readInteger(text, 1, 64),
  },
  database: {
    env: "TOPUPD_DATABASE",
    flag: "database",
    placeholder: "URL",
    fallback: "sqlite:./topupd.db",
    description: "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    read: readDatabaseAddress,
  },
  databaseConnections: {
    env: "TOPUPD_DATABASE_CONNECTIONS",
    flag: "database-connections",
    placeholder: "NUMBER",
    fallback: "10",
    description: "most connections of the service to PostgreSQL, shared out to its workers",
    read: (text) => readInteger(text, 1, 1000),
  },
  prefix: {
    env: "TOPUPD_PREFIX",
    flag: "prefix",
    placeholder: "PATH",
    fallback: "/staging/api/third-party",
    description: "what stands before the version in every path",
    read: (text) =>
      /^(\/[A-Za-z0-9._-]+)*$/.test(text)
        ? text
        : mustBe("a path such as /api/third-party, without a slash at its end"),
  },
  trustedProxies: {
    env: "TOPUPD_TRUSTED_PROXIES",
    flag: "trusted-proxies",
    placeholder: "LIST",
    fallback: undefined,
    description:
      "addresses and CIDR ranges of proxies whose X-Forwarded-For says who calls, separated by commas (none is trusted)",
    read: readAddressList,
  },
  timeZone: {
    env: "TOPUPD_TIME_ZONE",
    flag: "time-zone",
    placeholder: "NAME",
    fallback: undefined,
    description: "the provider's time zone; unless given, the database's own, or UTC",
    read: (text) => (isTimeZone(text) ? text : mustBe("an IANA time zone such as Asia/Kathmandu")),
  },
  currencyExponent: {
    env: "TOPUPD_CURRENCY_EXPONENT",
    flag: "currency-exponent",
    placeholder: "NUMBER",
    fallback: undefined,
    description: "decimals of the currency; unless given, the database's own, or 2",
    read: (text) => readInteger(text, 0, MAX_CURRENCY_EXPONENT),
  },
  defaultCountry: {
    env: "TOPUPD_DEFAULT_COUNTRY",
    flag: "default-country",
    placeholder: "COUNTRY",
    fallback: undefined,
    description:
      "where mobile numbers without a country code are, such as NP; unless given, the database's own, or none",
    read: (text) => (isCountry(text) ? text : mustBe("two capital letters of ISO 3166 such as NP")),
  },
  basePlans: {
    env: "TOPUPD_BASE_PLANS",
    flag: "base-plans",
    placeholder: "LIST",
    fallback: Object.entries(DEFAULT_BASE_PLANS)
      .map(([service, number]) => `${service}=${number}`)
      .join(","),
    description: "for each service, whether a connection may have one base plan running or many",
    read: readBasePlans,
  },
  lapsedDays: {
    env: "TOPUPD_LAPSED_DAYS",
    flag: "lapsed-days",
    placeholder: "DAYS",
    fallback: "0",
    description: "how long a subscription that has ended stays listed",
    read: (text) => readInteger(text, 0, 3650),
  },
  logLevel: {
    env: "TOPUPD_LOG_LEVEL",
    flag: "log-level",
    placeholder: "LEVEL",
    fallback: "info",
    description: `least level that is logged: ${LOG_LEVELS.join(", ")}`,
    read: (text) => LOG_LEVELS.find((level) => level === text) ?? mustBe(`one of ${LOG_LEVELS.join(", ")}`),
  },
  drainSeconds: {
    env: "TOPUPD_DRAIN_SECONDS",
    flag: "drain-seconds",
    placeholder: "SECONDS",
    fallback: "1",
    description: "how long SIGTERM shows /readyz as not ready before no more connections are taken",
    read: (text) => readInteger(text, 0, 300),
  },
  shutdownSeconds: {
    env: "TOPUPD_SHUTDOWN_SECONDS",
    flag: "shutdown-seconds",
    placeholder: "SECONDS",
    fallback: "10",
    description: "how long requests in hand may then take before they are cut off",
    read: (text) => readInteger(text, 1, 300),
  },
  metricsPort: {
    env: "TOPUPD_METRICS_PORT",
    flag: "metrics-port",
    placeholder: "NUMBER",
    fallback: undefined,
    description: "port that serves /metrics; 0 takes a free one; unless given, no metrics are served",
    read: (text) => readInteger(text, 0, 65_535),
  },
  metricsHost: {
    env: "TOPUPD_METRICS_HOST",
    flag: "metrics-host",
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    description: "address for that port",
    read: (text) => (text === "" ? mustBe("an address") : text),
  },
  v100DeprecatedOn: {
    env: "TOPUPD_V100_DEPRECATED_ON",
    flag: "v100-deprecated-on",
    placeholder: "DATE",
    fallback: undefined,
    description: "announce v1.0.0 as deprecated from this date on, in UTC",
    read: readDate,
  },
  v100SunsetOn: {
    env: "TOPUPD_V100_SUNSET_ON",
    flag: "v100-sunset-on",
    placeholder: "DATE",
    fallback: undefined,
    description: "announce the end of v1.0.0 for this date, in UTC",
    read: readDate,
  },
};

export type SettingName = keyof Config;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

const ENV_PREFIX = "TOPUPD_";

/**
 * @param flags as given on the command line, by setting; what is absent was not given.
 * @param fallbacks a command's own defaults, where they differ.
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
  return Object.freeze(Object.fromEntries(values)) as Config;
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

function readInteger(text: string, min: number, max: number): number {
  const value = Number(text);
  return /^[0-9]{1,5}$/.test(text) && value >= min && value <= max
    ? value
    : mustBe(`a whole number from ${min} to ${max}`);
}

function readAddressList(text: string): AddressList {
  const ranges = text.split(",").map((part) => {
    const range = readAddressRange(part.trim());
    if (typeof range === "string") return range;
    throw new Error(part === text ? range.problem : `names ${JSON.stringify(part.trim())}, which ${range.problem}`);
  });
  return ranges.length <= MOST_ADDRESS_RANGES
    ? new AddressList(ranges)
    : mustBe(`a list of up to ${MOST_ADDRESS_RANGES} addresses and ranges`);
}

/** A service that is not named has its default. */
function readBasePlans(text: string): BasePlans {
  const plans = { ...DEFAULT_BASE_PLANS };
  for (const part of text.split(",")) {
    const [name, number] = part.split("=").map((word) => word.trim());
    const service = SERVICES.find((known) => known === name);
    if (service === undefined || (number !== "one" && number !== "many"))
      return mustBe("a list such as internet=one,iptv=many,tv=many");
    plans[service] = number;
  }
  return plans;
}

function readDate(text: string): Instant {
  return readWallTime(`${text} 00:00:00`) ?? mustBe("a date in the form YYYY-MM-DD");
}

function mustBe(what: string): never {
  throw new Error(`must be ${what}`);
}
