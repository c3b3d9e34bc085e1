import { expect, test } from "vitest";
import { countDeliveries } from "../../src/metrics/counters.ts";
import { mergeFamilies, writeMetrics } from "../../src/metrics/exposition.ts";
import { scraped } from "../support/measured-service.ts";

const GAUGES = ["topupd_delivery_lag_seconds", "topupd_deliveries_waiting", "topupd_deliveries_set_aside"];

test("attempts are counted by target and outcome, from 0 on", () => {
  const counts = countDeliveries();
  counts.targetObserved("tv", { lagMs: 0, waiting: 0, setAside: 0 });
  for (const outcome of ["delivered", "delivered", "failed"] as const) counts.deliveryEnded("billing", outcome);
  const { value } = scraped(writeMetrics(counts.collect()));
  const count = (target: string, outcome: string) => value("topupd_deliveries_total", { target, outcome });
  expect([count("tv", "delivered"), count("tv", "failed")]).toEqual([0, 0]);
  expect([count("billing", "delivered"), count("billing", "failed")]).toEqual([2, 1]);
});

test("how far a target is, the process tells that delivers to it, and none once it does so no more", () => {
  const [first, second] = [countDeliveries(), countDeliveries()];
  first.targetObserved("tv", { lagMs: 1500, waiting: 3, setAside: 1 });
  second.targetObserved("billing", { lagMs: 0, waiting: 0, setAside: 0 });
  const read = () => scraped(writeMetrics(mergeFamilies([first.collect(), second.collect()])));
  expect(GAUGES.map((name) => read().value(name, { target: "tv" }))).toEqual([1.5, 3, 1]);
  first.targetObserved("tv", undefined);
  second.targetObserved("tv", { lagMs: 2500, waiting: 2, setAside: 1 });
  expect(GAUGES.map((name) => read().value(name, { target: "tv" }))).toEqual([2.5, 2, 1]);
  expect(GAUGES.map((name) => read().value(name, { target: "billing" }))).toEqual([0, 0, 0]);
});
