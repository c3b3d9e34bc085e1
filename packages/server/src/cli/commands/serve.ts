import type { Command } from "commander";
import { SETTING_NAMES } from "../../config.ts";
import { showDatabaseAddress } from "../../database-address.ts";
import { examples } from "../help.ts";
import type { Runtime } from "../runtime.ts";
import { addSettings, configOf } from "../settings.ts";

/** `topupd serve`: the service in production. Migrates the database, and seeds nothing. */
export function addServeCommand(program: Command, runtime: Runtime): void {
  const command = program.command("serve").description("run the service in production, until SIGTERM or Ctrl-C");
  examples(command, [
    "topupd serve --database sqlite:./topupd.db --time-zone Asia/Kathmandu",
    "topupd serve --host 0.0.0.0 --port 8080 --metrics-port 9464",
  ]);
  addSettings(command, SETTING_NAMES).action(async () => {
    const config = configOf(command, runtime);
    // Loaded only here: every other command would take longer to begin.
    const { startService } = await import("../service.ts");
    const log = runtime.openLog(config);
    const { logger } = log;
    const service = await startService(runtime, config, log);
    const { store, url, metricsUrl } = service;
    const { zone, currencyExponent } = store.provider;
    // Time and money can be set otherwise only until there are customers: whoever forgot to is to see it at the first start.
    const provider = { timeZone: zone.name, currencyExponent };
    logger.info(
      { url, database: showDatabaseAddress(config.database), version: runtime.version, ...provider },
      "listening",
    );
    if (metricsUrl !== undefined) logger.info({ url: metricsUrl }, "serving metrics");
    // A store that is away by now is told of at /readyz.
    const partners = await store.partners.list().catch(() => undefined);
    if (partners?.length === 0) logger.warn("the database has no partner yet: nobody can call");
    const signal = await service.askedToStop;
    logger.info({ signal }, "stopping");
    // At a terminal nobody waits for a load balancer to notice.
    await service.stop({ drainSeconds: signal === "SIGINT" ? 0 : config.drainSeconds });
    logger.info("stopped");
  });
}
