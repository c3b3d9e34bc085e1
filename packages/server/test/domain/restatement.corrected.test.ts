import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { effectOf } from "../../src/domain/import-effect.ts";
import { restate } from "../../src/domain/restatement.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { at, goodwill, labelOf, MONTHLY, UTC } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

/** January is the provider's, and sixty days of goodwill lead to 2 April. */
function worldWithGoodwill(mode: "apart" | "included" | "unsaid") {
  const world = new ProviderWorld();
  const state = (start: string, end: string, when: string) => world.import(fileWith(start, end), when, mode);
  state("2026-01-01", "2026-02-01", "2026-01-02");
  world.goodwill("fiber1", at("2026-01-10"), 60);
  return { world, state };
}

function isSaidToBeTopUps(world: ProviderWorld, change: ReturnType<ProviderWorld["import"]>): boolean {
  return (effectOf({ customer: world.customer, change }).laidOnTop ?? 0) > 0;
}

describe.each(["apart", "included", "unsaid"] as const)("a start that is corrected backwards (%s)", (mode) => {
  test("leaves all days of goodwill on top, and each of them goodwill", () => {
    const { world, state } = worldWithGoodwill(mode);
    state("2026-02-05", "2026-03-05", "2026-02-05");
    expect(world.subscription("fiber1")).toMatchObject({ onTop: { months: 0, days: 56 }, goodwillDays: 56 });
    const change = state("2026-02-01", "2026-03-05", "2026-02-06");
    expect(world.subscription("fiber1")).toMatchObject({ onTop: { months: 0, days: 60 }, goodwillDays: 60 });
    expect(world.endOf("fiber1")).toBe("2026-05-04");
    expect(isSaidToBeTopUps(world, change)).toBe(false);
  });

  test("keeps what was given since the mistake", () => {
    const { world, state } = worldWithGoodwill(mode);
    state("2026-02-05", "2026-03-05", "2026-02-05");
    world.goodwill("fiber1", at("2026-02-05"), 3);
    state("2026-02-01", "2026-03-05", "2026-02-06");
    expect(world.subscription("fiber1")).toMatchObject({ onTop: { months: 0, days: 63 }, goodwillDays: 63 });
  });

  test("lets all of the goodwill be taken back, after it and before it", () => {
    const { world, state } = worldWithGoodwill(mode);
    state("2026-02-05", "2026-03-05", "2026-02-05");
    state("2026-02-01", "2026-03-05", "2026-02-06");
    expect(world.takeBack("fiber1", "2026-02-07", 60).kind).toBe("taken_back");
    expect(world.endOf("fiber1")).toBe("2026-03-05");
    expect(world.subscription("fiber1")).toMatchObject({ onTop: { months: 0, days: 0 }, goodwillDays: 0 });
    const early = worldWithGoodwill(mode);
    early.state("2026-02-05", "2026-03-05", "2026-02-05");
    expect(early.world.takeBack("fiber1", "2026-02-06", 56).kind).toBe("taken_back");
    early.state("2026-02-01", "2026-03-05", "2026-02-07");
    expect(early.world.endOf("fiber1")).toBe("2026-03-09");
  });

  test("may be corrected again, or told again with another end before it is", () => {
    for (const dates of [
      ["2026-02-03", "2026-03-05"],
      ["2026-02-05", "2026-03-15"],
    ] as const) {
      const { world, state } = worldWithGoodwill(mode);
      state("2026-02-05", "2026-03-05", "2026-02-05");
      state(dates[0], dates[1], "2026-02-06");
      state("2026-02-01", "2026-03-20", "2026-02-07");
      expect(world.subscription("fiber1")).toMatchObject({ onTop: { months: 0, days: 60 }, goodwillDays: 60 });
    }
  });
});

describe.each(["apart", "unsaid"] as const)(
  "a start that is corrected into a run that was over before it (%s)",
  (mode) => {
    const correctedOn = (when: string) => {
      const world = new ProviderWorld();
      world.import(statedCustomer([statedConnection()]), "2026-01-01");
      world.topUp("fiber1", "2026-01-01");
      world.import(fileWith("2026-02-05", "2026-04-05"), "2026-02-05", mode);
      world.import(fileWith("2026-01-15", "2026-04-05"), when, mode);
      return world.endOf("fiber1");
    };

    test("gives back what of the run was not used up, in whole days", () => {
      expect(correctedOn("2026-02-06")).toBe("2026-04-22");
      expect(correctedOn("2026-03-03")).toBe("2026-04-22");
    });

    test("gives nothing back of what was over more than thirty days before", () => {
      expect(correctedOn("2026-03-04")).toBe("2026-04-05");
    });
  },
);

test("records that close the gap between two runs, which top-ups began, are measured by both", () => {
  const world = new ProviderWorld();
  world.import(statedCustomer([statedConnection()]), "2026-01-01");
  const week: Bouquet = { ...MONTHLY, code: "NET-7D", period: { months: 0, days: 7 } };
  world.topUp("fiber1", "2026-01-01", week);
  world.topUp("fiber1", "2026-01-10", week);
  world.import(fileWith("2026-01-05", "2026-01-20"), "2026-01-11", "apart");
  // Three days are left of the first week where the records begin, and all of the second.
  expect(world.endOf("fiber1")).toBe("2026-01-30");
});

test("a start that is corrected after a move is measured by what the export told, and not by what there was before it", () => {
  const [bouquet, onTop] = [labelOf(MONTHLY), { months: 0, days: 0 }];
  const january = {
    kind: "statement",
    bouquet,
    start: at("2026-01-01"),
    span: { months: 1, days: 0, seconds: 0 },
  } as const;
  const carried = { onTop: { months: 0, days: 35 }, goodwillDays: 5, grantedEnd: at("2026-03-08") };
  const ledger: Grant[] = [
    { ...january, at: at("2026-01-02"), onTop },
    goodwill("2026-01-10", 5),
    { ...january, at: at("2026-01-20"), ...carried },
  ];
  const records = statedSubscription("2025-12-20", "2026-02-01");
  expect(restate(ledger, records, at("2026-01-21"), UTC, "apart")).toMatchObject({ onTop: { months: 0, days: 35 } });
});
