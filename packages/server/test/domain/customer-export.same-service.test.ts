import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Bouquet, Service } from "../../src/domain/bouquet.ts";
import type { Instant } from "../../src/domain/calendar.ts";
import { connectionState, wireStatus } from "../../src/domain/customer.ts";
import { customerRow } from "../../src/domain/customer-export.ts";
import { readCustomerRow, type StatedCustomer } from "../../src/domain/customer-row.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import { ALL_BOUQUETS, anyStep, anyWorld, play, REQ_IDS, START } from "./any-steps.ts";
import { at, DAY_MS, MONTHLY, QUARTERLY, RUNS, UTC } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer } from "./provider-world.ts";

/** What the catalogue has become since: the same codes, under other names and plans. */
const RENAMED = ALL_BOUQUETS.map((bouquet) => ({
  ...bouquet,
  name: `New ${bouquet.name}`,
  plan: `New ${bouquet.plan}`,
}));

const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 10 });
const anyCatalogue = fc.constantFrom<readonly Bouquet[]>(ALL_BOUQUETS, RENAMED);
const anyWait = fc.nat({ max: 90 * DAY_MS });

function contextOf(world: ProviderWorld, catalogue: readonly Bouquet[]) {
  const findBouquet = (service: Service, code: string) =>
    catalogue.find((bouquet) => bouquet.service === service && bouquet.code === code);
  return { calendar: world.calendar, findBouquet };
}

function exportOf(world: ProviderWorld, catalogue: readonly Bouquet[]): string {
  if (world.customer === undefined) throw new Error("there is nobody to export");
  return JSON.stringify(customerRow(world.customer, contextOf(world, catalogue)));
}

