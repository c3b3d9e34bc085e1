import { describe, expect, test } from "vitest";
import {
  type ConnectionEvent,
  changedFrom,
  type EventSubscription,
  type Recorded,
  type Standing,
  standingOf,
} from "../../src/domain/event.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import {
  alters,
  isSameDatabase,
  managedGroups,
  type RadiusRules,
  radiusUser,
  radiusUserOf,
  readRadiusAddress,
  readRadiusConfig,
} from "../../src/domain/radius.ts";
import { deviceOf } from "../../src/domain/session-devices.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { asJson, wall } from "./builders.ts";

const NOW = Date.parse("2026-11-23T06:00:00Z");

const RULES: RadiusRules = {
  groups: { FBR60: "60M", FBR100: "100M" },
  defaultGroup: undefined,
  zone: createZone("Asia/Kathmandu"),
};

function base(end: string, { plan = "FBR60", start = "2026-01-01", addOn = false } = {}): EventSubscription {
  const run = { start: wall(start), end: wall(end), goodwillDays: 0 };
  return { plan, bouquetId: `${plan}-1M`, name: `${plan} (MONTHLY)`, addOn, ...run };
}

function userWith(subscriptions: readonly EventSubscription[], rules: Partial<RadiusRules> = {}) {
  return radiusUser({ username: "fiber1", hadAny: true, blocked: false, subscriptions }, NOW, { ...RULES, ...rules });
}

function eventOfKind(
  kind: ConnectionEvent["kind"],
  subscriptions: readonly EventSubscription[] = [],
): Recorded<ConnectionEvent> {
  const key = { environment: "production", cuid: "1", service: "internet", reqId: "fiber1" } as const;
  return { seq: 1, kind, at: NOW, key, state: { blocked: false, subscriptions }, topUp: undefined, partner: undefined };
}

describe("a user of RADIUS", () => {
  test("ends with the last base subscription", () => {
    const subscriptions = [base("2026-12-01 05:45:00"), base("2026-11-25"), base("2027-01-01", { addOn: true })];
    expect(userWith(subscriptions).expiration).toEqual({ end: Date.parse("2026-12-01T00:00Z"), mayBeEarlier: false });
  });

  test("ends at the first instant after a time that the provider's clocks skip", () => {
    const zone = createZone("Europe/Berlin");
    const { expiration } = userWith([base("2027-03-28 02:30:00")], { zone });
    expect(expiration).toMatchObject({ end: Date.parse("2027-03-28T01:00Z") });
  });

  test.each([
    ["of what runs, the last to end", [base("2026-12-01"), base("2026-12-02", { plan: "FBR100" })], "100M"],
    [
      "of what has begun, though another ends later",
      [base("2026-12-01"), base("2027-12-01", { plan: "FBR100", start: "2026-12-01" })],
      "60M",
    ],
    ["of what ended last, where none runs", [base("2026-10-01"), base("2026-10-02", { plan: "FBR100" })], "100M"],
    ["of no add-on", [base("2026-12-01"), base("2027-12-02", { plan: "FBR100", addOn: true })], "60M"],
    ["that it has, where the plan has none", [base("2026-12-01", { plan: "toString" })], undefined],
  ])("is in the group %s", (_, subscriptions, group) => {
    expect(userWith(subscriptions).group).toBe(group);
  });

  test("is in the default group where the plan has none", () => {
    expect(userWith([base("2026-12-01", { plan: "FBR300" })], { defaultGroup: "slow" }).group).toBe("slow");
  });

  test("ends with the event that leaves no base subscription", () => {
    const ended = { end: NOW, mayBeEarlier: true };
    for (const kind of ["topup.reversed", "subscription.changed"] as const)
      expect(radiusUserOf(eventOfKind(kind), RULES)).toMatchObject({ expiration: ended, group: undefined });
    const addOn = [base("2026-12-01", { addOn: true })];
    expect(radiusUserOf(eventOfKind("connection.blocked", addOn), RULES).expiration).toEqual(ended);
  });

  test("keeps its end when a connection is blocked that may never have had a subscription", () => {
    for (const kind of ["connection.blocked", "connection.unblocked"] as const)
      expect(radiusUserOf(eventOfKind(kind), RULES).expiration).toBeUndefined();
  });
});

