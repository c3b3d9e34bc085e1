import fc from "fast-check";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { createCalendar, type Instant } from "../../src/domain/calendar.ts";
import type { Connection, ConnectionStatus } from "../../src/domain/customer.ts";
import type { ImportMode } from "../../src/domain/customer-import.ts";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import { ADD_ON, at, DAY_MS, MONTHLY, QUARTERLY, SECOND_MS } from "./builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

/* Top-ups, corrections and imports of one customer, as fast-check makes them up. */

export const START = at("2026-01-31T22:15:30Z");
export const REQ_IDS = ["fiber1", "fiber2"] as const;
const DAILY: Bouquet = { ...MONTHLY, code: "NET-1D", period: { months: 0, days: 1 } };
export const ALL_BOUQUETS = [MONTHLY, QUARTERLY, DAILY, ADD_ON];

/** What a file says of one plan: nothing, what the service shows, or dates of the provider's own. */
type PlanInFile = "missing" | "as shown" | { readonly startDay: number; readonly seconds: number };

type ConnectionInFile = "missing" | { readonly status: ConnectionStatus; readonly plans: readonly PlanInFile[] };

export type Step = { readonly afterMs: number } & (
  | { readonly kind: "top_up"; readonly reqId: string; readonly bouquet: Bouquet }
  | { readonly kind: "take_back"; readonly reqId: string; readonly days: number }
  | { readonly kind: "goodwill"; readonly reqId: string; readonly days: number }
  | { readonly kind: "reversal"; readonly reqId: string; readonly bouquet: Bouquet; readonly which: number }
  | { readonly kind: "loss"; readonly what: Parameters<ProviderWorld["lose"]>[0]; readonly reqId: string }
  | { readonly kind: "import"; readonly mode: ImportMode; readonly connections: readonly ConnectionInFile[] }
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
    kind: fc.constantFrom("goodwill" as const, "take_back" as const),
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
const importStep = (anyMode: fc.Arbitrary<ImportMode>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant("import" as const),
    afterMs: anyPause,
    mode: anyMode,
    connections: fc.tuple(anyConnection, anyConnection),
  });
const anyLoss: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("loss" as const),
  afterMs: anyPause,
  what: fc.constantFrom("customer" as const, "connection" as const, "subscriptions" as const),
  reqId: fc.constantFrom(...REQ_IDS),
});
export const anyStep = fc.oneof(anyTopUpStep, importStep(fc.constant("unsaid" as const)));
export const anyStepOfAll = fc.oneof(
  anyTopUpStep,
  anyCorrection,
  importStep(fc.constantFrom("unsaid" as const, "apart" as const, "included" as const)),
);
/** And resets, and a careless hand that removes something past all rules. */
export const anyStepAndLoss = fc.oneof(
  { arbitrary: anyStepOfAll, weight: 6 },
  { arbitrary: anyLoss, weight: 3 },
  { arbitrary: importStep(fc.constant("reset" as const)), weight: 1 },
);
export const anyWorld = fc.constantFrom("UTC", "Asia/Kathmandu", "Europe/Berlin").map((zone) => () => {
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

export function connectionsOf(world: ProviderWorld): readonly Connection[] {
  return world.customer?.connections ?? [];
}

/** Plays the steps, and hands every import to `check` with the world before and after it. */
export function play(
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
    } else if (step.kind === "loss") {
      world.lose(step.what, step.reqId);
    } else if (step.kind === "reversal") {
      world.reverse({ service: "internet", reqId: step.reqId, plan: step.bouquet.plan }, now, step.which);
    } else if (world.connection(step.reqId) !== undefined) {
      if (step.kind === "take_back") world.takeBack(step.reqId, now, step.days);
      else if (step.kind === "goodwill") world.goodwill(step.reqId, now, step.days);
      else world.topUp(step.reqId, now, step.bouquet);
    }
  }
}