function read(text: string, world: ProviderWorld, catalogue: readonly Bouquet[]): StatedCustomer {
  const reading = readCustomerRow(readJson(text) as JsonObject, contextOf(world, catalogue));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

/** Plays the steps, and imports what comes of them into an empty world. */
function move(world: ProviderWorld, steps: Parameters<typeof play>[1], wait: number, catalogue: readonly Bouquet[]) {
  play(world, steps, () => {});
  const now = steps.reduce((time, { afterMs }) => time + afterMs, START) + wait;
  const text = exportOf(world, catalogue);
  const elsewhere = new ProviderWorld(world.calendar);
  elsewhere.import(read(text, elsewhere, catalogue), now);
  return { text, elsewhere, now };
}

/** All that answers depend on; in an order of its own, since services are told one after the other. */
function stateOf(world: ProviderWorld) {
  const { connections = [], ...profile } = world.customer ?? {};
  const byPlan = connections.map(({ subscriptions, ...connection }) => ({
    ...connection,
    subscriptions: Object.fromEntries(subscriptions.map((subscription) => [subscription.plan, subscription])),
  }));
  return { profile, connections: Object.fromEntries(byPlan.map((each) => [each.reqId, each])) };
}

function statusesOf(world: ProviderWorld, now: Instant) {
  return world.customer?.connections.map((each) => [each.reqId, wireStatus(connectionState(each), now)]);
}

describe("any customer, exported and imported where there is none", () => {
  const anyMove = fc.tuple(anyWorld, anySteps, anyWait, anyCatalogue);

  test("is the very same, to the millisecond", () => {
    fc.assert(
      fc.property(anyMove, ([makeWorld, steps, wait, catalogue]) => {
        const world = makeWorld();
        const { text, elsewhere, now } = move(world, steps, wait, catalogue);
        expect(stateOf(elsewhere)).toEqual(stateOf(world));
        expect(statusesOf(elsewhere, now + wait)).toEqual(statusesOf(world, now + wait));
        expect(exportOf(elsewhere, catalogue)).toBe(text);
      }),
      RUNS,
    );
  });

  test("has ledgers that fold to what is shown", () => {
    fc.assert(
      fc.property(anyMove, ([makeWorld, steps, wait, catalogue]) => {
        const { elsewhere } = move(makeWorld(), steps, wait, catalogue);
        for (const { service, reqId, subscriptions } of elsewhere.customer?.connections ?? [])
          for (const subscription of subscriptions)
            expect(elsewhere.folded({ service, reqId, plan: subscription.plan })).toEqual(subscription);
      }),
      RUNS,
    );
  });

  test("is topped up to the same end", () => {
    fc.assert(
      fc.property(anyMove, fc.constantFrom(...REQ_IDS), fc.constantFrom(...ALL_BOUQUETS), (moved, reqId, bouquet) => {
        const [makeWorld, steps, wait, catalogue] = moved;
        const world = makeWorld();
        const { elsewhere, now } = move(world, steps, wait, catalogue);
        if (world.connection(reqId) === undefined) return;
        for (const each of [world, elsewhere]) each.topUp(reqId, now + wait, bouquet);
        expect(stateOf(elsewhere)).toEqual(stateOf(world));
      }),
      RUNS,
    );
  });

  test("stays as it is when the export is imported again, whatever is said of top-ups, here and there", () => {
    const anyMode = fc.constantFrom("unsaid" as const, "apart" as const, "included" as const);
    fc.assert(
      fc.property(anyMove, anyMode, ([makeWorld, steps, wait, catalogue], mode) => {
        const world = makeWorld();
        const { text, elsewhere, now } = move(world, steps, wait, catalogue);
        const nothing = { entries: [], addedCodes: [], removedCodes: [], removedConnections: [] };
        expect(world.import(read(text, world, catalogue), now)).toMatchObject(nothing);
        const again = elsewhere.import(read(text, elsewhere, catalogue), now + wait, mode);
        expect(again).toMatchObject(nothing);
      }),
      RUNS,
    );
  });

  test("takes a nightly copy of what is shown as it was taken before", () => {
    fc.assert(
      fc.property(anyMove, ([makeWorld, steps, wait]) => {
        const world = makeWorld();
        const { text, elsewhere, now } = move(world, steps, wait, ALL_BOUQUETS);
        const copy = text.replaceAll(/,"carried":\{[^}]*\}/g, "");
        const before = stateOf(world);
        for (const each of [world, elsewhere]) each.import(read(copy, each, ALL_BOUQUETS), now + wait);
        const ends = (state: ReturnType<typeof stateOf>) =>
          Object.values(state.connections).map(({ reqId, subscriptions }) => [
            reqId,
            Object.entries(subscriptions).map(([plan, { end }]) => [plan, Math.floor(end / 1000)]),
          ]);
        expect(ends(stateOf(elsewhere))).toEqual(ends(before));
      }),
      RUNS,
    );
  });
});

