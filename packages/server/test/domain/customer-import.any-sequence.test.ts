import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { createCalendar, type Instant } from "../../src/domain/calendar.ts";
import type { Connection, ConnectionStatus } from "../../src/domain/customer.ts";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import type { TopUpsInFile } from "../../src/domain/restatement.ts";
import { isGranted, type Subscription } from "../../src/domain/subscription.ts";
import { ADD_ON, at, DAY_MS, MONTHLY, QUARTERLY, RUNS, SECOND_MS } from "./builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

const START = at("2026-01-31T22:15:30Z");
const REQ_IDS = ["fiber1", "fiber2"] as const;
const DAILY: Bouquet = { ...MONTHLY, code: "NET-1D", period: { months: 0, days: 1 } };
const ALL_BOUQUETS = [MONTHLY, QUARTERLY, DAILY, ADD_ON];

/** What a file says of one plan: nothing, what the service shows, or dates of the provider's own. */
type PlanInFile = "missing" | "as shown" | { readonly startDay: number; readonly seconds: number };

type ConnectionInFile = "missing" | { readonly status: ConnectionStatus; readonly plans: readonly PlanInFile[] };

type Step = { readonly afterMs: number } & (
  | { readonly kind: "top_up"; readonly reqId: string; readonly bouquet: Bouquet }
  | { readonly kind: "goodwill"; readonly reqId: string; readonly days: number }
  | { readonly kind: "reversal"; readonly reqId: string; readonly bouquet: Bouquet; readonly which: number }
  | { readonly kind: "import"; readonly mode: TopUpsInFile; readonly connections: readonly ConnectionInFile[] }
);

const anyPlan: fc.Arbitrary<PlanInFile> = fc.oneof(
  fc.constantFrom("missing" as const, "as shown" as const),
  fc.record({
    startDay: fc.integer({ min: -40, max: 120 }),
    seconds: fc.constantFrom(1, 86_400, 31 * 86_400, 7_000_000),
  }),
);
const anyConnection: fc.Arbitrary<ConnectionInFile> = fc.oneof(
  { arbitrary: fc.constant("missing" as const), weight: 1 },
  {
    arbitrary: fc.record({
      status: fc.constantFrom("active" as const, "inactive" as const, "blocked" as const),
      plans: fc.tuple(anyPlan, anyPlan),
    }),
    weight: 4,
  },
);
const anyPause = fc.nat({ max: 40 * DAY_MS });
const anyTopUpStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("top_up" as const),
  afterMs: anyPause,
  reqId: fc.constantFrom(...REQ_IDS),
  bouquet: fc.constantFrom(...ALL_BOUQUETS),
});
const anyCorrection: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("goodwill" as const),
    afterMs: anyPause,
    reqId: fc.constantFrom(...REQ_IDS),
    days: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({
    kind: fc.constant("reversal" as const),
    afterMs: anyPause,
    reqId: fc.constantFrom(...REQ_IDS),
    bouquet: fc.constantFrom(...ALL_BOUQUETS),
    which: fc.nat({ max: 5 }),
  }),
);
const importStep = (anyMode: fc.Arbitrary<TopUpsInFile>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant("import" as const),
    afterMs: anyPause,
    mode: anyMode,
    connections: fc.tuple(anyConnection, anyConnection),
  });
const anyStep = fc.oneof(anyTopUpStep, importStep(fc.constant("unsaid" as const)));
const anyStepOfAll = fc.oneof(
  anyTopUpStep,
  anyCorrection,
  importStep(fc.constantFrom("unsaid" as const, "apart" as const, "included" as const)),
);
const anyWorld = fc.constantFrom("UTC", "Asia/Kathmandu", "Europe/Berlin").map((zone) => () => {
  const world = new ProviderWorld(createCalendar(zone));
  world.import(statedCustomer(REQ_IDS.map((reqId) => statedConnection({ reqId }))), START);
  return world;
});

function fileOf(world: ProviderWorld, connections: readonly ConnectionInFile[]): StatedCustomer {
  const stated = connections.flatMap((connection, index) => {
    if (connection === "missing") return [];
    const reqId = REQ_IDS[index] as string;
    const subscriptions = connection.plans.flatMap((plan, which) => {
      const bouquet = which === 0 ? MONTHLY : ADD_ON;
      const shown = world.subscription(reqId, bouquet.plan);
      if (plan === "missing" || (plan === "as shown" && shown === undefined)) return [];
      const [from, to] = plan === "as shown" ? [shown?.start ?? 0, shown?.end ?? 0] : datesOf(plan);
      return [statedSubscription(wholeSecond(from), wholeSecond(to), bouquet, world.calendar)];
    });
    return [statedConnection({ reqId, status: connection.status, subscriptions })];
  });
  return statedCustomer(stated);
}

