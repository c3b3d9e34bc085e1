import { describe, expect, test } from "vitest";
import type { Connection } from "../../src/domain/customer.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { decideTakeBack } from "../../src/domain/take-back.ts";
import {
  ADD_ON,
  at,
  connectionWith,
  goodwill,
  labelOf,
  MONTHLY,
  months,
  reversal,
  takeBack,
  topUp,
  UTC,
} from "./builders.ts";
import { fileWith, ProviderWorld } from "./provider-world.ts";

const KEY = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;

interface Taken {
  readonly days: number;
  readonly when: string;
  readonly plan?: string;
  readonly isPruned?: boolean;
  readonly connection?: Partial<Connection>;
}

function take(ledgers: Readonly<Record<string, readonly Grant[]>>, { days, when, plan, isPruned, connection }: Taken) {
  const plans = Object.entries(ledgers).map(([each, grants]) => ({ plan: each, grants, isPruned: isPruned === true }));
  const subscriptions = plans.flatMap((each) => foldGrants(each.plan, each.grants, UTC) ?? []);
  const snapshot = { connection: connectionWith({ ...connection, subscriptions }), ledgers: plans };
  return decideTakeBack(snapshot, { ...KEY, days, plan }, at(when), UTC);
}

function takeFrom(grants: readonly Grant[], days: number, when: string) {
  return take({ [MONTHLY.plan]: grants }, { days, when });
}

const MISTAKE = [topUp("2026-01-01", MONTHLY, "a"), goodwill("2026-01-10", 365)];