describe("an exported row", () => {
  const file = (world: ProviderWorld) => JSON.parse(exportOf(world, ALL_BOUQUETS));

  test("of what was imported alone is what was imported", () => {
    const world = new ProviderWorld(UTC);
    const stated = {
      cuid: "7001",
      first_name: "Asha",
      last_name: "Rai",
      mobile: "9800000001",
      status: "active",
      connections: {
        tv: [{ stb: "00012", status: "blocked" }],
        internet: [
          {
            username: "fiber1",
            status: "active",
            segment: "home",
            subscriptions: [{ code: MONTHLY.code, startdate: "2026-01-31 10:00:00", enddate: "2026-03-31 10:00:00" }],
          },
        ],
      },
    };
    world.import(read(JSON.stringify(stated), world, ALL_BOUQUETS), START);
    expect(file(world)).toEqual(stated);
  });

  test("carries what was granted, and from when on", () => {
    const world = new ProviderWorld(UTC);
    world.import(statedCustomer([statedConnection({ status: "inactive" })]), START);
    world.topUp("fiber1", START + 5);
    expect(file(world).connections.internet).toMatchObject([
      {
        ...{ username: "fiber1", status: "inactive", topped_up: true },
        subscriptions: [{ carried: { months: 1, days: 0, seconds: 0, topped_up_months: 1, topped_up_days: 0 } }],
      },
    ]);
    expect(file(world).connections.internet[0].subscriptions[0].carried.start).toMatch(/:30\.005Z$/);
  });

  test("carries which of it was given for nothing", () => {
    const world = new ProviderWorld(UTC);
    world.import(statedCustomer(), START);
    world.topUp("fiber1", START);
    world.goodwill("fiber1", START + DAY_MS, 5);
    expect(file(world).connections.internet[0].subscriptions[0].carried).toMatchObject({
      ...{ topped_up_months: 1, topped_up_days: 5, goodwill_days: 5 },
    });
  });

  test.each([
    ["other dates than it carries", { enddate: "2027-01-01 00:00:00" }, {}, "carried.start"],
    ["a start that is no time", {}, { start: "yesterday" }, "carried.start"],
    ["a negative count", {}, { months: -1 }, "carried.months"],
    ["more that was granted than there is", {}, { topped_up_months: 2 }, "carried.topped_up_months"],
    ["more goodwill than was granted", {}, { goodwill_days: 1 }, "carried.goodwill_days"],
    [
      "goodwill where nothing was granted",
      { enddate: "2026-03-02 10:00:30" },
      { days: 2, topped_up_days: 2, goodwill_days: 1, granted_until: undefined },
      "carried.goodwill_days",
    ],
    ["a field of nobody's", {}, { color: "red" }, "carried.color"],
  ])("with %s is refused", (_, dates, changes, field) => {
    const world = new ProviderWorld(UTC);
    world.import(statedCustomer(), START);
    world.topUp("fiber1", START);
    const row = file(world);
    const [subscription] = row.connections.internet[0].subscriptions;
    row.connections.internet[0].subscriptions = [
      { ...subscription, ...dates, carried: { ...subscription.carried, ...changes } },
    ];
    const reading = readCustomerRow(readJson(JSON.stringify(row)) as JsonObject, contextOf(world, ALL_BOUQUETS));
    const fields = reading.ok ? [] : reading.problems.map((problem) => problem.field);
    expect(fields).toContain(`connections.internet[0].subscriptions[0].${field}`);
  });
});

describe("a customer who was topped up since, exported again and imported where the first export is", () => {
  /** The place itself, where the export of its first month has come to, and the export of both months. */
  function twoMonths() {
    const world = new ProviderWorld();
    world.import(statedCustomer([statedConnection()]), at("2026-01-01"));
    world.topUp("fiber1", "2026-01-10");
    const elsewhere = new ProviderWorld();
    elsewhere.import(read(exportOf(world, ALL_BOUQUETS), elsewhere, ALL_BOUQUETS), at("2026-01-11"));
    world.topUp("fiber1", "2026-01-12");
    return { world, elsewhere, text: exportOf(world, ALL_BOUQUETS) };
  }

  test("ends as there where its dates are said to hold the top-ups", () => {
    const { world, elsewhere, text } = twoMonths();
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-13"), "included");
    expect(elsewhere.endOf("fiber1")).toBe(world.endOf("fiber1"));
  });

  test("ends as there also where nobody says, since nothing was granted here", () => {
    for (const mode of ["unsaid", "apart"] as const) {
      const { world, elsewhere, text } = twoMonths();
      elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-13"), mode);
      expect(elsewhere.endOf("fiber1")).toBe(world.endOf("fiber1"));
    }
  });

  test("loses nothing that was granted here since where nobody says", () => {
    const { elsewhere, text } = twoMonths();
    elsewhere.topUp("fiber1", "2026-01-12", QUARTERLY);
    const before = elsewhere.subscription("fiber1")?.end ?? 0;
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-13"));
    expect(elsewhere.subscription("fiber1")?.end).toBeGreaterThanOrEqual(before);
  });
});