describe("a plan that has not begun gives no service", () => {
  const garden = { defaultGroup: "slow", expiredGroup: "garden" };
  const now = { end: NOW, mayBeEarlier: true };
  const at = (iso: string) => ({ end: Date.parse(iso), mayBeEarlier: false });
  const later = base("2027-03-01", { plan: "FBR100", start: "2027-02-01" });
  const past = base("2026-11-20");

  const GARDEN = { expiration: "none", group: "garden" };
  const inGap = { expiration: at("2026-11-19T18:15Z"), group: "60M" };
  const toGap = { expiration: at("2027-01-19T18:15Z"), group: "60M" };
  const beyond = { expiration: at("2027-02-28T18:15Z"), group: "60M" };
  const begun = { expiration: at("2027-02-28T18:15Z"), group: "100M" };
  const next = base("2027-02-10", { start: "2027-02-05" });
  test.each([
    ["before any", [later], GARDEN, { expiration: now, group: "100M" }],
    ["in a gap", [past, later], GARDEN, inGap],
    ["while another gives it, up to the gap", [base("2027-01-20"), later], toGap, toGap],
    ["while another gives it, and beyond without a gap", [base("2027-01-31 23:59:59"), later, next], beyond, beyond],
    ["from its start", [base("2027-03-01", { plan: "FBR100", start: "2026-11-23 11:45:00" })], begun, begun],
  ])("%s", (_, subscriptions, inGarden, without) => {
    expect(userWith(subscriptions, garden)).toMatchObject(inGarden);
    expect(userWith(subscriptions)).toMatchObject(without);
  });

  test("so its start ends sessions, unless a plan of the same group ends there", () => {
    const starts = (...subscriptions: readonly EventSubscription[]) => {
      const event = eventOfKind("subscription.changed", subscriptions);
      const [before, start] = ["2026-11-23 11:44:58", "2026-11-23 11:45:00"];
      return alters(changedFrom(standingOf(event.state, before), event, start), RULES);
    };
    const begins = (plan: string) => base("2027-03-01", { plan, start: "2026-11-23 11:45:00" });
    expect(starts(begins("FBR60"))).toBe(true);
    expect(starts(base("2026-11-23 11:40:00"), begins("FBR60"))).toBe(true);
    const until = (end: string) => base(end, { plan: "FBR60" });
    for (const end of ["2026-11-23 11:44:59", "2026-11-23 11:45:00"])
      expect(starts(until(end), begins("FBR60"))).toBe(false);
    expect(starts(until("2026-11-23 11:45:00"), begins("FBR100"))).toBe(true);
  });
});

test("the groups that users are taken out of are those of the configuration, each once", () => {
  expect(managedGroups({ groups: { A: "60M", B: "60M" }, defaultGroup: "slow" })).toEqual(["60M", "slow"]);
});

const FILE = {
  database: "postgres://radius:secret@radius.example.net:5432/radius",
  timeZone: "Asia/Kathmandu",
  groups: { FBR60: "60M", "Fiber 100": "100M" },
};

function problemsOf(file: JsonValue): string[] {
  const reading = readRadiusConfig(file, "internet");
  return reading.ok ? [] : reading.problems.map(({ field, problem }) => `${field} ${problem}`);
}

describe("what a user may do", () => {
  const NET = { served: true, blocked: false, plan: "FBR60" };
  const altered = (was: Partial<Standing>, end: string, rules: Partial<RadiusRules> = {}) => {
    const event = eventOfKind("topup.recorded", [base(end)]);
    return alters({ ...event, state: { ...event.state, was: { ...NET, ...was } } }, { ...RULES, ...rules });
  };
  const garden = { defaultGroup: "slow", expiredGroup: "garden" };

  test.each([
    ["by a block", { blocked: true }, "2026-12-01", {}, true],
    ["by its beginning", { served: false }, "2026-12-01", {}, true],
    ["by its end", {}, "2026-11-01", {}, true],
    ["by another group", { plan: "FBR100" }, "2026-12-01", {}, true],
    ["by the first group", { plan: undefined }, "2026-12-01", {}, true],
    [
      "not by a plan of the same group",
      { plan: "FBR90" },
      "2026-12-01",
      { groups: { FBR60: "60M", FBR90: "60M" } },
      false,
    ],
    ["not by another plan in the garden", { served: false, plan: "FBR100" }, "2026-11-01", garden, false],
  ] as const)("is altered %s", (_, was, end, rules, expected) => {
    expect(altered(was, end, rules)).toBe(expected);
  });

  test("is not altered where nothing was", () => {
    expect(alters(eventOfKind("topup.recorded", [base("2026-12-01")]), RULES)).toBe(false);
  });

  test("in the garden has no end, and the group of the garden", () => {
    const none = { expiration: "none", group: "garden" };
    expect(userWith([base("2026-11-01")], garden)).toMatchObject(none);
    expect(userWith([base("2027-01-01", { addOn: true })], garden)).toMatchObject(none);
    expect(userWith([base("2026-12-01")], garden)).toMatchObject({ expiration: { mayBeEarlier: false }, group: "60M" });
    expect(radiusUserOf(eventOfKind("connection.blocked"), { ...RULES, ...garden }).group).toBeUndefined();
    expect(managedGroups({ groups: {}, ...garden })).toEqual(["slow", "garden"]);
  });
});

const DEVICE = { secret: "hush", port: 3799, identify: ["User-Name", "Acct-Session-Id", "Framed-IP-Address"] };

test("the devices of a file are read, and found by a session's address", () => {
  const given = { secret: "hush", port: 1700, address: "2001:0DB8::1" };
  const sessions = { devices: { "10.0.0.1": given, "10.0.0.0/8": { secret: "hush" } } };
  const read = readRadiusConfig(asJson({ ...FILE, sessions }), "internet");
  const config = read.ok ? read.value.sessions : undefined;
  const all = { ...DEVICE, address: undefined, attributes: {}, timestamp: false };
  expect(config).toEqual({
    waitSeconds: 0,
    devices: { "10.0.0.1": { ...all, ...given, address: "2001:db8::1" }, "10.0.0.0/8": all },
  });
  const portAt = (address: string) => config && deviceOf(config, address)?.port;
  expect(["10.0.0.1", "10.0.0.2", "11.0.0.1"].map(portAt)).toEqual([1700, 3799, undefined]);
});

