import { describe, expect, test } from "vitest";
import { at, labelOf, MONTHLY, QUARTERLY } from "./builders.ts";
import { fileWith, ProviderWorld } from "./provider-world.ts";

/** The provider's own part to 1 February, and a month topped up on 10 January: to 1 March. */
function toppedUpWorld(): ProviderWorld {
  const world = new ProviderWorld();
  world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-05");
  world.topUp("fiber1", "2026-01-10");
  return world;
}

describe("records that hold the top-ups", () => {
  test("stand as they are, night after night", () => {
    const world = toppedUpWorld();
    for (const [end, when] of [
      ["2026-03-01", "2026-01-11"],
      ["2026-03-01", "2026-01-12"],
      ["2026-04-01", "2026-01-13"],
    ] as const) {
      world.import(fileWith("2026-01-01", end), when, "included");
      expect(world.endOf("fiber1")).toBe(end);
    }
  });

  test("may have booked a top-up a little later than it was made", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-03-01T00:00:05Z"), "2026-01-11", "included");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("take nothing away where they do not know of the last top-up yet", () => {
    const world = toppedUpWorld();
    world.topUp("fiber1", "2026-01-12");
    expect(world.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-13", "included").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("keep the bouquet that was bought last", () => {
    const world = toppedUpWorld();
    world.topUp("fiber1", "2026-01-12", QUARTERLY);
    world.import(fileWith("2026-01-01", "2026-07-01", MONTHLY), "2026-01-13", "included");
    expect(world.subscription("fiber1")?.bouquet).toEqual(labelOf(QUARTERLY));
  });
});

describe("records apart from the top-ups", () => {
  test("have the top-ups laid on top, though they end just where the subscription does", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-11", "apart");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
    world.import(fileWith("2026-01-01", "2026-04-01"), "2026-01-12", "apart");
    expect(world.endOf("fiber1")).toBe("2026-05-01");
  });

  test("have nothing laid on top twice by being imported twice", () => {
    const world = toppedUpWorld();
    const file = fileWith("2026-01-01", "2026-03-01");
    world.import(file, "2026-01-11", "apart");
    expect(world.import(file, "2026-01-12", "apart").entries).toEqual([]);
  });
});

describe("records of which nobody said whether they hold the top-ups", () => {
  test("do not make a subscription grow by a copy of it that is taken every night", () => {
    const world = toppedUpWorld();
    for (const when of ["2026-01-11", "2026-01-12", "2026-01-13"]) {
      expect(world.import(fileWith("2026-01-01", "2026-03-01"), when).entries).toEqual([]);
      expect(world.endOf("fiber1")).toBe("2026-03-01");
    }
  });

  test("do not either by a copy from before the last top-up", () => {
    const world = toppedUpWorld();
    world.topUp("fiber1", "2026-01-12");
    expect(world.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-13").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("do not lose a top-up when their own part has once ended where the subscription did", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-11");
    world.import(fileWith("2026-01-01", "2026-04-01"), "2026-01-12");
    expect(world.endOf("fiber1")).toBe("2026-05-01");
  });
});

test("records that end where it would have ended without a reversed top-up are no copy, since it never did", () => {
  const world = toppedUpWorld();
  world.topUp("fiber1", "2026-01-11", QUARTERLY);
  world.topUp("fiber1", "2026-01-12");
  world.reverse({ service: "internet", reqId: "fiber1", plan: MONTHLY.plan }, at("2026-01-13"), 0);
  expect(world.endOf("fiber1")).toBe("2026-06-01");
  world.import(fileWith("2026-01-01", "2026-05-01"), "2026-01-14");
  expect(world.endOf("fiber1")).toBe("2026-09-01");
});

test("an older copy of a run that is over tells nothing, also after a top-up that was taken back at once", () => {
  const world = toppedUpWorld();
  world.topUp("fiber1", "2026-01-11");
  world.topUp("fiber1", "2026-04-05");
  world.reverse({ service: "internet", reqId: "fiber1", plan: MONTHLY.plan }, at("2026-04-06"), 2);
  expect(world.endOf("fiber1")).toBe("2026-04-01");
  world.import(fileWith("2026-01-01", "2026-03-01"), "2026-04-07");
  expect(world.endOf("fiber1")).toBe("2026-04-01");
});