describe("a customer who was given days for nothing, exported and imported elsewhere", () => {
  function moved() {
    const [world, elsewhere] = [new ProviderWorld(), new ProviderWorld()];
    world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02");
    world.topUp("fiber1", "2026-01-10");
    world.goodwill("fiber1", at("2026-01-11"), 5);
    elsewhere.import(read(exportOf(world, ALL_BOUQUETS), elsewhere, ALL_BOUQUETS), "2026-01-12", "included");
    return { world, elsewhere };
  }

  test("keeps them on top of records that hold the top-ups, night after night", () => {
    const { elsewhere } = moved();
    expect(elsewhere.endOf("fiber1")).toBe("2026-03-06");
    elsewhere.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-13", "included");
    expect(elsewhere.endOf("fiber1")).toBe("2026-03-06");
    elsewhere.import(fileWith("2026-01-01", "2026-04-01"), "2026-01-14", "included");
    expect(elsewhere.endOf("fiber1")).toBe("2026-04-06");
  });

  test("and back again is not cut short by wrong records after a reversal", () => {
    const daily = { ...MONTHLY, period: { months: 0, days: 8 } };
    const [world, elsewhere] = [new ProviderWorld(), new ProviderWorld()];
    world.import(fileWith("2026-01-01", "2026-01-31"), "2026-01-01", "included");
    world.topUp("fiber1", "2026-01-02", daily);
    world.goodwill("fiber1", at("2026-01-03"), 8);
    elsewhere.import(read(exportOf(world, ALL_BOUQUETS), elsewhere, ALL_BOUQUETS), "2026-01-04", "included");
    elsewhere.goodwill("fiber1", at("2026-01-05"), 8);
    world.import(read(exportOf(elsewhere, ALL_BOUQUETS), world, ALL_BOUQUETS), "2026-01-06", "included");
    world.reverse({ service: "internet", reqId: "fiber1", plan: MONTHLY.plan }, at("2026-01-07"), 0);
    const end = world.endOf("fiber1");
    world.import(fileWith("2026-01-01", "2026-01-23"), "2026-01-08", "included");
    expect(world.endOf("fiber1")).toBe(end);
  });

  test("and back again has them once, and can be without them", () => {
    const { world, elsewhere } = moved();
    world.import(read(exportOf(elsewhere, ALL_BOUQUETS), world, ALL_BOUQUETS), "2026-01-13", "included");
    elsewhere.goodwill("fiber1", at("2026-01-14"), 3);
    world.import(read(exportOf(elsewhere, ALL_BOUQUETS), world, ALL_BOUQUETS), "2026-01-15", "included");
    expect(world.subscription("fiber1")).toMatchObject({ goodwillDays: 8 });
    expect(world.endOf("fiber1")).toBe("2026-03-09");
    expect(world.takeBack("fiber1", "2026-01-16", 4)).toMatchObject({ kind: "taken_back" });
    expect(world.subscription("fiber1")).toMatchObject({ goodwillDays: 4 });
    expect(world.endOf("fiber1")).toBe("2026-03-05");
    world.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-17", "included");
    expect(world.endOf("fiber1")).toBe("2026-03-05");
  });
});

describe("an export beside what is known of the same run", () => {
  function exported(topUps: readonly string[], file = fileWith("2026-01-01", "2026-02-01")) {
    const world = new ProviderWorld();
    world.import(file, "2026-01-02");
    for (const when of topUps) world.topUp("fiber1", when);
    return exportOf(world, ALL_BOUQUETS);
  }

  test("is news where it tells of a top-up, and records end on the same day without one", () => {
    const elsewhere = new ProviderWorld();
    elsewhere.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-02");
    elsewhere.import(read(exported(["2026-01-05"]), elsewhere, ALL_BOUQUETS), "2026-01-10", "included");
    expect(elsewhere.subscription("fiber1")).toMatchObject({ grantedEnd: at("2026-03-01") });
  });

  test("is news where something was granted there later, though it ends earlier", () => {
    const elsewhere = new ProviderWorld();
    elsewhere.import(statedCustomer(), "2026-01-01");
    elsewhere.topUp("fiber1", "2026-01-01");
    elsewhere.import(fileWith("2026-01-01", "2026-03-01"), "2026-01-10", "included");
    const text = exported(["2026-01-11"], fileWith("2026-01-01", "2026-01-15"));
    const change = elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), "2026-01-20", "included");
    expect(change.entries).toMatchObject([{ grant: { kind: "statement", grantedEnd: at("2026-02-15") } }]);
  });
});

