import type { Service } from "./bouquet.ts";
import { type ConnectionEvent, type EventState, type EventSubscription, type Standing, standingOf } from "./event.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import { readSessions } from "./session-devices.ts";
import { hasBegun } from "./subscription.ts";
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

/** Reads the file of a `radius` target: `{"database", "timeZone", "groups"}`, and more as RadiusConfig has it. */
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
  const expiredGroup = fields.optionalText("expiredGroup", GROUP);
  if (expiredGroup !== undefined && defaultGroup === undefined)
    fields.problem("expiredGroup", "needs defaultGroup, so that a payment changes the group back");
  const sessions = readSessions(fields, file["sessions"]);
  fields.refuseOthers();

  const address = database === "" ? undefined : readRadiusAddress(database);
  if (typeof address === "string") fields.problem("database", address);
  if (timeZone !== "" && !isTimeZone(timeZone))
    fields.problem("timeZone", "must be an IANA time zone such as Asia/Kathmandu");
  for (const plan of plans)
    if (plan.length > NAME_MAX_LENGTH)
      fields.problem("groups", `must have plans of at most ${NAME_MAX_LENGTH} characters`);
  const inGroups = { groups: groups ?? {}, defaultGroup, ...(expiredGroup !== undefined && { expiredGroup }) };
  return fields.finish({ kind: "radius", database, service, timeZone, ...inGroups, ...(sessions && { sessions }) });
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

type Groups = Pick<RadiusConfig, "groups" | "defaultGroup" | "expiredGroup">;
export type RadiusRules = Groups & {
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
  const standing = standingOf(connection, rules.zone.wallTime(now));
  const isInGarden = hadAny && !standing.served && rules.expiredGroup !== undefined;
  const bases = subscriptions.filter(({ addOn }) => !addOn);
  const expiration = isInGarden ? ("none" as const) : expirationOf(bases, now, rules.zone);
  return {
    username,
    rejected: blocked,
    expiration: hadAny ? expiration : undefined,
    group: hadAny ? groupOf(standing, rules) : undefined,
  };
}

/** Whether an event changed what the user may do. A plain extension does not. */
export function alters({ at, state }: ConnectionEvent, rules: RadiusRules): boolean {
  const { was } = state;
  if (was === undefined) return false;
  const { blocked, served, plan } = standingOf(state, rules.zone.wallTime(at));
  const isSameGroup = groupOf(was, rules) === groupOf({ served, plan }, rules);
  return was.blocked !== blocked || was.served !== served || !isSameGroup;
}

/**
 * The end of the unbroken service of base subscriptions, which is past in a gap before the next one; if none has begun, the
 * user ends now, or stays ended.
 */
function expirationOf(bases: readonly EventSubscription[], now: Instant, zone: Zone) {
  const wall = zone.wallTime(now);
  let end: WallTime | undefined;
  for (const base of bases.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const until = end === undefined || end < wall ? wall : end;
    if (hasBegun(base, until) && (end === undefined || base.end > end)) end = base.end;
  }
  if (end === undefined) return { end: now, mayBeEarlier: true };
  return { end: instantOf(end, zone) ?? Infinity, mayBeEarlier: false };
}

/** Undefined if the user keeps the present group. */
function groupOf({ served, plan }: Pick<Standing, "served" | "plan">, rules: Groups) {
  const { groups, defaultGroup, expiredGroup } = rules;
  if (!served && expiredGroup !== undefined) return expiredGroup;
  return plan === undefined ? undefined : Object.hasOwn(groups, plan) ? groups[plan] : defaultGroup;
}

/** The groups that topupd adds users to and removes them from. */
export function managedGroups({ groups, defaultGroup, expiredGroup }: Groups): string[] {
  const others = [defaultGroup, expiredGroup].filter((group) => group !== undefined);
  return [...new Set([...Object.values(groups), ...others])];
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
