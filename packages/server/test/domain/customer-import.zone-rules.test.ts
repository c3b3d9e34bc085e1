import { describe, expect, test } from "vitest";
import { changeCustomer } from "../../src/domain/customer-import.ts";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import { AS_WRITTEN } from "../../src/domain/mobile-number.ts";
import type { TopUpsInFile } from "../../src/domain/restatement.ts";
import { at, MONTHLY } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";
import { changedAt } from "./two-rules.ts";

/** The middle of the stretch in which the rules differ. */
const CHANGE = at("2026-07-11T12:00:00Z");
const BEFORE = at("2026-07-10T12:00:00Z");
const KEY = { service: "internet", reqId: "fiber1", plan: MONTHLY.plan } as const;
const MODES: readonly TopUpsInFile[] = ["apart", "included", "unsaid"];

/** From within the stretch to within it. */
const YEARLY = { ...MONTHLY, period: { months: 12, days: 0 } };

const worldOf = () => new ProviderWorld(changedAt(CHANGE));

/** A file as the provider writes it, by the clocks on its wall; read as it was known to be read at a time. */
function file({ calendar }: ProviderWorld, when: number, from: string, to: string): StatedCustomer {
  const known = calendar.asOf(when);
  const [start, end] = [from, to].map((day) => known.parse(`${day} 00:00:00`) as number) as [number, number];
  return statedCustomer([statedConnection({ subscriptions: [statedSubscription(start, end, MONTHLY, known)] })]);
}

/** Whether the run begins and ends where the rules differ, or only the one or the other. */
const RUNS = [
  ["2026-07-01", "2026-08-01"],
  ["2026-01-01", "2026-08-01"],
  ["2026-07-01", "2026-12-01"],
] as const;
/** Sold ahead: its start, too, is read by the new rules. */
const TO_COME = ["2026-08-01", "2026-12-01"] as const;

describe.each(MODES)("the night's file after a change of the zone's rules, with top-ups %s", (mode) => {
  test.each([...RUNS, TO_COME])("that says again from %s to %s tells nothing new", (from, to) => {
    const world = worldOf();
    world.import(file(world, BEFORE, from, to), BEFORE, mode);
    world.topUp("fiber1", BEFORE + 1);
    const stands = world.subscription("fiber1");
    for (const night of [CHANGE + 1, CHANGE + 2]) {
      const { entries, passedOver } = world.import(file(world, night, from, to), night, mode);
      expect({ entries, passedOver }).toEqual({ entries: [], passedOver: [] });
    }
    expect(world.subscription("fiber1")).toEqual(stands);
    expect(world.folded(KEY)).toEqual(stands);
  });

  test.each(RUNS)("that holds what was topped up from %s to %s is taken, or tells nothing new", (from, to) => {
    const world = worldOf();
    world.import(file(world, BEFORE, from, to), BEFORE, mode);
    world.topUp("fiber1", BEFORE + 1, YEARLY);
    const known = world.calendar.asOf(BEFORE);
    const told = known.format(world.subscription("fiber1")?.end as number).slice(0, 10);
    for (const night of [CHANGE + 1, CHANGE + 2]) {
      const { entries, passedOver } = world.import(file(world, night, from, told), night, mode);
      expect(passedOver).toEqual([]);
      if (mode === "unsaid" || night > CHANGE + 1) expect(entries).toEqual([]);
    }
    // Apart, it is news that the provider has sold as much beside the top-up.
    const months = mode === "apart" ? 12 : 0;
    const end = world.calendar.add(known.parse(`${told} 00:00:00`) as number, { months, days: 0, seconds: 0 });
    expect(world.calendar.format(world.subscription("fiber1")?.end as number).slice(0, 10)).toBe(
      world.calendar.format(end).slice(0, 10),
    );
    expect(world.folded(KEY)).toEqual(world.subscription("fiber1"));
  });
});

test("a run that was sold ahead, and topped up, takes a file that holds both once it has begun", () => {
  const world = worldOf();
  world.import(file(world, BEFORE, "2026-08-01", "2026-09-01"), BEFORE, "included");
  world.topUp("fiber1", BEFORE + 1, YEARLY);
  expect(world.subscription("fiber1")?.end).toBe(at("2027-09-01T04:00:00Z"));
  const night = at("2026-08-05");
  const held = world.import(file(world, night, "2026-08-01", "2027-09-01"), night, "included");
  expect(held.passedOver).toEqual([]);
  expect(world.calendar.format(world.subscription("fiber1")?.end as number)).toBe("2027-09-01 00:00:00");
  const short = world.import(file(world, night, "2026-08-01", "2027-08-31"), night, "included");
  expect(short.passedOver).toHaveLength(1);
});

