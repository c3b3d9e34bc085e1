import type { Meter } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { createHistogram, type Histogram, type HistogramOptions } from "./histogram.ts";

const SCOPE = "topupd";

/** Partners, outcomes and operations bound them; the SDK's own limit would let one count overwrite another. */
const MAX_SERIES = Number.MAX_SAFE_INTEGER;

/** The form of the text: Prometheus's, version 0.0.4, which every scraper reads. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** What measures, and the text of all that was measured by it. */
export interface Measuring {
  /** For what is asked when somebody reads. */
  readonly meter: Meter;
  /** For what is measured as it happens. */
  readonly histogram: (options: HistogramOptions) => Histogram;
  readonly read: () => Promise<string>;
}

export function createMeasuring(): Measuring {
  const reader = new PulledReader({ cardinalitySelector: () => MAX_SERIES });
  const meter = new MeterProvider({ readers: [reader] }).getMeter(SCOPE);
  const histograms: Histogram[] = [];
  // No timestamps, and nothing of the SDK's own: neither its resource nor its scope say more than build_info.
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return {
    meter,
    histogram(options) {
      const histogram = createHistogram(options);
      histograms.push(histogram);
      return histogram;
    },
    async read() {
      const { resource, scopeMetrics } = (await reader.collect()).resourceMetrics;
      const measured = { scope: { name: SCOPE }, metrics: histograms.map(({ data }) => data()) };
      return serializer.serialize({ resource, scopeMetrics: [...scopeMetrics, measured] });
    },
  };
}

/** Reads when it is asked; the exporter's own reader would bring a server, and settings by variables, of its own. */
class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}
