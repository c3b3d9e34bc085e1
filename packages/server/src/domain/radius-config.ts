import type { Service } from "./bouquet.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import type { RadiusConfig } from "./target.ts";
import { isTimeZone } from "./zone.ts";

export const DEFAULT_RADIUS_SERVICE: Service = "internet";

const POSTGRES = { engine: "postgres", port: 5432 } as const;
const MYSQL = { engine: "mysql", port: 3306 } as const;
const ENGINES = new Map<string, Pick<RadiusAddress, "engine" | "port">>([
  ...([
    ["postgres:", POSTGRES],
    ["postgresql:", POSTGRES],
    ["mysql:", MYSQL],
    ["mariadb:", MYSQL],
  ] as const),
]);
const TLS_MODES = ["verify-full", "no-verify", "disable"] as const;
/** Of a user's row in FreeRADIUS's tables, of which MySQL's hold no longer name. */
const GROUP = { maxLength: 64, isTight: true };

/** Reads the file of a target of kind `radius`: `{"database", "timeZone", "groups", "defaultGroup"?}`. */
export function readRadiusConfig(file: JsonValue, service: Service): Reading<RadiusConfig> {
  if (!isJsonObject(file)) return { ok: false, problems: [{ field: "the file", problem: "must be a JSON object" }] };
  const fields = new FieldReader(file);
  const database = fields.text("database", { maxLength: 2000 });
  const timeZone = fields.text("timeZone", { maxLength: 64 });
  const plans = isJsonObject(file["groups"]) ? Object.keys(file["groups"]) : [];
  const groups = fields.object("groups", (group) =>
    Object.fromEntries(plans.map((plan) => [plan, group.text(plan, GROUP)])),
  );
  const defaultGroup = fields.optionalText("defaultGroup", GROUP);
  fields.refuseOthers();

  const address = database === "" ? undefined : readRadiusAddress(database);
  if (typeof address === "string") fields.problem("database", address);
  if (timeZone !== "" && !isTimeZone(timeZone))
    fields.problem("timeZone", "must be an IANA time zone such as Asia/Kathmandu");
  for (const plan of plans)
    if (plan.length > NAME_MAX_LENGTH)
      fields.problem("groups", `must have plans of at most ${NAME_MAX_LENGTH} characters`);
  return fields.finish({ kind: "radius", database, service, timeZone, groups: groups ?? {}, defaultGroup });
}

/** A database of FreeRADIUS. */
export interface RadiusAddress {
  readonly engine: "postgres" | "mysql";
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `no-verify`: encrypted, to a server that may be any. */
  readonly tls: (typeof TLS_MODES)[number];
}

/**
 * Reads `postgres://` or `mysql://` (also `postgresql://` or `mariadb://`), then `USER:PASSWORD@HOST:PORT/DATABASE`. The
 * drivers know many more options, some of which run statements or read files: only `sslmode` is read.
 * @returns why it cannot be used, as it goes on after the field's name, if it cannot.
 */
export function readRadiusAddress(text: string): RadiusAddress | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const engine = url && ENGINES.get(url.protocol);
  const [user, password, database] = [url?.username, url?.password, url?.pathname.slice(1)].map(decoded);
  if (!url?.hostname || engine === undefined || user === undefined || password === undefined || !database)
    return "must be postgres:// or mysql://, and then USER:PASSWORD@HOST:PORT/DATABASE";
  const [mode = ["sslmode", "disable"], ...others] = url.searchParams;
  const tls = TLS_MODES.find((each) => mode[0] === "sslmode" && mode[1] === each);
  if (tls === undefined || others.length > 0 || url.hash !== "")
    return "can have no option but sslmode=verify-full, no-verify or disable";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { ...engine, ...(url.port !== "" && { port: Number(url.port) }), host, user, password, database, tls };
}

/** @param a as {@link readRadiusAddress} reads it, and so `b`. The user, password and TLS mode may differ. */
export function isSameDatabase(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => {
    const address = readRadiusAddress(text);
    return typeof address === "string" ? text : [address.host.toLowerCase(), address.port, address.database].join("/");
  });
  return one === other;
}

/** Undefined if it is not percent-encoded. */
function decoded(text = ""): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
