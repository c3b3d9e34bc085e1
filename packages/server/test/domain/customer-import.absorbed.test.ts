import { describe, expect, test } from "vitest";
import { NO_PERIOD } from "../../src/domain/period.ts";
import { QUARTERLY } from "./builders.ts";
import { fileWith, ProviderWorld, statedCustomer } from "./provider-world.ts";

const TO_FEBRUARY = fileWith("2026-01-01", "2026-02-01");
const TO_MARCH = fileWith("2026-01-01", "2026-03-01");
const TO_APRIL = fileWith("2026-01-01", "2026-04-01");

/** January as imported, and so many months topped up one by one from 10 January on. */
function toppedUpWorld(topUps = 1): ProviderWorld {
  const world = new ProviderWorld();
  world.import(TO_FEBRUARY, "2026-01-05");
  for (let count = 0; count < topUps; count += 1) world.topUp("fiber1", `2026-01-1${count}`);
  return world;
}

describe("records that have taken a top-up in", () => {
  test("leave its end, with nothing on top any more", () => {
    const world = toppedUpWorld();
    world.import(TO_MARCH, "2026-01-20");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.subscription("fiber1")).toMatchObject({ toppedUp: NO_PERIOD });
    expect(world.import(TO_MARCH, "2026-01-21").entries).toEqual([]);
  });

  test("are the ground for the provider's next renewal, which is not given twice", () => {
    const world = toppedUpWorld();
    world.import(TO_MARCH, "2026-01-20");
    world.import(TO_APRIL, "2026-01-21");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("are the ground for the next top-up", () => {
    const world = toppedUpWorld();
    world.import(TO_MARCH, "2026-01-20");
    world.topUp("fiber1", "2026-01-21");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
    world.import(TO_APRIL, "2026-01-22");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("leave on top what they do not hold, where they have taken in one top-up of two", () => {
    const world = toppedUpWorld(2);
    world.import(TO_MARCH, "2026-01-20");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
    expect(world.subscription("fiber1")).toMatchObject({ toppedUp: { months: 1, days: 0 } });
    world.import(TO_APRIL, "2026-01-21");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
    expect(world.subscription("fiber1")).toMatchObject({ toppedUp: NO_PERIOD });
  });

  test("may have taken in two at once", () => {
    const world = toppedUpWorld(2);
    world.import(TO_APRIL, "2026-01-20");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
    expect(world.subscription("fiber1")).toMatchObject({ toppedUp: NO_PERIOD });
  });

  test("are recognised after another word of the provider's in between", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-02-03"), "2026-01-20");
    expect(world.endOf("fiber1")).toBe("2026-03-03");
    world.import(fileWith("2026-01-01", "2026-03-03"), "2026-01-21");
    expect(world.endOf("fiber1")).toBe("2026-03-03");
  });

  test("are not undone by a file from before", () => {
    const world = toppedUpWorld();
    world.import(TO_MARCH, "2026-01-20");
    expect(world.import(TO_FEBRUARY, "2026-01-21").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("are recognised though their dates have no milliseconds", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer(), "2026-01-05");
    world.topUp("fiber1", "2026-01-10T09:00:00.789Z");
    const before = world.subscription("fiber1");
    const absorbing = fileWith("2026-01-10T09:00:00Z", "2026-02-10T09:00:00Z");
    world.import(absorbing, "2026-01-11");
    expect(world.subscription("fiber1")).toEqual({ ...before, toppedUp: NO_PERIOD });
    expect(world.import(absorbing, "2026-01-12").entries).toEqual([]);
  });

  test("are recognised whatever start and bouquet they tell", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-10", "2026-03-01", QUARTERLY), "2026-01-20");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.import(fileWith("2026-01-10", "2026-03-01", QUARTERLY), "2026-01-21").entries).toEqual([]);
    world.topUp("fiber1", "2026-01-22");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("of the run before tell nothing of the run that a later top-up began", () => {
    const world = toppedUpWorld();
    world.topUp("fiber1", "2026-03-10");
    expect(world.import(TO_MARCH, "2026-03-11").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-04-10");
  });

  test("of a run that is over change nothing", () => {
    const world = toppedUpWorld();
    expect(world.import(TO_MARCH, "2026-03-05").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });
});

describe("records that take several top-ups in one after the other", () => {
  test("give none of them a second time", () => {
    const world = new ProviderWorld();
    world.import(fileWith("2026-01-10", "2026-02-10"), "2026-01-11");
    for (const day of ["2026-01-12", "2026-01-13", "2026-01-14"]) world.topUp("fiber1", day);
    for (const [end, when] of [
      ["2026-03-10", "2026-01-15"],
      ["2026-04-10", "2026-01-16"],
      ["2026-05-10", "2026-01-17"],
    ] as const) {
      world.import(fileWith("2026-01-10", end), when);
      expect(world.endOf("fiber1")).toBe("2026-05-10");
    }
    world.import(fileWith("2026-01-10", "2026-06-10"), "2026-01-18");
    expect(world.endOf("fiber1")).toBe("2026-06-10");
  });

  test("a few seconds later than they were made give none a second time either", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer(), "2026-01-05");
    world.topUp("fiber1", "2026-01-10T09:00:00Z");
    world.import(fileWith("2026-01-10T09:00:05Z", "2026-02-10T09:00:05Z"), "2026-01-11");
    expect(world.endOf("fiber1")).toBe("2026-02-10");
  });
});