test("a run that was sold ahead, and topped up after the change, takes a file that holds both, also where it ends in summer", () => {
  const world = worldOf();
  world.import(file(world, BEFORE, "2026-08-01", "2026-12-01"), BEFORE, "included");
  world.topUp("fiber1", CHANGE + 1, YEARLY);
  const night = at("2026-08-05");
  const held = world.import(file(world, night, "2026-08-01", "2027-12-01"), night, "included");
  expect(held.passedOver).toEqual([]);
  expect(world.calendar.format(world.subscription("fiber1")?.end as number)).toBe("2027-12-01 00:00:00");
  const short = world.import(file(world, night, "2026-08-01", "2027-11-30"), night, "included");
  expect(short.passedOver).toHaveLength(1);
});

test.each(["apart", "unsaid"] as const)(
  "what is left of a top-up from before the change has no day more for an hour (%s)",
  (mode) => {
    const world = worldOf();
    world.import(statedCustomer(), BEFORE, mode);
    world.topUp("fiber1", at("2026-07-01T04:00:00Z"), { ...MONTHLY, period: { months: 0, days: 40 } });
    const night = at("2026-08-05T03:00:10Z");
    world.import(file(world, night, "2026-08-05", "2026-09-05"), night, mode);
    expect(world.subscription("fiber1")?.onTop).toEqual({ months: 0, days: 5 });
    expect(world.calendar.format(world.subscription("fiber1")?.end as number)).toBe("2026-09-10 00:00:00");
  },
);

test("records that follow those from before the change to the day leave no gap", () => {
  const world = worldOf();
  world.import(file(world, BEFORE, "2026-07-01", "2026-07-31"), BEFORE, "apart");
  world.topUp("fiber1", BEFORE + 1, YEARLY);
  const night = at("2026-08-01T12:00:00Z");
  world.import(file(world, night, "2026-08-01", "2026-09-01"), night, "apart");
  expect(world.subscription("fiber1")?.onTop).toEqual(YEARLY.period);
});

describe("an hour that is no change of rules", () => {
  test("is news in a file still", () => {
    const world = worldOf();
    world.import(file(world, BEFORE, "2026-07-01", "2026-12-01"), BEFORE);
    const { entries } = world.import(fileWith(at("2026-07-01T05:00:00Z"), at("2026-12-01T03:00:00Z")), CHANGE + 1);
    expect(entries).toHaveLength(1);
  });

  test("is refused still, where a file would take it off a top-up", () => {
    const world = worldOf();
    world.import(file(world, BEFORE, "2026-07-01", "2026-11-01"), BEFORE, "included");
    world.topUp("fiber1", BEFORE + 1);
    // December has one offset by either rules.
    const short = fileWith(at("2026-07-01T04:00:00Z"), at("2026-12-01T02:00:00Z"));
    expect(world.import(short, CHANGE + 1, "included").passedOver).toHaveLength(1);
  });
});

/** What is stored beside a ledger may have been counted by a process whose Node.js had other rules than its neighbours'. */
test("an end that was counted by rules of another time is left where it is by an import, and another hour is not", () => {
  const world = worldOf();
  const stated = file(world, BEFORE, "2026-07-01", "2026-08-01");
  world.import(stated, BEFORE);
  const connection = world.connection("fiber1");
  if (world.customer === undefined || connection === undefined) throw new Error("nothing was imported");
  const [subscription] = connection.subscriptions as [(typeof connection.subscriptions)[number]];
  const restored = (moved: number) => {
    const subscriptions = [{ ...subscription, end: subscription.end + moved }];
    const stored = {
      ...{ customer: world.customer, mobileForm: undefined, connections: [{ ...connection, subscriptions }] },
      ledgers: [{ ...KEY, grants: world.ledger(KEY), isPruned: false }],
    };
    const again = file(world, CHANGE, "2026-07-01", "2026-08-01");
    return changeCustomer(stored, again, CHANGE, world.calendar, "unsaid", AS_WRITTEN).entries.length;
  };
  const HOUR = 3_600_000;
  expect([0, HOUR, -HOUR, 2 * HOUR, HOUR / 2].map(restored)).toEqual([0, 0, 0, 1, 1]);
});
