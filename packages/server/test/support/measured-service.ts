import { onTestFinished } from "vitest";
import { serveMetrics } from "../../src/metrics/exposition.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { readMetrics, type Sample } from "./metrics-text.ts";
import { type OpenOptions, startTestService } from "./service.ts";

export type MeasuredService = Awaited<ReturnType<typeof startMeasuredService>>;

/** A quarter of a second passes each time that somebody looks at the stopwatch. */
export const TICK_SECONDS = 0.25;

/** A service with its metrics, on a port of their own. */
export async function startMeasuredService(options: Partial<OpenOptions> = {}) {
  let elapsed = 0;
  const metrics = createMetrics({
    build: { version: "1.2.3", node: "v20.20.0", store: "sqlite" },
    elapsed: () => (elapsed += TICK_SECONDS),
    readProcess: () => ({
      startedAtSeconds: 1_795_000_000.5,
      cpuSeconds: 12.5,
      residentBytes: 100_000_000,
      heapUsedBytes: 40_000_000,
      openFiles: { open: 34, most: 65_536 },
      delay: { p50Seconds: 0.0001, p99Seconds: 0.002, maxSeconds: 0.03 },
    }),
  });
  const { observer, observeBatch, deliveryObserver, observeProblems } = metrics;
  const observing = { observer: { ...observer, recordingChanged: () => {} }, observeBatch };
  const service = await startTestService({ ...options, ...observing });
  const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, () => metrics.collect(service.store));
  onTestFinished(() => server.close());
  const scrape = async () => {
    const response = await fetch(`${server.url}/metrics`);
    if (response.status !== 200) throw new Error(`the scrape was answered with ${response.status}`);
    return response.text();
  };
  return {
    service,
    deliveryObserver,
    observeProblems,
    url: server.url,
    scrape,
    read: async () => scraped(await scrape()),
  };
}

/** The metrics of a scrape, strictly read. */
export function scraped(text: string) {
  const families = readMetrics(text);
  const all = [...families.values()].flatMap((family) => family.samples);
  /** The samples of one name, such as `topupd_batch_size_sum`. */
  const samples = (name: string): readonly Sample[] => all.filter((sample) => sample.name === name);
  return {
    families,
    samples,
    /** The value of the one sample that has these labels, among others. */
    value: (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined => {
      const fitting = samples(name).filter((sample) =>
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      if (fitting.length > 1) throw new Error(`${name} has ${fitting.length} series with ${JSON.stringify(labels)}`);
      return fitting[0]?.value;
    },
  };
}
