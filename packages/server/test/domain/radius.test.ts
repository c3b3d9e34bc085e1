import { describe, expect, test } from "vitest";
import type { EventKind, EventSubscription, RecordedEvent } from "../../src/domain/event.ts";
import {
  managedGroups,
  type RadiusRow,
  type RadiusRules,
  type RadiusUser,
  radiusDifferences,
  radiusUser,
  radiusUserOf,
} from "../../src/domain/radius.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { wall } from "./builders.ts";

const NOW = Date.parse("2026-11-23T06:00:00Z");
const UTC = createZone("UTC");

const RULES: RadiusRules = {
  groups: { FBR60: "60M", FBR100: "100M" },
  defaultGroup: undefined,
  zone: createZone("Asia/Kathmandu"),
  radiusZone: UTC,
};

function base(end: string, { plan = "FBR60", start = "2026-01-01", addOn = false } = {}): EventSubscription {
  const run = { start: wall(start), end: wall(end), goodwillDays: 0 };
  return { plan, bouquetId: `${plan}-1M`, name: `${plan} (MONTHLY)`, addOn, ...run };
}

function userWith(subscriptions: readonly EventSubscription[], rules: Partial<RadiusRules> = {}): RadiusUser {
  return radiusUser({ username: "fiber1", hadAny: true, blocked: false, subscriptions }, NOW, { ...RULES, ...rules });
}

function eventOfKind(kind: EventKind, subscriptions: readonly EventSubscription[] = []): RecordedEvent {
  const key = { environment: "production", cuid: "1", service: "internet", reqId: "fiber1" } as const;
  return { seq: 1, kind, at: NOW, key, state: { blocked: false, subscriptions }, topUp: undefined, partner: undefined };
}

describe("a user of RADIUS", () => {
  test("ends with the last base subscription, by the RADIUS server's clock", () => {
    const subscriptions = [base("2026-12-01 05:45:00"), base("2026-11-25"), base("2027-01-01", { addOn: true })];
    expect(userWith(subscriptions).expiration).toEqual({ end: "2026-12-01 00:00:00", mayBeEarlier: false });
  });

  test("ends at the first instant after a time that the provider's clocks skip", () => {
    const zone = createZone("Europe/Berlin");
    expect(userWith([base("2027-03-28 02:30:00")], { zone }).expiration?.end).toBe("2027-03-28 01:00:00");
  });

  test("ends at the latest when FreeRADIUS's seconds do", () => {
    for (const end of ["2106-02-08", "9999-12-31 23:59:59"])
      expect(userWith([base(end)]).expiration?.end).toBe("2106-02-07 06:28:15");
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
    const ended = { end: "2026-11-23 06:00:00", mayBeEarlier: true };
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

describe("the rows of a user", () => {
  const user: RadiusUser = {
    ...{ username: "fiber1", blocked: false, group: "60M" },
    expiration: { end: "2026-12-03 14:03:00", mayBeEarlier: false },
  };
  const EXPIRATION: RadiusRow = { id: 3, kind: "Expiration", value: "03 Dec 2026 14:03:00" };
  const GROUP: RadiusRow = { id: undefined, kind: "group", value: "60M" };

  test("are left where they are as they are to be", () => {
    expect(radiusDifferences(user, [EXPIRATION, GROUP])).toEqual([]);
  });

  test("are added where there are none", () => {
    expect(radiusDifferences({ ...user, blocked: true }, [])).toMatchObject([
      { kind: "Expiration", wanted: "03 Dec 2026 14:03:00", kept: undefined },
      { kind: "Auth-Type", wanted: "Reject", kept: undefined },
      { kind: "group", wanted: "60M", kept: undefined },
    ]);
  });

  test("are one of each kind, always the oldest", () => {
    const old = { ...EXPIRATION, id: 2, value: "1 Dec 2026" };
    for (const found of [[old], [old, EXPIRATION], [EXPIRATION, EXPIRATION]])
      expect(radiusDifferences(user, [...found, GROUP])).toEqual([
        { username: "fiber1", kind: "Expiration", found, wanted: "03 Dec 2026 14:03:00", kept: found[0] },
      ]);
  });

  test("reject nobody who is not blocked", () => {
    const reject: RadiusRow = { id: 4, kind: "Auth-Type", value: "Reject" };
    expect(radiusDifferences(user, [EXPIRATION, reject, GROUP])).toMatchObject([
      { kind: "Auth-Type", found: [reject], wanted: undefined, kept: undefined },
    ]);
  });

  test("keep an earlier end of a user who is to end now", () => {
    const ended = { ...user, expiration: { end: "2026-12-03 14:03:01", mayBeEarlier: true } };
    expect(radiusDifferences(ended, [EXPIRATION, GROUP])).toEqual([]);
    for (const value of ["03 Dec 2026 14:03:02", "1 Jan 2027", "00 Foo 2026 14:03:00"])
      expect(radiusDifferences(ended, [{ ...EXPIRATION, value }, GROUP])).toMatchObject([
        { wanted: "03 Dec 2026 14:03:01" },
      ]);
  });
});

test("the groups that users are taken out of are those of the configuration, each once", () => {
  expect(managedGroups({ groups: { A: "60M", B: "60M" }, defaultGroup: "slow" })).toEqual(["60M", "slow"]);
});
