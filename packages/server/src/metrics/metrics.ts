import type { Observer } from "../partner/ports.ts";
import type { ObserveBatch, Store } from "../store/store.ts";
import type { DeliveryObserver } from "../workers/target-delivery.ts";
import {
  countBatches,
  countDeliveries,
  countLogIns,
  countRequests,
  countTopUps,
  type LogInCounts,
} from "./counters.ts";
import { type Family, type Labels, single } from "./exposition.ts";
import { describeProcess, type ProcessFigures } from "./process-figures.ts";

export interface MetricsOptions {
  /** Labels of what is running; undefined where another process tells them. */
  readonly build: Labels | undefined;
  /** Seconds since any fixed moment, on a clock that nobody sets. */
  readonly elapsed: () => number;
  readonly readProcess: () => ProcessFigures;
}

export interface Metrics extends Pick<LogInCounts, "countFailedLogIn"> {
  readonly observer: Omit<Observer, "recordingChanged">;
  readonly observeBatch: ObserveBatch;
  readonly deliveryObserver: DeliveryObserver;
  /** @param store from which partners are served; undefined in a process that serves nobody. */
  readonly collect: (store: MeasuredStore | undefined) => Promise<Family[]>;
}

export type MeasuredStore = Pick<Store, "ping" | "provider">;

/** Counts from the start on; the store, which is opened with one of the counters, is known only when they are served. */
export function createMetrics({ build, elapsed, readProcess }: MetricsOptions): Metrics {
  const requests = countRequests();
  const topUps = countTopUps();
  const deliveries = countDeliveries();
  const batches = countBatches(elapsed);
  const logIns = countLogIns();
  let isUp: (() => Promise<boolean>) | undefined;
  const collectServing = async (store: MeasuredStore): Promise<Family[]> => {
    isUp ??= pinging(store);
    // The store may take its time: what is counted is read after it, so that all is of one moment.
    const up = (await isUp()) ? 1 : 0;
    return [
      ...requests.collect(),
      ...topUps.collect(store.provider.currencyExponent),
      ...deliveries.collect(),
      single("gauge", "topupd_store_up", "1 if the store answers, else 0, as /readyz has it.", up),
    ];
  };
  const collect: Metrics["collect"] = async (store) => {
    const serving = store === undefined ? [] : await collectServing(store);
    return [...serving, ...batches.collect(), ...logIns.collect(), ...describeProcess(readProcess(), build)];
  };
  const { requestAnswered } = requests;
  const { topUpRecorded } = topUps;
  const observer = { requestAnswered, topUpRecorded };
  const { countFailedLogIn } = logIns;
  return { observer, observeBatch: batches.observeBatch, deliveryObserver: deliveries, countFailedLogIn, collect };
}

/** Shorter than the time that Prometheus leaves for a scrape, which is ten seconds. */
const PING_TIMEOUT_MS = 2_000;

/** Whether a store answers. One that stands still is taken for away, and not asked again until it has answered. */
function pinging(store: MeasuredStore): () => Promise<boolean> {
  let asking: Promise<boolean> | undefined;
  return () => {
    asking ??= store
      .ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
    const late = new Promise<boolean>((resolve) => {
      setTimeout(resolve, PING_TIMEOUT_MS, false).unref();
    });
    return Promise.race([asking, late]);
  };
}
