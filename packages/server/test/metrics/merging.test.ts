import { expect, test } from "vitest";
import { countersOf, type Family, mergeFamilies, single } from "../../src/metrics/exposition.ts";

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
