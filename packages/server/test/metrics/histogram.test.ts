import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createHistogram } from "../../src/metrics/histogram.ts";

function histogramOf(bounds: readonly number[], values: readonly number[]) {
  const histogram = createHistogram({ name: "topupd_x", description: "x", bounds });
  const { record } = histogram.series({ operation: "a" });
  for (const value of values) record(value);
  const [point] = histogram.data().dataPoints;
  return point?.value;
}

describe("a histogram", () => {
  test("puts a value into the first bucket whose bound it does not pass, and what passes all into one more", () => {
    expect(histogramOf([1, 2, 4], [0, 1, 1.5, 2, 4, 4.5, 100])).toEqual({
      buckets: { boundaries: [1, 2, 4], counts: [2, 2, 1, 2] },
      sum: 113,
      count: 7,
    });
  });

  test("counts every value once, whatever the values and bounds", () => {
    const number = fc.integer({ min: 0, max: 1000 });
    const bounds = fc.uniqueArray(number, { minLength: 1 }).map((all) => all.sort((a, b) => a - b));
    fc.assert(
      fc.property(bounds, fc.array(number), (bounds, values) => {
        const { buckets, count, sum } = histogramOf(bounds, values) ?? {};
        expect([count, sum]).toEqual([values.length, values.reduce((total, value) => total + value, 0)]);
        const upTo = bounds.map((_, index) => buckets?.counts.slice(0, index + 1).reduce((a, b) => a + b, 0));
        expect(upTo).toEqual(bounds.map((bound) => values.filter((value) => value <= bound).length));
      }),
    );
  });

  test("keeps its series apart", () => {
    const histogram = createHistogram({ name: "topupd_x", description: "x", bounds: [1] });
    const [first, second] = ["a", "b"].map((operation) => histogram.series({ operation }));
    first?.record(0.5);
    second?.record(2);
    second?.record(3);
    const points = histogram.data().dataPoints.map(({ attributes, value }) => [attributes["operation"], value.count]);
    expect(points).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  });
});
