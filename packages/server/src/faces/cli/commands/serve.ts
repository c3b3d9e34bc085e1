import type { Command } from "commander";
import { type Config, SETTING_NAMES } from "../../../config.ts";
import { showDatabaseAddress } from "../../../domain/database-address.ts";
import { addSettings, configOf, examples } from "../command.ts";
import type { Runtime, ServiceLog } from "../runtime.ts";

/** Adds `topupd serve`, the service in production. It migrates the database and adds no data. */
export function addServeCommand(program: Command, runtime: Runtime): void {
  const command = program.command("serve").description("run the service until SIGTERM or Ctrl-C");
  examples(command, [
    "topupd serve --database sqlite:./topupd.db --time-zone Asia/Kathmandu",
    "topupd serve --host 0.0.0.0 --port 8080 --metrics-port 9464",
    "topupd serve --console-port 8081 --counter-port 8082",
  ]);
  addSettings(command, SETTING_NAMES).action(async () => {
    const config = configOf(command, runtime);
    const log = await runtime.openLog(config);
    if (!(await servedAsChild(runtime, config, log))) await serve(runtime, config, log);
  });
}

/** Serves in the role that a supervisor started this process for. @returns false if no supervisor did. */
export async function servedAsChild(runtime: Runtime, config: Config, log: ServiceLog): Promise<boolean> {
  const { supervisor } = runtime;
  if (supervisor === undefined) return false;
  const { serveAsChild } = await import("../child.ts");
  await serveAsChild(runtime, config, log, supervisor);
  return true;
}

async function serve(runtime: Runtime, config: Config, log: ServiceLog): Promise<void> {
  const { logger } = log;
  const workers = config.workers ?? runtime.defaultWorkers;
  const { superviseService } = await import("../supervisor.ts");
  const service = await superviseService(runtime, config, log, workers);
  const { zone, currencyExponent } = service.provider;
  // Time zone and currency cannot be changed once there are customers, so the first start shows them.
  logger.info(
    {
      url: service.url,
      database: showDatabaseAddress(config.database),
      version: runtime.version,
      workers,
      timeZone: zone.name,
      currencyExponent,
    },
    "listening",
  );
  if (service.metricsUrl !== undefined) logger.info({ url: service.metricsUrl }, "serving metrics");
  if (service.consoleUrl !== undefined) logger.info({ url: service.consoleUrl }, "serving the console");
  if (service.counterUrl !== undefined) logger.info({ url: service.counterUrl }, "serving the counter");
  if (service.lacksPartners) logger.warn("the database has no partner yet: add one with topupd partner add");
  const signal = await service.askedToStop;
  logger.info({ signal }, "stopping");
  // Ctrl-C: no load balancer needs time to notice.
  await service.stop({ drainSeconds: signal === "SIGINT" ? 0 : config.drainSeconds });
  logger.info("stopped");
}