const FIBER = { service: "internet", reqId: "fiber1", plan: MONTHLY.plan } as const;

describe("a customer of an earlier export, a backup, or the provider's own file, to which a later export has come", () => {
  const own = (end = "2026-02-01") => fileWith("2026-01-01", end);
  const MODES = ["unsaid", "apart", "included"] as const;

  /** The place itself, and another that has its customer of before two top-ups; and the export of these. */
  function toppedUpSince(mayHaveOne: boolean) {
    const [world, elsewhere] = [new ProviderWorld(), new ProviderWorld()];
    for (const each of [world, elsewhere]) {
      each.import(own(), "2026-01-02");
      if (mayHaveOne) each.topUp("fiber1", "2026-01-05");
    }
    for (const when of ["2026-01-10", "2026-01-11"]) world.topUp("fiber1", when, QUARTERLY);
    return { world, elsewhere, text: exportOf(world, ALL_BOUQUETS) };
  }

  test("keeps what was topped up there through the nightly imports", () => {
    for (const mode of MODES) {
      for (const nightly of MODES) {
        const { world, elsewhere, text } = toppedUpSince(false);
        elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), mode);
        expect(elsewhere.endOf("fiber1")).toBe("2026-08-01");
        for (const each of [world, elsewhere]) {
          each.import(own(), "2026-01-13", nightly);
          expect(each.endOf("fiber1")).toBe("2026-08-01");
          // The provider sells a month of its own.
          if (nightly === "apart") each.import(own("2026-03-01"), "2026-01-14", nightly);
        }
        expect(elsewhere.subscription("fiber1")).toEqual(world.subscription("fiber1"));
      }
    }
  });

  test("ends as there, with a top-up of its own in both, where the dates are said to hold it", () => {
    const { world, elsewhere, text } = toppedUpSince(true);
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), "included");
    for (const each of [world, elsewhere]) {
      each.import(own(), "2026-01-13", "apart");
      each.import(own("2026-03-01"), "2026-01-14", "apart");
      expect(each.endOf("fiber1")).toBe("2026-10-01");
    }
  });

  test("has its next export taken over as well, since that one said what lies on top", () => {
    const { world, elsewhere, text } = toppedUpSince(true);
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), "included");
    world.topUp("fiber1", "2026-01-13");
    elsewhere.import(read(exportOf(world, ALL_BOUQUETS), elsewhere, ALL_BOUQUETS), at("2026-01-14"), "apart");
    expect(elsewhere.subscription("fiber1")).toEqual(world.subscription("fiber1"));
  });

  test("has it taken over where the records hold what was topped up here", () => {
    const { world, elsewhere, text } = toppedUpSince(true);
    elsewhere.import(own("2026-03-01"), "2026-01-12", "included");
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-13"), "apart");
    expect(elsewhere.subscription("fiber1")?.onTop).toEqual(world.subscription("fiber1")?.onTop);
  });

  test("gets nothing back by it that was reversed here", () => {
    const [world, elsewhere] = [new ProviderWorld(), new ProviderWorld()];
    for (const each of [world, elsewhere]) {
      each.import(own(), "2026-01-02");
      for (const when of ["2026-01-05", "2026-01-06"]) each.topUp("fiber1", when);
    }
    elsewhere.reverse(FIBER, at("2026-01-07"), 1);
    elsewhere.import(read(exportOf(world, ALL_BOUQUETS), elsewhere, ALL_BOUQUETS), at("2026-01-08"), "apart");
    expect(elsewhere.endOf("fiber1")).toBe("2026-03-01");
  });

  test("loses of it just the top-up that is reversed here", () => {
    const { elsewhere, text } = toppedUpSince(true);
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), "included");
    elsewhere.reverse(FIBER, at("2026-01-13"), 0);
    expect(elsewhere.endOf("fiber1")).toBe("2026-08-01");
  });

  test("shows the bouquet that was bought last there, and is not cut by an export from before", () => {
    const { elsewhere, text } = toppedUpSince(false);
    const early = exportOf(elsewhere, ALL_BOUQUETS);
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"));
    expect(elsewhere.subscription("fiber1")?.bouquet.code).toBe(QUARTERLY.code);
    for (const mode of MODES) elsewhere.import(read(early, elsewhere, ALL_BOUQUETS), at("2026-01-13"), mode);
    expect(elsewhere.endOf("fiber1")).toBe("2026-08-01");
  });

  test("says nothing the second time, and takes nothing that was granted here", () => {
    for (const mode of MODES) {
      const { elsewhere, text } = toppedUpSince(false);
      elsewhere.topUp("fiber1", "2026-01-05");
      elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), mode);
      const once = elsewhere.customer;
      expect(elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-13"), mode).entries).toEqual([]);
      expect(elsewhere.customer).toEqual(once);
      expect(elsewhere.endOf("fiber1")).toBe(mode === "included" ? "2026-08-01" : "2026-09-01");
    }
  });

  test("is taken over at once where what was granted here is over", () => {
    for (const mode of MODES) {
      const [here, there] = [new ProviderWorld(), new ProviderWorld()];
      for (const each of [here, there]) each.import(statedCustomer([statedConnection()]), "2026-01-01");
      here.topUp("fiber1", "2026-01-02");
      there.topUp("fiber1", "2026-03-02", QUARTERLY);
      const text = exportOf(there, ALL_BOUQUETS);
      here.import(read(text, here, ALL_BOUQUETS), at("2026-03-03"), mode);
      expect(here.import(read(text, here, ALL_BOUQUETS), at("2026-03-04"), mode).entries).toEqual([]);
      expect(here.subscription("fiber1")).toEqual(there.subscription("fiber1"));
    }
  });

  test("takes nothing that was granted here before the provider's newest records either", () => {
    for (const mode of ["unsaid", "apart"] as const) {
      const { elsewhere, text } = toppedUpSince(false);
      elsewhere.topUp("fiber1", "2026-01-05");
      elsewhere.import(own("2026-03-01"), "2026-01-06", "apart");
      elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"), mode);
      expect(elsewhere.endOf("fiber1")).toBe("2026-09-01");
    }
  });

  test("loses nothing of it by the reversal of a top-up in a run that was over, or with which the run would not begin", () => {
    const lapsed = toppedUpSince(false);
    const now = at("2026-06-02");
    lapsed.elsewhere.topUp("fiber1", "2026-01-05");
    const later = new ProviderWorld();
    later.import(statedCustomer([statedConnection()]), "2026-06-01");
    later.topUp("fiber1", now, QUARTERLY);
    lapsed.elsewhere.import(
      read(exportOf(later, ALL_BOUQUETS), lapsed.elsewhere, ALL_BOUQUETS),
      now + DAY_MS,
      "included",
    );
    lapsed.elsewhere.reverse(FIBER, now + 2 * DAY_MS, 0);
    expect(lapsed.elsewhere.endOf("fiber1")).toBe("2026-09-02");

    const [here, there] = [new ProviderWorld(), new ProviderWorld()];
    here.import(statedCustomer([statedConnection()]), "2026-01-01");
    here.topUp("fiber1", "2026-01-01", QUARTERLY);
    there.import(read(exportOf(here, ALL_BOUQUETS), there, ALL_BOUQUETS), at("2026-02-01"));
    there.topUp("fiber1", "2026-03-20");
    here.import(read(exportOf(there, ALL_BOUQUETS), here, ALL_BOUQUETS), at("2026-03-25"), "included");
    here.reverse(FIBER, at("2026-03-26"), 0);
    expect(here.endOf("fiber1")).toBe("2026-05-01");
  });

  test("is not taken from an export that is older than what was renewed here since", () => {
    const { elsewhere, text } = toppedUpSince(false);
    elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-01-12"));
    elsewhere.import(own("2026-03-01"), "2026-02-01", "apart");
    for (const mode of MODES) elsewhere.import(read(text, elsewhere, ALL_BOUQUETS), at("2026-02-02"), mode);
    expect(elsewhere.endOf("fiber1")).toBe("2026-09-01");
  });
});
