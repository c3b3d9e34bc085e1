import type { Problem } from "../domain/problem.ts";
import type { Observer } from "../partner/ports.ts";
import type { ObserveBatch, Store } from "../store/store.ts";
import type { DeliveryObserver } from "../workers/delivery-observer.ts";
import {
  countBatches,
  countDeliveries,
  countLogIns,
  countRequests,
  countTopUps,
  type LogInCounts,
  measureSteps,
  showProblems,
} from "./counters.ts";
import { type Family, type Labels, single } from "./exposition.ts";
import { describeProcess, type ProcessFigures } from "./process-figures.ts";

export interface MetricsOptions {
  /** Labels of the running build; undefined if another process reports them. */
  readonly build: Labels | undefined;
  /** Seconds on a monotonic clock. */
  readonly elapsed: () => number;
  readonly readProcess: () => ProcessFigures;
}

export interface Metrics extends Pick<LogInCounts, "countFailedLogIn"> {
  readonly observer: Omit<Observer, "recordingChanged">;
  readonly observeBatch: ObserveBatch;
  readonly deliveryObserver: DeliveryObserver;
  readonly observeProblems: (problems: readonly Problem[]) => void;
  /** @param store the store that serves partners; undefined in a process that serves none. */
  readonly collect: (store: MeasuredStore | undefined) => Promise<Family[]>;
  /** Reads only the counters of calls and top-ups. @param store as for `collect`. */
  readonly collectCalls: (store: MeasuredStore | undefined) => Family[];
}

export type MeasuredStore = Pick<Store, "ping" | "provider">;

/**
 * Counts from the start. The store is passed only when metrics are collected, because it is opened with one of the
 * counters.
 */
export function createMetrics({ build, elapsed, readProcess }: MetricsOptions): Metrics {
  const requests = countRequests();
  const topUps = countTopUps();
  const deliveries = countDeliveries();
  const problems = showProblems();
  const steps = measureSteps();
  const batches = countBatches(elapsed);
  const logIns = countLogIns();
  let isUp: (() => Promise<boolean>) | undefined;
  const collectCalls: Metrics["collectCalls"] = (store) =>
    store === undefined ? [] : [...requests.collect(), ...topUps.collect(store.provider.currencyExponent)];
  const collectServing = async (store: MeasuredStore): Promise<Family[]> => {
    isUp ??= pinging(store);
    // Counters are read after the ping, so that all values are of one moment.
    const up = (await isUp()) ? 1 : 0;
    return [
      ...collectCalls(store),
      ...deliveries.collect(),
      ...problems.collect(),
      single("gauge", "topupd_store_up", "1 if the store answers, else 0, as in /readyz.", up),
    ];
  };
  const collect: Metrics["collect"] = async (store) => {
    const serving = store === undefined ? [] : await collectServing(store);
    return [
      ...serving,
      ...batches.collect(),
      ...steps.collect(),
      ...logIns.collect(),
      ...describeProcess(readProcess(), build),
    ];
  };
  const { requestAnswered } = requests;
  const { topUpRecorded } = topUps;
  const observer = { requestAnswered, topUpRecorded };
  const { countFailedLogIn } = logIns;
  return {
    observer,
    observeBatch: batches.observeBatch,
    deliveryObserver: { ...deliveries, stepEnded: steps.stepEnded },
    observeProblems: problems.observe,
    countFailedLogIn,
    collect,
    collectCalls,
  };
}

/** Shorter than Prometheus's scrape timeout of ten seconds. */
const PING_TIMEOUT_MS = 2_000;

/** Whether a store answers. One that hangs counts as unavailable and is not asked again until it answers. */
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
