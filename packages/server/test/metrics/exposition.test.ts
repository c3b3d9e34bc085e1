import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countersOf,
  type Family,
  Histogram,
  mergeFamilies,
  single,
  writeMetrics,
} from "../../src/metrics/exposition.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { readMetrics } from "../support/metrics-text.ts";
import { prepareTopUp } from "../support/service.ts";

test("a scrape has these metrics, each of its kind", async () => {
  const { service, read } = await startMeasuredService();
  const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
  await service.call("subscription-package-topup", purchase);
  const types = [...(await read()).families.values()].map(({ name, type }) => [name, type]);
  expect(Object.fromEntries(types)).toEqual({
    topupd_requests_total: "counter",
    topupd_request_duration_seconds: "histogram",
    topupd_top_ups_total: "counter",
    topupd_top_up_amount_total: "counter",
    topupd_batch_size: "histogram",
    topupd_commit_duration_seconds: "histogram",
    topupd_failed_batches_total: "counter",
    topupd_problem: "gauge",
    topupd_failed_log_ins_total: "counter",
    topupd_deliveries_total: "counter",
    topupd_delivery_lag_seconds: "gauge",
    topupd_deliveries_waiting: "gauge",
    topupd_deliveries_set_aside: "gauge",
    topupd_service_duration_seconds: "histogram",
    topupd_store_up: "gauge",
    topupd_event_loop_delay_seconds: "gauge",
    topupd_heap_used_bytes: "gauge",
    process_resident_memory_bytes: "gauge",
    process_open_fds: "gauge",
    process_max_fds: "gauge",
    process_cpu_seconds_total: "counter",
    process_start_time_seconds: "gauge",
    topupd_build_info: "gauge",
  });
});

test("any labels and numbers are given back as they were", () => {
  const odd = fc.constantFrom('"', "\\", "\n", "\r", "\0", "n", "{", "}", ",", "=", "#", " ");
  const label = fc.string({ unit: fc.oneof(odd, fc.string({ unit: "binary", minLength: 1, maxLength: 1 })) });
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.uniqueArray(label, { minLength: 1 }), number, (partners, value) => {
      const samples = partners.map((partner) => ({ labels: { partner, outcome: "success" }, value }));
      const family: Family = { name: "topupd_x", type: "gauge", description: "Any.", samples };
      const told = samples.map(({ labels }) => ({ name: "topupd_x", labels, value: value + 0, text: String(value) }));
      expect(readMetrics(writeMetrics([family])).get("topupd_x")?.samples).toEqual(told);
    }),
  );
});

test("any decimal is given back digit by digit", () => {
  const samples = [{ labels: {}, value: "98765432109876543.21" }];
  expect(writeMetrics([{ name: "topupd_x_total", type: "counter", description: "Any.", samples }])).toBe(
    "# HELP topupd_x_total Any.\n# TYPE topupd_x_total counter\ntopupd_x_total 98765432109876543.21\n",
  );
});

/** A histogram's count of each bucket, and the sum, for some values. */
function told(bounds: readonly number[], values: readonly number[]) {
  const histogram = new Histogram({ name: "topupd_x", description: "x", bounds });
  for (const value of values) histogram.record(value);
  const { samples } = histogram.collect();
  const of = (suffix: string) => samples.filter((sample) => sample.suffix === suffix).map(({ value }) => value);
  return { buckets: of("_bucket"), sum: of("_sum"), count: of("_count") };
}

describe("a histogram", () => {
  test("counts a value in each bucket whose bound it does not pass, and in a last one all", () => {
    expect(told([1, 2, 4], [0, 1, 1.5, 2, 4, 4.5, 100])).toEqual({ buckets: [2, 4, 5, 7], sum: [113], count: [7] });
  });

  test("counts every value once, for any values and bounds", () => {
    const number = fc.integer({ min: 0, max: 1000 });
    const bounds = fc.uniqueArray(number, { minLength: 1 }).map((all) => all.sort((a, b) => a - b));
    fc.assert(
      fc.property(bounds, fc.array(number), (bounds, values) => {
        expect(told(bounds, values)).toEqual({
          buckets: [...bounds, Number.POSITIVE_INFINITY].map(
            (bound) => values.filter((value) => value <= bound).length,
          ),
          sum: [values.reduce((total, value) => total + value, 0)],
          count: [values.length],
        });
      }),
    );
  });

  test("keeps its series apart", () => {
    const histogram = new Histogram({ name: "topupd_x", description: "x", bounds: [1], label: "operation" });
    histogram.record(0.5, "a");
    histogram.record(2, "b");
    histogram.record(3, "b");
    const counts = histogram.collect().samples.filter(({ suffix }) => suffix === "_count");
    const points = counts.map(({ labels, value }) => [labels["operation"], value]);
    expect(points).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  });
});

const counter = (samples: Family["samples"]): Family => ({ name: "c", type: "counter", description: "", samples });

test("counters, histograms and money of processes are added up, series by series", () => {
  const one = counter([
    { labels: { a: "1" }, value: 1 },
    { labels: { a: "2" }, value: "10.05" },
    { suffix: "_sum", labels: { a: "1" }, value: 0.5 },
  ]);
  const two = counter([
    { labels: { a: "1" }, value: 2 },
    { labels: { a: "2" }, value: "0.95" },
    { labels: { a: "3" }, value: 7 },
  ]);
  expect(mergeFamilies([[one], [two]])[0]?.samples).toEqual([
    { labels: { a: "1" }, value: 3 },
    { labels: { a: "2" }, value: "11.00" },
    { suffix: "_sum", labels: { a: "1" }, value: 0.5 },
    { labels: { a: "3" }, value: 7 },
  ]);
});

test.each([
  ["process_resident_memory_bytes", 5],
  ["topupd_store_up", 0],
  ["process_start_time_seconds", 5],
])("of the gauge %s, 0 and 5 come to %d", (name, expected) => {
  const told = [0, 5].map((value) => [single("gauge", name, "", value)]);
  expect(mergeFamilies(told)[0]?.samples[0]?.value).toBe(expected);
});

test("amounts without decimals are added too", () => {
  const amount = (value: string) => [counter([{ labels: {}, value }])];
  expect(mergeFamilies([amount("99"), amount("2")])[0]?.samples[0]?.value).toBe("101");
});

test("of a process that has ended, gauges are forgotten", () => {
  expect(countersOf([single("gauge", "g", "", 1), single("counter", "c", "", 2)]).map(({ name }) => name)).toEqual([
    "c",
  ]);
});