function datesOf({ startDay, seconds }: { readonly startDay: number; readonly seconds: number }): [Instant, Instant] {
  const start = START + startDay * DAY_MS;
  return [start, start + seconds * SECOND_MS];
}

function wholeSecond(instant: Instant): Instant {
  return Math.floor(instant / SECOND_MS) * SECOND_MS;
}

function connectionsOf(world: ProviderWorld): readonly Connection[] {
  return world.customer?.connections ?? [];
}

/** Plays the steps, and hands every import to `check` with the world before and after it. */
function play(
  world: ProviderWorld,
  steps: readonly Step[],
  check: (before: readonly Connection[], file: StatedCustomer, now: Instant) => void,
): void {
  let now = START;
  for (const step of steps) {
    now += step.afterMs;
    if (step.kind === "import") {
      const before = connectionsOf(world);
      const file = fileOf(world, step.connections);
      world.import(file, now, step.mode);
      check(before, file, now);
    } else if (step.kind === "reversal") {
      world.reverse({ service: "internet", reqId: step.reqId, plan: step.bouquet.plan }, now, step.which);
    } else if (world.connection(step.reqId) !== undefined) {
      if (step.kind === "goodwill") world.goodwill(step.reqId, now, step.days);
      else world.topUp(step.reqId, now, step.bouquet);
    }
  }
}

function granted(connections: readonly Connection[], now: Instant): [reqId: string, subscription: Subscription][] {
  return connections.flatMap(({ reqId, subscriptions }) =>
    subscriptions
      .filter((subscription) => isGranted(subscription, now))
      .map((subscription): [string, Subscription] => [reqId, subscription]),
  );
}

describe("any sequence of top-ups and imports", () => {
  const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 14 });

  test("never ends a run before its last top-up did, and lays on top what the records do not hold", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, (before, _file, now) => {
          for (const [reqId, { plan, end, grantedEnd, toppedUp }] of granted(before, now)) {
            const after = world.subscription(reqId, plan);
            expect(after?.grantedEnd).toBe(grantedEnd);
            expect(after?.end).toBeGreaterThanOrEqual(grantedEnd ?? end);
            // Less on top means that the records have taken it in, which moves no end.
            if (after?.end !== end) expect(after?.toppedUp).toEqual(toppedUp);
          }
        });
      }),
      RUNS,
    );
  });

  test("leaves a file nothing to say when it is imported once more", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, (_before, file, now) => {
          const once = world.customer;
          const again = world.import(file, now + SECOND_MS);
          expect(again).toMatchObject({ entries: [], addedCodes: [], removedCodes: [], removedConnections: [] });
          expect(world.customer).toEqual(once);
        });
      }),
      RUNS,
    );
  });

  test("leaves every subscription as its ledger folds", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, () => {
          for (const { service, reqId } of connectionsOf(world)) {
            for (const { plan } of ALL_BOUQUETS) {
              expect(world.folded({ service, reqId, plan })).toEqual(world.subscription(reqId, plan));
            }
          }
        });
      }),
      RUNS,
    );
  });
});

describe("any sequence of top-ups, goodwill, reversals and imports of any kind", () => {
  const anySteps = fc.array(anyStepOfAll, { minLength: 1, maxLength: 16 });

  test("leaves every subscription the fold of its ledger, and none ends before its last grant put it", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, () => {});
        const now = START + steps.reduce((sum, { afterMs }) => sum + afterMs, 0);
        for (const { service, reqId, subscriptions } of connectionsOf(world)) {
          for (const { plan, end, grantedEnd, toppedUp, span } of subscriptions) {
            expect(world.subscription(reqId, plan)).toEqual(world.folded({ service, reqId, plan }));
            if (grantedEnd !== undefined && grantedEnd > now) expect(end + SECOND_MS).toBeGreaterThan(grantedEnd);
            expect(toppedUp.months).toBeLessThanOrEqual(span.months);
            expect(toppedUp.days).toBeLessThanOrEqual(span.days);
          }
        }
      }),
      RUNS,
    );
  });

  test("and a top-up that is taken back at once leaves all as it was", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, () => {});
        const now = START + steps.reduce((sum, { afterMs }) => sum + afterMs, 0) + SECOND_MS;
        for (const reqId of REQ_IDS) {
          const before = world.subscription(reqId);
          if (world.connection(reqId) === undefined) continue;
          world.topUp(reqId, now, MONTHLY);
          const key = { service: "internet", reqId, plan: MONTHLY.plan } as const;
          const last = world.ledger(key).filter(({ kind }) => kind === "top_up").length;
          const gone = world.ledger(key).filter(({ kind }) => kind === "reversal").length;
          world.reverse(key, now, last - gone - 1);
          expect(world.subscription(reqId)).toEqual(before);
        }
      }),
      RUNS,
    );
  });
});