test("a file of RADIUS is read", () => {
  const value = { kind: "radius", ...FILE, defaultGroup: undefined, service: "internet" };
  expect(readRadiusConfig(asJson(FILE), "internet")).toEqual({ ok: true, value });
  const more = { database: "mariadb://root@10.0.0.1/radius", defaultGroup: "slow" };
  expect(readRadiusConfig(asJson({ ...FILE, ...more }), "iptv")).toMatchObject({ value: { ...more, service: "iptv" } });
});

test("a database's URL gives host, port, user, password, database and TLS", () => {
  expect(readRadiusAddress("postgres://r%40d:p%3Fw@db.example.net:6432/radius?sslmode=verify-full")).toEqual({
    ...{ engine: "postgres", host: "db.example.net", port: 6432, user: "r@d", password: "p?w" },
    ...{ database: "radius", tls: "verify-full" },
  });
  const plain = { engine: "mysql", port: 3306, user: "r", password: "", database: "radius", tls: "disable" };
  expect(readRadiusAddress("mariadb://r@[::1]/radius")).toEqual({ ...plain, host: "::1" });
  expect(readRadiusAddress("mysql://r@10.0.0.1/radius?sslmode=no-verify")).toMatchObject({ tls: "no-verify" });
});

test.each(["postgres", "mysql"])("a %s URL has no option of a driver but sslmode", (scheme) => {
  for (const options of [
    ...["options=-c%20search_path%3Dother", "host=10.0.0.2", "sslcert=/etc/passwd", "flags=LOCAL_FILES"],
    ...["multipleStatements=true", "sslmode=prefer", "sslmode=disable&sslmode=disable", "ssl=true", "sslmode"],
  ])
    expect(readRadiusAddress(`${scheme}://r:secret@10.0.0.1/radius?${options}`), options).toBe(
      "can have no option but sslmode=verify-full, no-verify or disable",
    );
});

test.each([
  [{ database: "sqlite:./radius.db" }, /^database must be postgres:\/\/ or mysql:\/\//],
  [{ database: "mysql://root:secret@10.0.0.1" }, /^database must be/],
  [{ timeZone: "+05:45" }, /^timeZone must be an IANA time zone/],
  [{ groups: { FBR60: 60 } }, /^groups\.FBR60 must be a string$/],
  [{ groups: { FBR60: "" } }, /^groups\.FBR60 must not be empty$/],
  [{ groups: ["60M"] }, /^groups must be an object$/],
  [{ groups: undefined }, /^groups is required$/],
  [{ expiredGroup: "garden" }, /^expiredGroup needs defaultGroup/],
  [{ sessions: {} }, /^sessions\.devices is required$/],
  [{ sessions: { devices: {}, waitSeconds: -1 } }, /^sessions\.waitSeconds must be a whole number from 0 to 3600$/],
  [
    { sessions: { devices: { nas: { secret: "secret" } } } },
    /^sessions\.devices\.nas must be an IP address, or a range/,
  ],
  [{ sessions: { devices: { "10.0.0.1": { secret: "secret", port: "1700" } } } }, /port must be a whole number/],
  [{ sessions: { devices: { "10.0.0.1": { secret: "secret", address: "nas.example" } } } }, /must be an IP address$/],
  [
    { sessions: { devices: { "10.0.0.1": { secret: "secret", identify: ["Class"] } } } },
    /must have names of User-Name/,
  ],
  [{ defaultGroup: 7 }, /^defaultGroup must be a string$/],
  [{ database: "mysql://r:secret%@10.0.0.1/radius" }, /^database must be/],
  [{ database: "mysql://r:secret@10.0.0.1/radius?debug=true" }, /^database can have no option but sslmode=/],
  [{ services: ["internet", "iptv"] }, /^services is not a known field$/],
  [{ table: "radcheck" }, /^table is not a known field$/],
])("a file with %j is refused in words, which never tell the password", (change, words) => {
  const problems = problemsOf(asJson({ ...FILE, ...change }));
  expect(problems).toEqual([expect.stringMatching(words)]);
  expect(problems.join()).not.toContain("secret");
});

test("what is no object is refused", () => {
  expect(problemsOf([])).toEqual(["the file must be a JSON object"]);
});

test.each([
  ["postgresql://iptv:pass@DB.example.net:5432/radius?sslmode=no-verify", true],
  ["postgres://r@db.example.net/iptv", false],
  ["postgres://r@db.example.net:6432/radius", false],
  ["mysql://r@db.example.net/radius", false],
])("postgres://r@db.example.net/radius and %s: the same database: %s", (other, expected) => {
  expect(isSameDatabase("postgres://r@db.example.net/radius", other)).toBe(expected);
});
