import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import type { ImportMode } from "../../src/domain/customer-import.ts";
import { at, DAY_MS, MONTHLY, QUARTERLY, RUNS } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer } from "./provider-world.ts";

const YEARLY: Bouquet = { ...MONTHLY, code: "NET-1Y", name: "Fiber 100 (YEARLY)", period: { months: 12, days: 0 } };
const WEEKLY: Bouquet = { ...MONTHLY, code: "NET-7D", name: "Fiber 100 (WEEKLY)", period: { months: 0, days: 7 } };

const FIBER = { service: "internet", reqId: "fiber1", plan: MONTHLY.plan } as const;
const MONTH = { months: 1, days: 0, seconds: 0 };

/** A connection without anything. */
function emptyWorld(): ProviderWorld {
  const world = new ProviderWorld();
  world.import(statedCustomer([statedConnection()]), "2026-01-01");
  return world;
}

describe.each(["apart", "unsaid"] as const)("a month that the provider sells (%s)", (mode) => {
  test("has of a year that was topped up no more on top than is left of it", () => {
    const world = emptyWorld();
    world.topUp("fiber1", "2026-01-01", YEARLY);
    world.import(fileWith("2026-12-02", "2027-01-02"), "2026-12-02", mode);
    expect(world.endOf("fiber1")).toBe("2027-02-01");
    world.import(fileWith("2027-12-20", "2028-01-20"), "2027-12-20", mode);
    expect(world.endOf("fiber1")).toBe("2028-01-20");
  });

  test("has of months on which the customer lived, after the provider's own had ended, what is left of them", () => {
    const world = emptyWorld();
    world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", mode);
    for (let count = 0; count < 6; count += 1) world.topUp("fiber1", "2026-01-15");
    world.import(fileWith("2026-07-20", "2026-08-20"), "2026-07-20", mode);
    expect(world.endOf("fiber1")).toBe("2026-09-01");
  });

  test("has all of a top-up on top where it follows the month before, to the day or to the second before", () => {
    for (const from of ["2026-02-01", "2026-02-01T00:00:01Z", "2026-02-01T23:59:59Z"]) {
      const world = emptyWorld();
      world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", mode);
      world.topUp("fiber1", "2026-01-10", QUARTERLY);
      world.import(fileWith(from, "2026-03-02"), "2026-02-02", mode);
      expect(world.endOf("fiber1")).toBe("2026-06-02");
    }
  });

  test("leaves what was never made when a top-up is reversed that was used up", () => {
    const [world, without] = [emptyWorld(), emptyWorld()];
    for (const each of [world, without]) each.topUp("fiber1", "2026-01-01");
    world.topUp("fiber1", "2026-01-20");
    for (const each of [world, without]) each.import(fileWith("2026-02-09", "2026-03-09"), "2026-02-10", mode);
    world.reverse(FIBER, at("2026-02-11"), 1);
    expect([world.endOf("fiber1"), without.endOf("fiber1")]).toEqual(["2026-03-09", "2026-03-09"]);
  });
});

describe("records that are corrected", () => {
  test("give back what a word that was stated by mistake had counted as used up", () => {
    for (const [bouquet, wrong, right, end] of [
      [YEARLY, ["2026-06-01", "2026-07-01"], ["2026-01-01", "2026-07-01"], "2027-07-01"],
      [QUARTERLY, ["2026-02-20", "2026-03-20"], ["2026-02-01", "2026-03-20"], "2026-06-20"],
    ] as const) {
      const world = emptyWorld();
      world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "apart");
      world.topUp("fiber1", "2026-01-10", bouquet);
      world.import(fileWith(wrong[0], wrong[1]), wrong[0], "apart");
      world.import(fileWith(right[0], right[1]), "2026-06-02", "apart");
      expect(world.endOf("fiber1")).toBe(end);
    }
  });

  test("are not measured by a run that was over before both", () => {
    const world = emptyWorld();
    world.topUp("fiber1", "2026-01-01");
    world.import(fileWith("2026-03-01", "2026-04-01"), "2026-03-01", "apart");
    world.topUp("fiber1", "2026-03-05");
    world.import(fileWith("2026-02-20", "2026-04-01"), "2026-03-06", "apart");
    expect(world.endOf("fiber1")).toBe("2026-05-02");
  });

  test("keep what was topped up since the mistake", () => {
    const world = emptyWorld();
    world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "apart");
    world.topUp("fiber1", "2026-01-10", QUARTERLY);
    world.import(fileWith("2026-02-20", "2026-03-20"), "2026-02-20", "apart");
    world.topUp("fiber1", "2026-02-21");
    world.import(fileWith("2026-02-01", "2026-03-20"), "2026-02-22", "apart");
    expect(world.endOf("fiber1")).toBe("2026-07-20");
  });
});

test("records that end with a day, and begin again with the next, have no gap, also where clocks are changed", () => {
  const world = emptyWorld();
  world.import(fileWith("2026-01-01", "2026-01-31"), "2026-01-02", "apart");
  world.topUp("fiber1", "2026-01-10", QUARTERLY);
  world.import(fileWith("2026-02-01", "2026-03-01"), "2026-02-01", "apart");
  expect(world.endOf("fiber1")).toBe("2026-06-01");
  const berlin = new ProviderWorld(createCalendar("Europe/Berlin"));
  berlin.import(fileWith("2026-09-25T00:00:00+02:00", "2026-10-25T00:00:00+02:00"), "2026-09-25T12:00:00Z", "apart");
  berlin.topUp("fiber1", "2026-10-01T00:00:00Z", QUARTERLY);
  berlin.import(fileWith("2026-10-26T00:00:00+01:00", "2026-11-26T00:00:00+01:00"), "2026-10-26T12:00:00Z", "apart");
  expect(berlin.endOf("fiber1")).toBe("2027-02-26");
});

