import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, MONTHLY, QUARTERLY, RUNS, SECOND_MS, UTC } from "./builders.ts";
import { fileWith, ProviderWorld } from "./provider-world.ts";

const START = at("2026-01-10");

/** What happens between a service and a provider whose records are right, but may be late. */
const EVENTS = ["month topped up", "quarter topped up", "month sold", "day given", "records sent"] as const;
const anyEvents = fc.array(fc.record({ event: fc.constantFrom(...EVENTS), takenIn: fc.nat({ max: 3 }) }), {
  maxLength: 12,
});

/** Months and days as the provider's records have them, and months topped up that they may not hold yet. */
interface Records {
  months: number;
  days: number;
  pending: number[];
}

const fileOf = ({ months, days }: Records) => fileWith(START, UTC.add(START, { months, days, seconds: 0 }));

function ticking(): () => number {
  let now = START;
  return () => {
    now += SECOND_MS;
    return now;
  };
}

function apply(event: (typeof EVENTS)[number], records: Records, world: ProviderWorld, now: number): void {
  if (event === "month sold") records.months += 1;
  if (event === "day given") records.days += 1;
  if (event !== "month topped up" && event !== "quarter topped up") return;
  const bouquet = event === "month topped up" ? MONTHLY : QUARTERLY;
  world.topUp("fiber1", now, bouquet);
  records.pending.push(bouquet.period.months);
}

describe("any sequence of top-ups, sales of the provider's own and files", () => {
  test("ends where records that hold the top-ups end, once they hold them all", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const [world, records] = [new ProviderWorld(), { months: 1, days: 0, pending: [] as number[] }];
        const tick = ticking();
        const send = (takenIn: number) => {
          for (const months of records.pending.splice(0, takenIn)) records.months += months;
          world.import(fileOf(records), tick(), "included");
        };
        send(0);
        for (const { event, takenIn } of events) {
          apply(event, records, world, tick());
          send(takenIn);
        }
        send(Number.POSITIVE_INFINITY);
        expect(world.endOf("fiber1")).toBe(
          UTC.format(fileOf(records).connections[0]?.subscriptions[0]?.end ?? 0).slice(0, 10),
        );
      }),
      RUNS,
    );
  });

  test("ends where records apart from the top-ups end, with all of the top-ups on top", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const [world, records] = [new ProviderWorld(), { months: 1, days: 0, pending: [] as number[] }];
        const tick = ticking();
        world.import(fileOf(records), tick(), "apart");
        for (const { event } of events) {
          apply(event, records, world, tick());
          world.import(fileOf(records), tick(), "apart");
        }
        const months = records.pending.reduce((sum, one) => sum + one, records.months);
        const end = UTC.add(START, { months, days: records.days, seconds: 0 });
        expect(world.endOf("fiber1")).toBe(UTC.format(end).slice(0, 10));
      }),
      RUNS,
    );
  });
});
