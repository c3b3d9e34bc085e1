import { expect, test } from "vitest";
import type { Transaction } from "../../src/domain/transaction.ts";
import { countRequests, countTopUps } from "../../src/metrics/counters.ts";
import { FigureWindow } from "../../src/metrics/service-figures.ts";

const MINUTE_MS = 60_000;
const TOP_UP = { name: "subscription-package-topup", version: "v1.0.1" };
const CALLER = { partnerId: 1, partnerName: "wallet", tokenId: "tok", environment: "production" } as const;

/** The counters of a service, as its processes send them. */
function openCounters() {
  const [requests, topUps] = [countRequests(), countTopUps()];
  return {
    answer: (outcome: string, seconds: number, times = 1) => {
      for (let time = 0; time < times; time += 1) requests.requestAnswered(TOP_UP, CALLER, outcome, seconds);
    },
    topUp: () => topUps.topUpRecorded({ service: "tv", environment: "production", amount: 45_000n } as Transaction),
    read: () => JSON.parse(JSON.stringify([...requests.collect(), ...topUps.collect(2)])),
  };
}

test("figures tell what happened in the last five minutes, and not before", () => {
  const { answer, topUp, read } = openCounters();
  const figures = new FigureWindow(0);
  const workers = (restarts: number) => [{ role: "worker", count: 2, unavailable: 0, restarts }];
  answer("success", 0.02, 99);
  answer("unavailable", 0.4);
  topUp();
  const first = figures.add(MINUTE_MS, read(), workers(1));
  expect(first).toMatchObject({
    minutes: 1,
    topUpsAMinute: 1,
    callsAMinute: 100,
    refused: 1,
    restarts: 1,
    processes: workers(1),
  });
  expect(first.refusals).toEqual([{ reason: "unavailable", count: 1 }]);
  const [answers] = first.answers;
  expect([answers?.operation, answers?.count]).toEqual([TOP_UP.name, 100]);
  // 99 of 100 are in the bucket up to 25 ms: half of them within its middle, all within its end.
  expect(answers?.p50).toBeCloseTo(0.01 + 0.015 * (50 / 99));
  expect(answers?.p99).toBeCloseTo(0.025);

  answer("amount_mismatch", 60, 3);
  answer("replayed", 0.02);
  topUp();
  topUp();
  const later = figures.add(6 * MINUTE_MS, read(), workers(1));
  expect(later).toMatchObject({
    minutes: 5,
    topUpsAMinute: 0.4,
    callsAMinute: 0.8,
    refused: 3,
    restarts: 0,
    allRestarts: 1,
  });
  expect(later.refusals).toEqual([{ reason: "amount_mismatch", count: 3 }]);
  // Beyond the last bucket, the time is at least its bound.
  expect(later.answers[0]).toMatchObject({ count: 4, p99: 10 });
  expect(figures.add(12 * MINUTE_MS, read(), workers(1))).toMatchObject({ topUpsAMinute: 0, answers: [], refused: 0 });
});