describe("days given by mistake", () => {
  test("are taken back, and the trail tells what was before and after", () => {
    expect(takeFrom(MISTAKE, 362, "2026-01-11")).toMatchObject({
      kind: "taken_back",
      before: { end: at("2027-02-01") },
      after: { end: at("2026-02-04"), onTop: { months: 1, days: 3 }, grantedEnd: at("2026-02-04") },
      toppedUp: undefined,
      audited: { action: "subscription.take_back", after: { days: 362 } },
    });
  });

  test("that are all taken back leave no trace in the subscription", () => {
    const [paid] = MISTAKE as [Grant, Grant];
    const outcome = takeFrom(MISTAKE, 365, "2026-01-11");
    expect(outcome).toMatchObject({ kind: "taken_back", after: foldGrants(MONTHLY.plan, [paid], UTC) });
  });

  test("go in the order in which they were given, the last first", () => {
    const ledger = [
      topUp("2026-01-01"),
      goodwill("2026-01-02", 5),
      goodwill("2026-01-03", 3),
      takeBack("2026-01-04", 4),
    ];
    expect(foldGrants(MONTHLY.plan, ledger, UTC)?.end).toBe(at("2026-02-05"));
    expect(takeFrom(ledger, 4, "2026-01-05")).toMatchObject({ kind: "taken_back", after: { end: at("2026-02-01") } });
    expect(takeFrom(ledger, 5, "2026-01-05")).toMatchObject({ kind: "too_many", most: 4, limit: "given" });
  });

  test("are no more than were given in the run", () => {
    expect(takeFrom(MISTAKE, 366, "2026-01-11")).toMatchObject({ kind: "too_many", most: 365, limit: "given" });
    const lapsed = [goodwill("2026-01-01", 5), topUp("2026-02-01")];
    expect(takeFrom(lapsed, 1, "2026-02-02")).toMatchObject({ kind: "too_many", most: 0, limit: "given" });
  });

  test("are not taken back once they have begun", () => {
    expect(takeFrom(MISTAKE, 365, "2026-02-03T12:00:00Z")).toMatchObject({
      kind: "too_many",
      most: 362,
      limit: "over",
    });
    expect(takeFrom(MISTAKE, 362, "2026-02-03T12:00:00Z")).toMatchObject({ after: { end: at("2026-02-04") } });
    expect(takeFrom(MISTAKE, 1, "2028-01-01")).toMatchObject({ kind: "too_many", most: 0, limit: "over" });
    expect(takeFrom([goodwill("2026-01-10", 3)], 3, "2026-01-10T00:05:00Z")).toMatchObject({ most: 2, limit: "over" });
    // That it ends at this very moment is as early as it can.
    expect(takeFrom([goodwill("2026-01-10", 3)], 1, "2026-01-12")).toMatchObject({ after: { end: at("2026-01-12") } });
    expect(takeFrom([goodwill("2026-01-10", 3)], 1, "2026-01-12T00:00:00.001Z")).toMatchObject({ limit: "over" });
  });

  test("never reach what was paid for, also where they had bridged a gap before it", () => {
    const ledger = [topUp("2026-01-01", MONTHLY, "a"), goodwill("2026-01-30", 10), topUp("2026-02-05", MONTHLY, "b")];
    expect(takeFrom(ledger, 10, "2026-02-06")).toMatchObject({
      before: { end: at("2026-03-11") },
      after: { start: at("2026-02-05"), end: at("2026-03-05") },
    });
  });

  test("never reach what was paid for, where a month from another day is longer", () => {
    const ledger = [goodwill("2026-02-27", 10), topUp("2026-03-01T23:59:00Z", MONTHLY, "a")];
    const when = "2026-03-02";
    expect(takeFrom(ledger, 7, when)).toMatchObject({ kind: "too_many", most: 4, limit: "paid" });
    expect(takeFrom(ledger, 10, when)).toMatchObject({ after: { end: at("2026-04-01T23:59:00Z") } });
  });

  test("stay taken back when a top-up before them is reversed", () => {
    const ledger = [...MISTAKE, takeBack("2026-01-11", 362), reversal("2026-01-11", "a")];
    expect(foldGrants(MONTHLY.plan, ledger, UTC)).toMatchObject({ start: at("2026-01-10"), end: at("2026-01-13") });
  });

  test("make a connection inactive again that counted as topped up for them alone", () => {
    const stated: Grant = {
      ...{ kind: "statement", at: at("2026-01-01"), bouquet: labelOf(MONTHLY), start: at("2026-01-01") },
      ...{ span: months(1), onTop: { months: 0, days: 0 } },
    };
    const ledgers = { [MONTHLY.plan]: [stated, goodwill("2026-01-10", 5)] };
    const connection = { status: "inactive", toppedUp: true } as const;
    expect(take(ledgers, { days: 5, when: "2026-01-11", connection })).toMatchObject({ toppedUp: false });
    expect(take(ledgers, { days: 4, when: "2026-01-11", connection })).toMatchObject({ toppedUp: undefined });
    // What was let go may have been a top-up.
    const pruned = { days: 5, when: "2026-01-11", connection, isPruned: true };
    expect(take(ledgers, pruned)).toMatchObject({ kind: "taken_back", toppedUp: undefined });
  });

  test("are those of the only plan that has some, and otherwise it is asked which", () => {
    const base = topUp("2026-01-01");
    const addOn = [topUp("2026-01-02", ADD_ON), goodwill("2026-01-03", 5, ADD_ON)];
    expect(take({ [MONTHLY.plan]: [base], [ADD_ON.plan]: addOn }, { days: 5, when: "2026-01-04" })).toMatchObject({
      kind: "taken_back",
      plan: ADD_ON.plan,
    });
    const both = { [MONTHLY.plan]: [base, goodwill("2026-01-03", 5)], [ADD_ON.plan]: addOn };
    expect(take(both, { days: 5, when: "2026-01-04" })).toEqual({
      kind: "ambiguous",
      plans: [MONTHLY.plan, ADD_ON.plan],
    });
    expect(take(both, { days: 5, when: "2026-01-04", plan: ADD_ON.plan })).toMatchObject({ plan: ADD_ON.plan });
    expect(take(both, { days: 5, when: "2026-01-04", plan: "x" })).toMatchObject({ kind: "no_subscription" });
  });

  test("keep a day where they are all that tells of what was let go", () => {
    const ledger = { [MONTHLY.plan]: [goodwill("2026-01-01", 9), topUp("2026-01-02")] };
    const taken = { when: "2026-01-03", isPruned: true };
    expect(take(ledger, { ...taken, days: 9 })).toMatchObject({ kind: "too_many", most: 8, limit: "history_gone" });
    expect(take(ledger, { ...taken, days: 8 })).toMatchObject({ kind: "taken_back" });
  });

  test("are the records' to correct where these came with the days in them", () => {
    const carried: Grant = {
      ...{ kind: "statement", at: at("2026-01-01"), bouquet: labelOf(MONTHLY), start: at("2026-01-01") },
      ...{ span: months(1), onTop: { months: 0, days: 5 }, grantedEnd: at("2026-02-06") },
    };
    const outcome = takeFrom([carried], 5, "2026-01-11");
    expect(outcome).toMatchObject({ kind: "too_many", most: 0, limit: "in_records" });
  });

  test("are another topupd's to take back where they were given there", () => {
    const carried: Grant = {
      ...{ kind: "statement", at: at("2026-01-01"), bouquet: labelOf(MONTHLY), start: at("2026-01-01") },
      ...{ span: months(1), onTop: { months: 0, days: 5 }, grantedEnd: at("2026-02-06"), goodwillDays: 5 },
    };
    expect(takeFrom([carried], 5, "2026-01-11")).toMatchObject({ kind: "too_many", most: 0, limit: "elsewhere" });
    const both = takeFrom([carried, goodwill("2026-01-10", 3)], 5, "2026-01-11");
    expect(both).toMatchObject({ kind: "too_many", most: 3, limit: "elsewhere" });
  });
});

