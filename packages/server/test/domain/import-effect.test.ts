import { describe, expect, test } from "vitest";
import { compareCatalogues, effectOf } from "../../src/domain/import-effect.ts";
import { ADD_ON, at, MONTHLY, QUARTERLY } from "./builders.ts";
import { fileWith, ProviderWorld } from "./provider-world.ts";

const nothing = { bouquets: [], reorders: false };

describe("a catalogue beside the one before it", () => {
  test("that is the same changes nothing", () => {
    expect(compareCatalogues([MONTHLY, ADD_ON], [MONTHLY, ADD_ON], 2)).toEqual({ ...nothing, unchanged: 2 });
  });

  test("tells of each bouquet that came and went", () => {
    const [monthly, quarterly] = [MONTHLY, QUARTERLY].map(({ service, code }) => ({ service, code, fields: [] }));
    expect(compareCatalogues([MONTHLY, ADD_ON], [QUARTERLY, ADD_ON], 2)).toEqual({
      bouquets: [
        { kind: "added", ...quarterly },
        { kind: "removed", ...monthly },
      ],
      unchanged: 1,
      reorders: false,
    });
  });

  test("tells what a bouquet was and is, amounts as decimals", () => {
    const after = { ...MONTHLY, name: "Fiber (MONTHLY)", price: 120_050n, segments: ["home", "sme"], plan: "Fiber" };
    const { bouquets } = compareCatalogues([{ ...MONTHLY, segments: [] }], [after], 2);
    expect(bouquets).toMatchObject([
      {
        kind: "changed",
        code: MONTHLY.code,
        fields: [
          { field: "name", from: MONTHLY.name, to: "Fiber (MONTHLY)" },
          { field: "price", to: "1200.5" },
          { field: "segments", from: "all", to: "home, sme" },
          { field: "plan", from: MONTHLY.plan, to: "Fiber" },
        ],
      },
    ]);
  });

  test("takes a code of another service for another bouquet", () => {
    const kinds = compareCatalogues([MONTHLY], [{ ...MONTHLY, service: "iptv" }], 2).bouquets.map(({ kind }) => kind);
    expect(kinds).toEqual(["added", "removed"]);
  });

  test("tells that those that stay come in another order, whatever comes between them", () => {
    expect(compareCatalogues([MONTHLY, ADD_ON], [ADD_ON, MONTHLY], 2)).toEqual({
      ...nothing,
      unchanged: 2,
      reorders: true,
    });
    expect(compareCatalogues([MONTHLY, ADD_ON], [MONTHLY, QUARTERLY, ADD_ON], 2).reorders).toBe(false);
  });
});

test("a customer who comes back after a removal by hand is added, and what is not taken is told all the same", () => {
  const world = new ProviderWorld();
  world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-05");
  world.topUp("fiber1", "2026-01-06");
  world.lose("customer", "fiber1");
  const change = world.import(fileWith("2026-01-01", "2026-01-20"), "2026-01-07", "included");
  const passedOver = [{ service: "internet", code: MONTHLY.code }];
  expect(effectOf({ customer: undefined, change })).toEqual({ kind: "added", parts: [], passedOver });
});

test("a customer's change tells on how many subscriptions top-ups came on top, and leaves out goodwill", () => {
  const world = new ProviderWorld();
  const effectOfFile = (end: string, when: string) => {
    const customer = world.customer;
    return effectOf({ customer, change: world.import(fileWith("2026-01-01", end), when, "apart") }).laidOnTop;
  };
  expect(effectOfFile("2026-02-01", "2026-01-02")).toBeUndefined();
  world.goodwill("fiber1", at("2026-01-03"), 3);
  expect(effectOfFile("2026-02-02", "2026-01-04")).toBeUndefined();
  world.topUp("fiber1", "2026-01-05");
  expect(effectOfFile("2026-02-02", "2026-01-06")).toBeUndefined();
  expect(effectOfFile("2026-02-03", "2026-01-07")).toBe(1);
});
