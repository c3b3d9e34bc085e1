import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createHistogram } from "../../src/metrics/histogram.ts";

/** What a histogram tells of some values: how many reached each bucket, and the sum. */
function told(bounds: readonly number[], values: readonly number[]) {
  const histogram = createHistogram({ name: "topupd_x", description: "x", bounds });
  const { record } = histogram.series({ operation: "a" });
  for (const value of values) record(value);
  const { samples } = histogram.collect();
  const of = (suffix: string) => samples.filter((sample) => sample.suffix === suffix).map(({ value }) => value);
  return { buckets: of("_bucket"), sum: of("_sum"), count: of("_count") };
}

describe("a histogram", () => {
  test("counts a value in each bucket whose bound it does not pass, and in a last one all", () => {
    expect(told([1, 2, 4], [0, 1, 1.5, 2, 4, 4.5, 100])).toEqual({ buckets: [2, 4, 5, 7], sum: [113], count: [7] });
  });

  test("counts every value once, whatever the values and bounds", () => {
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
    const histogram = createHistogram({ name: "topupd_x", description: "x", bounds: [1] });
    const [first, second] = ["a", "b"].map((operation) => histogram.series({ operation }));
    first?.record(0.5);
    second?.record(2);
    second?.record(3);
    const counts = histogram.collect().samples.filter(({ suffix }) => suffix === "_count");
    const points = counts.map(({ labels, value }) => [labels["operation"], value]);
    expect(points).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  });
});
