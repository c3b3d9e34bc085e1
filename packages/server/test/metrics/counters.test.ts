import { describe, expect, test } from "vitest";
import { transactionOf } from "../../src/domain/transaction.ts";
import { countDeliveries, countTopUps } from "../../src/metrics/counters.ts";
import { type Family, mergeFamilies, writeMetrics } from "../../src/metrics/exposition.ts";
import { momentOf } from "../domain/builders.ts";
import { commandWith, NOW } from "../domain/purchase.ts";
import { scraped, startMeasuredService, TICK_SECONDS } from "../support/measured-service.ts";
import { prepareTopUp } from "../support/service.ts";

const TOP_UP = transactionOf(commandWith(), momentOf(NOW), 0n);
const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** Values above zero of a counter, as text, by `environment service`. */
function takings(families: readonly Family[], name: string): Record<string, string> {
  const samples = scraped(writeMetrics(families)).samples(name);
  expect(samples).toHaveLength(6);
  const sold = samples.filter(({ value }) => value !== 0);
  return Object.fromEntries(sold.map(({ labels, text }) => [`${labels["environment"]} ${labels["service"]}`, text]));
}

describe("top-ups and their money", () => {
  test("are 0 for every service and environment before the first", () => {
    const families = countTopUps().collect(2);
    expect(takings(families, "topupd_top_ups_total")).toEqual({});
    expect(takings(families, "topupd_top_up_amount_total")).toEqual({});
  });

  test.each([
    [2, 10n, "0.3"],
    [2, 900_000_000_000_001n, "27000000000000.03"],
    [3, 12_345n, "37.035"],
    [0, 1n, "3"],
  ])("are summed up without a rounding, in major units of a currency with %i decimals", (exponent, amount, sum) => {
    const counts = countTopUps();
    // 0.1 + 0.1 + 0.1 is 0.30000000000000004 in floats.
    for (let time = 0; time < 3; time += 1)
      counts.topUpRecorded({ ...TOP_UP, service: "internet", environment: "production", amount });
    counts.topUpRecorded({ ...TOP_UP, service: "tv", environment: "trial", amount: 10n ** BigInt(exponent) });
    const families = counts.collect(exponent);
    expect(takings(families, "topupd_top_ups_total")).toEqual({ "production internet": "3", "trial tv": "1" });
    expect(takings(families, "topupd_top_up_amount_total")).toEqual({ "production internet": sum, "trial tv": "1" });
  });
});

describe("top-ups of a service", () => {
  test("are counted once each, with the size of their batches and the time of their commits", async () => {
    const { service, read } = await startMeasuredService();
    const before = await read();
    const names = ["topupd_batch_size_count", "topupd_commit_duration_seconds_count", "topupd_failed_batches_total"];
    expect(names.map((name) => before.value(name))).toEqual([0, 0, 0]);
    for (let time = 0; time < 3; time += 1) {
      const purchase = await prepareTopUp(service, FIBER);
      expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    }
    const { value } = await read();
    expect(names.map((name) => value(name))).toEqual([3, 3, 0]);
    expect(value("topupd_batch_size_sum")).toBe(3);
    expect(value("topupd_batch_size_bucket", { le: "1.0" })).toBe(3);
    expect(value("topupd_commit_duration_seconds_sum")).toBe(3 * TICK_SECONDS);
    const upTo = (le: string) => value("topupd_commit_duration_seconds_bucket", { le });
    expect([upTo("0.1"), upTo("0.25")]).toEqual([0, 3]);
  });

  test("are not counted for a replay or a refusal", async () => {
    const { service, read } = await startMeasuredService();
    const purchase = await prepareTopUp(service, FIBER);
    expect((await service.call("subscription-package-topup", { ...purchase, amt: "0.01" })).status).toBe(422);
    for (const version of ["v1.0.1", "v1.0.1", "v1.0.0"] as const)
      expect((await service.call("subscription-package-topup", purchase, { version })).status).toBe(200);
    const { value } = await read();
    const labels = { environment: "trial", service: "internet" };
    expect(value("topupd_top_ups_total", labels)).toBe(1);
    expect(value("topupd_top_up_amount_total", labels)).toBe(Number(purchase["amt"]));
  });
});

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
