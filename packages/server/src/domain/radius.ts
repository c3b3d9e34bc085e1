import type { Service } from "./bouquet.ts";
import type { ConnectionEvent, EventState, EventSubscription } from "./event.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import { isRunning } from "./subscription.ts";
import type { RadiusConfig } from "./target.ts";
import { type Instant, instantOf, isTimeZone, type WallTime, type Zone } from "./wall-time.ts";

export const DEFAULT_RADIUS_SERVICE: Service = "internet";

const POSTGRES = { engine: "postgres", port: 5432 } as const;
const MYSQL = { engine: "mysql", port: 3306 } as const;
const ENGINES = new Map<string, typeof POSTGRES | typeof MYSQL>([
  ["postgres:", POSTGRES],
  ["postgresql:", POSTGRES],
  ["mysql:", MYSQL],
  ["mariadb:", MYSQL],
]);
const TLS_MODES = ["verify-full", "no-verify", "disable"] as const;
/** Limit of group names in FreeRADIUS's MySQL tables. */
const GROUP = { maxLength: 64, isTight: true };

/** Reads the file of a `radius` target: `{"database", "timeZone", "groups", "defaultGroup"?}`. */
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

/**
 * Reads `postgres://` or `mysql://` (also `postgresql://` or `mariadb://`), then `USER:PASSWORD@HOST:PORT/DATABASE`.
 * `sslmode` is the only option: others of the drivers can run statements or read files.
 * @returns a problem, as text after the field's name, if the address cannot be used.
 */
export function readRadiusAddress(text: string) {
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

/** Compares host, port and database of two addresses. User, password and TLS mode may differ. */
export function isSameDatabase(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => {
    const address = readRadiusAddress(text);
    return typeof address === "string" ? text : [address.host.toLowerCase(), address.port, address.database].join("/");
  });
  return one === other;
}

/** Undefined if the text is not percent-encoded. */
function decoded(text = ""): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export type RadiusRules = Pick<RadiusConfig, "groups" | "defaultGroup"> & {
  /** Zone of the wall times of subscriptions. */
  readonly zone: Zone;
};

/** The wanted user after an event. Only block events exist for connections that never had a subscription. */
export function radiusUserOf({ kind, at, key, state }: ConnectionEvent, rules: RadiusRules) {
  const isOfBlock = kind === "connection.blocked" || kind === "connection.unblocked";
  return radiusUser({ username: key.reqId, hadAny: !isOfBlock || state.subscriptions.length > 0, ...state }, at, rules);
}

/** @param connection `hadAny`: whether it ever had a subscription; otherwise only its block is written. */
export function radiusUser(
  connection: EventState & { readonly username: string; readonly hadAny: boolean },
  now: Instant,
  rules: RadiusRules,
) {
  const { username, blocked, hadAny, subscriptions } = connection;
  const bases = subscriptions.filter(({ addOn }) => !addOn);
  const { plan } = currentBase(bases, rules.zone.wallTime(now)) ?? {};
  return {
    username,
    rejected: blocked,
    expiration: hadAny ? expirationOf(bases, now, rules.zone) : undefined,
    group: plan === undefined ? undefined : groupOf(plan, rules),
  };
}

/** The latest end of the base subscriptions; without any, the user ends now, or stays ended. */
function expirationOf(bases: readonly EventSubscription[], now: Instant, zone: Zone) {
  const ends = bases.map(({ end }) => instantOf(end, zone) ?? Infinity);
  return { end: ends.length === 0 ? now : Math.max(...ends), mayBeEarlier: ends.length === 0 };
}

/**
 * The base subscription that gives the group: the one that ends last of those running and begun, else of those running,
 * else of all.
 */
function currentBase(bases: readonly EventSubscription[], now: WallTime): EventSubscription | undefined {
  const running = bases.filter((base) => isRunning(base, now));
  const begun = running.filter(({ start }) => start <= now);
  const candidates = [begun, running, bases].find((some) => some.length > 0) ?? [];
  return candidates.reduce<EventSubscription | undefined>(
    (last, each) => (last === undefined || each.end > last.end ? each : last),
    undefined,
  );
}

function groupOf(plan: string, { groups, defaultGroup }: Pick<RadiusRules, "groups" | "defaultGroup">) {
  return Object.hasOwn(groups, plan) ? groups[plan] : defaultGroup;
}

/** The groups that topupd adds users to and removes them from. */
export function managedGroups({ groups, defaultGroup }: Pick<RadiusRules, "groups" | "defaultGroup">): string[] {
  return [...new Set([...Object.values(groups), ...(defaultGroup === undefined ? [] : [defaultGroup])])];
}

/** A difference between the records and a user of FreeRADIUS. */
export interface RadiusDifference {
  readonly username: string;
  readonly kind: string;
  readonly found: readonly { readonly value: string }[];
  /** Undefined if there must be none. */
  readonly wanted: string | undefined;
}

/** One difference, in words. */
export function differenceText({ username, kind, found, wanted }: RadiusDifference): string {
  const had = found.length === 0 ? "nothing" : found.map(({ value }) => value).join(", ");
  return `${username}  ${kind}: ${had} -> ${wanted ?? "nothing"}`;
}
