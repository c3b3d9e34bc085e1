import type { Observer } from "../operations/observer.ts";
import type { ObserveBatch, Store } from "../store/store.ts";
import { countBatches } from "./batches.ts";
import { measureProcess, type ProcessFigures } from "./process-figures.ts";
import { createMeasuring } from "./reader.ts";
import { countRequests } from "./requests.ts";
import { type MetricsServer, serveMetrics } from "./server.ts";
import { measureStore } from "./store-health.ts";
import { countTopUps } from "./top-ups.ts";

export interface MetricsOptions {
  /** Labels of what is running. */
  readonly build: Readonly<Record<string, string>>;
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

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Counts from the start on; the store, which is opened with one of the counters, is known only when they are served. */
export function createMetrics({ build, elapsed, readProcess }: MetricsOptions): Metrics {
  const measuring = createMeasuring();
  const { meter, read } = measuring;
  const observer = {
    requestAnswered: countRequests(measuring),
    topUpRecorded: countTopUps(meter, () => served().provider.currencyExponent),
  };
  const observeBatch = countBatches(measuring, elapsed);
  measureStore(meter, served);
  measureProcess(meter, readProcess, build);

  let store: MeasuredStore | undefined;
  function served(): MeasuredStore {
    if (store === undefined) throw new Error("metrics were read before they were served");
    return store;
  }
  return {
    observer,
    observeBatch,
    serve: (measured, address) => {
      store = measured;
      return serveMetrics(address, read);
    },
  };
}
