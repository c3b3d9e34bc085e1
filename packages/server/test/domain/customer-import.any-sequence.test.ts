import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instant } from "../../src/domain/calendar.ts";
import type { Connection } from "../../src/domain/customer.ts";
import type { Period } from "../../src/domain/period.ts";
import { type Grant, isGranted, type Subscription } from "../../src/domain/subscription.ts";
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
import { fileWith, ProviderWorld, statedConnection, statedCustomer } from "./provider-world.ts";

function granted(connections: readonly Connection[], now: Instant): [reqId: string, subscription: Subscription][] {
  return connections.flatMap(({ reqId, subscriptions }) =>
    subscriptions
      .filter((subscription) => isGranted(subscription, now))
      .map((subscription): [string, Subscription] => [reqId, subscription]),
  );
}

/** By so much at most may records end earlier that had held top-ups, and are corrected after these were reversed. */
function reversedIn(ledger: readonly Grant[]): number {
  const gone = new Set(ledger.flatMap((grant) => (grant.kind === "reversal" ? [grant.checkoutId] : [])));
  return ledger.reduce((sum, grant) => {
    if (grant.kind !== "top_up" || !gone.has(grant.checkoutId)) return sum;
    return sum + (31 * grant.period.months + grant.period.days) * LONGEST_DAY_MS;
  }, 0);
}

/** Where clocks are put back. */
const LONGEST_DAY_MS = 25 * 60 * 60 * SECOND_MS;

describe("any sequence of top-ups and imports", () => {
  const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 14 });

  test("never ends a run before its last top-up did, and lays on top what the records do not hold", () => {
    fc.assert(
      fc.property(anyWorld, anySteps, (makeWorld, steps) => {
        const world = makeWorld();
        play(world, steps, (before, _file, now) => {
          for (const [reqId, { plan, end, grantedEnd, onTop }] of granted(before, now)) {
            const after = world.subscription(reqId, plan);
            expect(after?.grantedEnd).toBe(grantedEnd);
            // Records tell whole seconds.
            expect((after?.end ?? 0) + SECOND_MS).toBeGreaterThan(grantedEnd ?? end);
            // Less on top means that the records have taken it in, which moves no end, or that it has been used up: what
            // is left then leads from where the new records begin to where the run ended, and hardly beyond.
            if (after === undefined || after.end === end || isDeepStrictEqual(after.onTop, onTop)) continue;
            const endWith = (onTop: Period) => world.calendar.add(after.start, { ...onTop, seconds: 0 });
            // More than there was is what a corrected word had taken off. Where that had left days of a month, the month is
            // more, though there are months that are shorter than these days: months are used up first.
            const [months, days] = [after.onTop.months - onTop.months, after.onTop.days - onTop.days];
            if (months > 0 || (months === 0 && days > 0)) continue;
            expect(endWith(after.onTop)).toBeGreaterThanOrEqual(end);
            expect(endWith(after.onTop) - end).toBeLessThanOrEqual(LONGEST_DAY_MS);
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
          for (const { plan, end, grantedEnd, onTop, span } of subscriptions) {
            expect(world.subscription(reqId, plan)).toEqual(world.folded({ service, reqId, plan }));
            const reversedMs = reversedIn(world.ledger({ service, reqId, plan }));
            if (grantedEnd !== undefined && grantedEnd > now)
              expect(end + reversedMs + SECOND_MS).toBeGreaterThan(grantedEnd);
            expect(onTop.months).toBeLessThanOrEqual(span.months);
            expect(onTop.days).toBeLessThanOrEqual(span.days);
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

test("whatever was removed by hand, an import leaves every subscription of its connections as its ledger folds", () => {
  fc.assert(
    fc.property(anyWorld, fc.array(anyStepAndLoss, { minLength: 2, maxLength: 16 }), (makeWorld, steps) => {
      const world = makeWorld();
      play(world, steps, () => {
        for (const { service, reqId } of connectionsOf(world)) {
          for (const { plan } of ALL_BOUQUETS)
            expect(world.subscription(reqId, plan)).toEqual(world.folded({ service, reqId, plan }));
        }
      });
    }),
    { ...RUNS, numRuns: 1_000 },
  );
});

test("a connection that is paid for stays with an import, though its subscriptions were removed by hand", () => {
  const world = new ProviderWorld();
  world.import(statedCustomer([statedConnection()]), START);
  world.topUp("fiber1", START);
  const paid = world.subscription("fiber1");
  world.lose("subscriptions", "fiber1");
  world.import(statedCustomer([]), START + SECOND_MS);
  expect(world.subscription("fiber1")).toEqual(paid);
});

test("an inactive connection that is paid for is active again, though only its ledgers were left", () => {
  const world = new ProviderWorld();
  const file = statedCustomer([statedConnection({ status: "inactive" })]);
  world.import(file, START);
  world.topUp("fiber1", START);
  world.lose("connection", "fiber1");
  world.import(file, START + SECOND_MS);
  expect(world.connection("fiber1")?.toppedUp).toBe(true);
});

test("what only ledgers are left of is withdrawn where nobody paid for it and no file states it", () => {
  const world = new ProviderWorld();
  world.import(fileWith("2026-01-01", "2027-01-01"), START);
  world.lose("customer", "fiber1");
  world.import(statedCustomer([]), START + SECOND_MS);
  expect(world.folded({ service: "internet", reqId: "fiber1", plan: MONTHLY.plan })).toBeUndefined();
});