test("what is left of goodwill stays days, which later records keep and staff can take back", () => {
  const world = emptyWorld();
  world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "included");
  world.goodwill("fiber1", at("2026-01-10"), 60);
  world.import(fileWith("2026-02-05", "2026-03-05"), "2026-02-05", "included");
  expect(world.subscription("fiber1")?.onTop).toEqual({ months: 0, days: 56 });
  world.import(fileWith("2026-02-05", "2026-04-05"), "2026-02-06", "included");
  expect(world.endOf("fiber1")).toBe("2026-05-31");
  expect(world.takeBack("fiber1", "2026-02-07", 56).kind).toBe("taken_back");
});

test("goodwill that was used up does not come back with the next records that hold the top-ups", () => {
  const world = emptyWorld();
  world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "included");
  world.goodwill("fiber1", at("2026-01-10"), 10);
  world.import(fileWith("2026-02-05", "2026-03-05"), "2026-02-05", "included");
  expect(world.endOf("fiber1")).toBe("2026-03-11");
});

describe("goodwill beside a top-up that the records hold", () => {
  test("is not used up while the top-up lasts, also where a record begins after it", () => {
    for (const isBooked of [true, false]) {
      const world = emptyWorld();
      world.topUp("fiber1", "2026-01-01");
      world.goodwill("fiber1", at("2026-01-10"), 14);
      if (isBooked) world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-11", "included");
      world.import(fileWith("2026-02-01", "2026-03-01"), "2026-02-01", "included");
      expect(world.endOf("fiber1")).toBe("2026-03-15");
    }
  });

  test("stays where that is reversed", () => {
    const world = emptyWorld();
    world.goodwill("fiber1", at("2026-01-01"), 10);
    world.topUp("fiber1", "2026-01-01", WEEKLY);
    world.import(fileWith("2026-01-01", "2026-01-08"), "2026-01-02", "included");
    world.reverse(FIBER, at("2026-01-03"), 0);
    expect(world.subscription("fiber1")?.onTop).toEqual({ months: 0, days: 10 });
  });
});

describe("a reversal", () => {
  test("of a top-up that a correction had given back takes all of it", () => {
    for (const mode of ["apart", "unsaid"] as const) {
      const world = emptyWorld();
      for (let count = 0; count < 2; count += 1) world.topUp("fiber1", "2026-01-01");
      world.import(fileWith("2026-01-20", "2026-02-20"), "2026-01-20", mode);
      world.import(fileWith("2026-01-01", "2026-02-20"), "2026-01-21", mode);
      expect(world.endOf("fiber1")).toBe("2026-04-20");
      world.reverse(FIBER, at("2026-01-22"), 0);
      expect(world.endOf("fiber1")).toBe("2026-03-20");
      world.reverse(FIBER, at("2026-01-22"), 0);
      expect(world.endOf("fiber1")).toBe("2026-02-20");
    }
  });

  test("does not come back with the next correction", () => {
    const world = emptyWorld();
    world.topUp("fiber1", "2026-01-01");
    world.import(fileWith("2026-01-10", "2026-02-10"), "2026-01-10", "apart");
    world.topUp("fiber1", "2026-01-11", QUARTERLY);
    world.reverse(FIBER, at("2026-01-12"), 1);
    world.import(fileWith("2026-01-01", "2026-02-10"), "2026-01-13", "apart");
    expect(world.endOf("fiber1")).toBe("2026-03-10");
  });

  test("lays nothing on top of records that held all of it", () => {
    const world = emptyWorld();
    world.topUp("fiber1", "2026-01-01", QUARTERLY);
    world.topUp("fiber1", "2026-04-03", WEEKLY);
    world.import(fileWith("2026-01-01", "2026-04-10"), "2026-04-04", "included");
    world.reverse(FIBER, at("2026-04-05"), 1);
    expect(world.endOf("fiber1")).toBe("2026-04-10");
    world.import(fileWith("2026-01-01", "2026-04-03"), "2026-04-06", "included");
    expect(world.endOf("fiber1")).toBe("2026-04-03");
  });
});

test("what a reversal leaves is what the ledger would come to without the top-up, whatever the provider sold meanwhile", () => {
  type Step = {
    readonly afterDays: number;
    readonly sells: boolean;
    readonly bouquet: Bouquet;
    readonly goes: boolean;
  };
  const anyStep = fc.record({
    afterDays: fc.integer({ min: 0, max: 50 }),
    sells: fc.boolean(),
    bouquet: fc.constantFrom(MONTHLY, QUARTERLY),
    goes: fc.boolean(),
  });
  const play = (steps: readonly Step[], makesAll: boolean, mode: ImportMode) => {
    const world = emptyWorld();
    let now = at("2026-01-01");
    let topUps = 0;
    const gone: number[] = [];
    for (const { afterDays, sells, bouquet, goes } of steps) {
      now += afterDays * DAY_MS;
      if (sells) {
        const start = new Date(now).toISOString();
        world.import(fileWith(start, new Date(world.calendar.add(now, MONTH)).toISOString()), start, mode);
      } else if (makesAll || !goes) {
        world.topUp("fiber1", now, bouquet);
        if (goes) gone.unshift(topUps);
        topUps += 1;
      }
    }
    // The last first: which one is meant counts those that stand.
    for (const which of gone) world.reverse(FIBER, now + 1000, which);
    return world.endOf("fiber1");
  };
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 12 }), (steps) => {
      expect(play(steps, true, "apart")).toBe(play(steps, false, "apart"));
    }),
    RUNS,
  );
});