describe("records of a run that was over when another began", () => {
  test.each(["included", "apart", "unsaid"] as const)("tell nothing of that one (%s)", (mode) => {
    const world = new ProviderWorld();
    world.import(fileWith("2026-01-31", "2026-02-28"), "2026-02-05");
    world.topUp("fiber1", "2026-03-02");
    expect(world.import(fileWith("2026-01-31", "2026-03-01"), "2026-03-03", mode).entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-04-02");
  });
});

describe("records that are imported just after a run has lapsed", () => {
  test.each(["apart", "unsaid"] as const)("have the same top-ups on top as the day before (%s)", (mode) => {
    for (const [when, end] of [
      ["2026-02-28", "2026-05-01"],
      ["2026-03-02", "2026-05-01"],
    ] as const) {
      const world = toppedUpWorld();
      const file = fileWith("2026-01-01", "2026-04-01");
      world.import(file, when, mode);
      expect(world.endOf("fiber1")).toBe(end);
      expect(world.import(file, "2026-03-03", mode).entries).toEqual([]);
    }
  });

  test("do not move the end before the one that the top-up gave", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-01-20"), "2026-03-02", "apart");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });
});

describe("records that leave seconds out", () => {
  /** The provider's part to 1 February, and a month topped up: to 1 March, both at 10:00:05. */
  function world(): ProviderWorld {
    const made = new ProviderWorld();
    made.import(fileWith("2026-01-01T10:00:05Z", "2026-02-01T10:00:05Z"), "2026-01-05");
    made.topUp("fiber1", "2026-01-10");
    return made;
  }
  const end = (made: ProviderWorld) => made.calendar.format(made.subscription("fiber1")?.end ?? 0);

  test("count as a copy where they end with the very minute, and nobody says what they hold", () => {
    const made = world();
    expect(made.import(fileWith("2026-01-01T10:00:00Z", "2026-03-01T10:00:00Z"), "2026-01-11").entries).toEqual([]);
    made.import(fileWith("2026-01-01T10:00:00Z", "2026-03-01T10:01:00Z"), "2026-01-12");
    expect(end(made)).toBe("2026-04-01 10:01:00");
  });

  test("are taken where they hold the top-ups, and do not end before the minute", () => {
    const made = world();
    const taken = made.import(fileWith("2026-01-01T10:00:00Z", "2026-03-01T10:00:00Z"), "2026-01-11", "included");
    expect(taken.passedOver).toEqual([]);
    expect(end(made)).toBe("2026-03-01 10:00:00");
    const earlier = made.import(fileWith("2026-01-01T10:00:00Z", "2026-03-01T09:59:00Z"), "2026-01-12", "included");
    expect(earlier.passedOver).toHaveLength(1);
  });

  test("say nothing new beside the same records with their seconds", () => {
    for (const mode of ["included", "apart", "unsaid"] as const) {
      const made = world();
      const again = made.import(fileWith("2026-01-01T10:00:00Z", "2026-02-01T10:00:00Z"), "2026-01-11", mode);
      expect(again.entries).toEqual([]);
      expect(again.passedOver).toEqual([]);
    }
  });
});

describe("records of a subscription that is still to begin", () => {
  test.each(["included", "apart", "unsaid"] as const)(
    "take nothing of a run that lasts, until they begin (%s)",
    (mode) => {
      const world = toppedUpWorld();
      const file = fileWith("2026-05-01", "2026-06-01");
      expect(world.import(file, "2026-02-10", mode).entries).toEqual([]);
      expect(world.endOf("fiber1")).toBe("2026-03-01");
      world.import(file, "2026-05-02", mode);
      expect(world.endOf("fiber1")).toBe("2026-06-01");
    },
  );
});