describe("an import after days were taken back", () => {
  const START = "2026-01-01";
  function mistaken() {
    const world = new ProviderWorld();
    world.import(fileWith(START, "2026-02-01"), START);
    world.goodwill("fiber1", at("2026-01-05"), 10);
    return world;
  }

  test.each(["unsaid", "included"] as const)("does not bring them back with last night's copy (%s)", (mode) => {
    for (const back of [10, 4]) {
      const world = mistaken();
      world.takeBack("fiber1", "2026-01-06", back);
      const end = world.endOf("fiber1");
      expect(end).toBe(back === 10 ? "2026-02-01" : "2026-02-07");
      world.import(fileWith(START, "2026-02-11"), "2026-01-07", mode);
      expect(world.endOf("fiber1")).toBe(end);
      world.import(fileWith(START, "2026-02-01"), "2026-01-08", mode);
      expect(world.endOf("fiber1")).toBe(end);
    }
  });

  test.each(["unsaid", "apart", "included"] as const)("takes records that shrank meanwhile (%s)", (mode) => {
    const world = new ProviderWorld();
    world.import(fileWith(START, "2026-02-01"), START, mode);
    world.goodwill("fiber1", at("2026-01-05"), 10);
    world.import(fileWith(START, "2026-01-25"), "2026-01-06", mode);
    expect(world.endOf("fiber1")).toBe("2026-02-11");
    world.takeBack("fiber1", "2026-01-07", 10);
    world.import(fileWith(START, "2026-01-25"), "2026-01-08", mode);
    expect(world.endOf("fiber1")).toBe("2026-01-25");
  });

  test.each(["unsaid", "apart", "included"] as const)("holds to the days that are left (%s)", (mode) => {
    const world = mistaken();
    world.import(fileWith(START, "2026-02-02"), "2026-01-06", mode);
    expect(world.endOf("fiber1")).toBe("2026-02-12");
    world.takeBack("fiber1", "2026-01-07", 7);
    expect(world.endOf("fiber1")).toBe("2026-02-05");
    world.import(fileWith(START, "2026-02-20"), "2026-01-08", mode);
    expect(world.endOf("fiber1")).toBe("2026-02-23");
  });
});
