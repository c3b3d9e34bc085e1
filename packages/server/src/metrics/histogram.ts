import type { Family, Labels, Sample } from "./exposition.ts";

export interface HistogramOptions {
  readonly name: string;
  readonly description: string;
  /** Upper bounds of the buckets, rising. A last bucket without a bound is added. */
  readonly bounds: readonly number[];
}

/** What was measured under one set of labels. */
export interface Series {
  readonly record: (value: number) => void;
}

export interface Histogram {
  /** To be kept: each call makes a series of its own. */
  readonly series: (labels?: Labels) => Series;
  /** All that was recorded. */
  readonly collect: () => Family;
}

/** A histogram that finds its series once, and then only counts. */
export function createHistogram({ name, description, bounds }: HistogramOptions): Histogram {
  const written = [...bounds.map((bound) => (Number.isInteger(bound) ? `${bound}.0` : String(bound))), "+Inf"];
  const all: (() => Sample[])[] = [];
  return {
    series(labels = {}) {
      const counts = written.map(() => 0);
      const bucketLabels = written.map((le) => ({ ...labels, le }));
      let sum = 0;
      all.push(() => {
        let count = 0;
        const buckets = bucketLabels.map((labels, index) => {
          count += counts[index] as number;
          return { suffix: "_bucket", labels, value: count };
        });
        return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: count }];
      });
      return {
        record(measured) {
          let bucket = 0;
          while (bucket < bounds.length && measured > (bounds[bucket] as number)) bucket += 1;
          counts[bucket] = (counts[bucket] as number) + 1;
          sum += measured;
        },
      };
    },
    collect: () => ({ name, type: "histogram", description, samples: all.flatMap((samples) => samples()) }),
  };
}
