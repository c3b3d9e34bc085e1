import { ValueType } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType, type HistogramMetricData } from "@opentelemetry/sdk-metrics";

export interface HistogramOptions {
  readonly name: string;
  readonly description: string;
  /** Upper bounds of the buckets, rising; a last one without a bound is added. */
  readonly bounds: readonly number[];
}

/** What was measured under one set of labels. */
export interface Series {
  readonly record: (value: number) => void;
}

export interface Histogram {
  /** To be kept: each call makes a series of its own. */
  readonly series: (labels?: Readonly<Record<string, string>>) => Series;
  /** All that was recorded, in the SDK's form. */
  readonly data: () => HistogramMetricData;
}

/** No timestamps go out, so none are kept. */
const NO_TIME: [number, number] = [0, 0];

/**
 * A histogram that finds its series once, and then only counts. The SDK's own looks at the labels anew for each value,
 * and that for every request.
 */
export function createHistogram({ name, description, bounds }: HistogramOptions): Histogram {
  const boundaries = [...bounds];
  const dataPoints: HistogramMetricData["dataPoints"] = [];
  return {
    series(labels = {}) {
      const value = { buckets: { boundaries, counts: [...bounds, 0].map(() => 0) }, sum: 0, count: 0 };
      dataPoints.push({ startTime: NO_TIME, endTime: NO_TIME, attributes: labels, value });
      const { counts } = value.buckets;
      return {
        record(measured) {
          let bucket = 0;
          while (bucket < boundaries.length && measured > (boundaries[bucket] as number)) bucket += 1;
          counts[bucket] = (counts[bucket] as number) + 1;
          value.sum += measured;
          value.count += 1;
        },
      };
    },
    data: () => ({
      descriptor: { name, description, unit: "", valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints,
    }),
  };
}
