import type { Observer } from "../services/partner/observer.ts";
import type { ObserveBatch, Store } from "../store/store.ts";
import { countBatches } from "./batches.ts";
import type { Family, Labels } from "./exposition.ts";
import { describeProcess, type ProcessFigures } from "./process-figures.ts";
import { countRequests } from "./requests.ts";
import { type MetricsAddress, type MetricsServer, serveMetrics } from "./server.ts";
import { askStore } from "./store-health.ts";
import { countTopUps } from "./top-ups.ts";

export interface MetricsOptions {
  /** Labels of what is running. */
  readonly build: Labels;
  /** Seconds since any fixed moment, on a clock that nobody sets. */
  readonly elapsed: () => number;
  readonly readProcess: () => ProcessFigures;
}

export type { MetricsServer } from "./server.ts";

export interface Metrics {
  readonly observer: Observer;
  readonly observeBatch: ObserveBatch;
  /** Serves them on an address of their own. Rejects as listening does. */
  readonly serve: (store: MeasuredStore, address: MetricsAddress) => Promise<MetricsServer>;
}

export type MeasuredStore = Pick<Store, "ping" | "provider">;

/** Counts from the start on; the store, which is opened with one of the counters, is known only when they are served. */
export function createMetrics({ build, elapsed, readProcess }: MetricsOptions): Metrics {
  const requests = countRequests();
  const topUps = countTopUps();
  const batches = countBatches(elapsed);
  const ask = askStore();
  const collect = async (store: MeasuredStore): Promise<Family[]> => {
    // The store may take its time: what is counted is read after it, so that all is of one moment.
    const health = await ask(store);
    return [
      ...requests.collect(),
      ...topUps.collect(store.provider.currencyExponent),
      ...batches.collect(),
      health,
      ...describeProcess(readProcess(), build),
    ];
  };
  return {
    observer: {
      requestAnswered: requests.requestAnswered,
      topUpRecorded: topUps.topUpRecorded,
      recordingChanged: topUps.recordingChanged,
    },
    observeBatch: batches.observeBatch,
    serve: (store, address) => serveMetrics(address, () => collect(store)),
  };
}
