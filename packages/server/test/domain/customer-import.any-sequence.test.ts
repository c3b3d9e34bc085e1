import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instant } from "../../src/domain/calendar.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { isGranted, type Subscription } from "../../src/domain/subscription.ts";
import { ALL_BOUQUETS, anyStep, anyWorld, connectionsOf, play } from "./any-steps.ts";
import { RUNS, SECOND_MS } from "./builders.ts";

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
