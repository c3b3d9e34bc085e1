import type { Command } from "commander";
import { type Config, SETTING_NAMES } from "../../../config.ts";
import { showDatabaseAddress } from "../../../domain/database-address.ts";
import { examples } from "../help.ts";
import type { Runtime, ServiceLog } from "../runtime.ts";
import { addSettings, configOf } from "../settings.ts";

/** `topupd serve`: the service in production. Migrates the database, and seeds nothing. */
export function addServeCommand(program: Command, runtime: Runtime): void {
  const command = program.command("serve").description("run the service in production, until SIGTERM or Ctrl-C");
  examples(command, [
    "topupd serve --database sqlite:./topupd.db --time-zone Asia/Kathmandu",
    "topupd serve --host 0.0.0.0 --port 8080 --metrics-port 9464",
    "topupd serve --console-port 8081",
  ]);
  addSettings(command, SETTING_NAMES).action(async () => {
    const config = configOf(command, runtime);
    const log = runtime.openLog(config);
    if (!(await servedAsChild(runtime, config, log))) await serve(runtime, config, log);
  });
}

/** Serves as what a supervisor has started this process for. @returns false, at once, if none has. */
export async function servedAsChild(runtime: Runtime, config: Config, log: ServiceLog): Promise<boolean> {
  const { supervisor } = runtime;
  if (supervisor === undefined) return false;
  // Loaded only here: every other command would take longer to begin.
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
  // Time and money can be set otherwise only until there are customers: whoever forgot to is to see it at the first start.
  const provider = { timeZone: zone.name, currencyExponent };
  logger.info(
    {
      url: service.url,
      database: showDatabaseAddress(config.database),
      version: runtime.version,
      workers,
      ...provider,
    },
    "listening",
  );
  if (service.metricsUrl !== undefined) logger.info({ url: service.metricsUrl }, "serving metrics");
  if (service.consoleUrl !== undefined) logger.info({ url: service.consoleUrl }, "serving the console");
  if (service.lacksPartners) logger.warn("the database has no partner yet: nobody can call");
  if (service.consoleUrl !== undefined && service.lacksStaff)
    logger.warn("the database has no staff yet: topupd staff add makes the first account");
  const signal = await service.askedToStop;
  logger.info({ signal }, "stopping");
  // At a terminal nobody waits for a load balancer to notice.
  await service.stop({ drainSeconds: signal === "SIGINT" ? 0 : config.drainSeconds });
  logger.info("stopped");
}
