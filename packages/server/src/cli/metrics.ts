import type { Config } from "../config.ts";
import type { Metrics, MetricsServer } from "../metrics/metrics.ts";
import type { ObserveCheckpoints, Store } from "../store/store.ts";
import { listening } from "./listen.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/** A store that is open for serving, and what counts what is done with it; undefined where nobody asked for metrics. */
export interface OpenedStore {
  readonly store: Store;
  readonly metrics: Metrics | undefined;
}

export async function openMeasured(runtime: Runtime, config: Config, { logger }: ServiceLog): Promise<OpenedStore> {
  const metrics = config.metricsPort === undefined ? undefined : await runtime.createMetrics(config);
  const observeCheckpoints: ObserveCheckpoints = (cause) => {
    if (cause === undefined) logger.info("the log of the database is written into its file again");
    else logger.warn({ cause }, "the log of the database cannot be written into its file, and grows");
  };
  const options = { observeBatch: metrics?.observeBatch, observeCheckpoints, serves: true };
  return { store: await runtime.openStore(config, options), metrics };
}

/** @throws CommandFailed where the port or address cannot be had. */
export async function serveMetrics(
  { store, metrics }: OpenedStore,
  { metricsHost: host, metricsPort: port }: Config,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || port === undefined) return undefined;
  const server = metrics.serve(store, { host, port });
  return listening(server, { host, port, hostSetting: "metricsHost", portSetting: "metricsPort" });
}
