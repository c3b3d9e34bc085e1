import type { Meter } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";

/** Far more than partners, outcomes and operations make together; beyond, the SDK puts what is new into one. */
const MAX_SERIES = 20_000;

/** The form of the text: Prometheus's, version 0.0.4, which every scraper reads. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A meter, and the text of all that was measured by it. */
export interface ReadableMeter {
  readonly meter: Meter;
  readonly read: () => Promise<string>;
}

export function createMeter(): ReadableMeter {
  const reader = new PulledReader({ cardinalitySelector: () => MAX_SERIES });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("topupd");
  // No timestamps, and nothing of the SDK's own: neither its resource nor its scope say more than build_info.
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return { meter, read: async () => serializer.serialize((await reader.collect()).resourceMetrics) };
}

/** Reads when it is asked; the exporter's own reader would bring a server, and settings by variables, of its own. */
class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}
