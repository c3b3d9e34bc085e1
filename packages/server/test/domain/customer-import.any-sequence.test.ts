import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instant } from "../../src/domain/calendar.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { isGranted, type Subscription } from "../../src/domain/subscription.ts";
import {
  ALL_BOUQUETS,
  anyStep,
  anyStepAndLoss,
  anyStepOfAll,
  anyWorld,
  connectionsOf,
  play,
  REQ_IDS,
  START,
} from "./any-steps.ts";
import { MONTHLY, RUNS, SECOND_MS } from "./builders.ts";

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

test("an import gives back what ledgers still hold of what was removed by hand", () => {
  fc.assert(
    fc.property(anyWorld, fc.array(anyStepAndLoss, { minLength: 2, maxLength: 16 }), (makeWorld, steps) => {
      const world = makeWorld();
      play(world, steps, (_before, file) => {
        for (const { service, reqId, subscriptions } of file.connections) {
          for (const { plan } of subscriptions) {
            expect(world.subscription(reqId, plan)).toEqual(world.folded({ service, reqId, plan }));
          }
        }
      });
    }),
    RUNS,
  );
});
