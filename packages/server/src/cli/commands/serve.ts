import type { Command } from "commander";
import { SETTING_NAMES } from "../../config.ts";
import { showDatabaseAddress } from "../../database-address.ts";
import type { Store } from "../../store/store.ts";
import { examples } from "../help.ts";
import { openMeasured } from "../metrics.ts";
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
    const opened = await openMeasured(runtime, config, log);
    const askedToStop = runtime.untilAskedToStop();
    const isEmpty = await hasNoPartner(opened.store);
    const service = await startService(runtime, config, opened, log);
    if (isEmpty) logger.warn("the database has no partner yet: nobody can call");
    const { calendar, currencyExponent } = opened.store.provider;
    // Time and money can be set otherwise only until there are customers: whoever forgot to is to see it at the first start.
    const provider = { timeZone: calendar.timeZone, currencyExponent };
    const facts = { url: service.url, database: showDatabaseAddress(config.database), version: runtime.version };
    logger.info({ ...facts, ...provider }, "listening");
    if (service.metricsUrl !== undefined) logger.info({ url: service.metricsUrl }, "serving metrics");
    const signal = await askedToStop;
    logger.info({ signal }, "stopping");
    // At a terminal nobody waits for a load balancer to notice.
    await service.stop({ drainSeconds: signal === "SIGINT" ? 0 : config.drainSeconds });
    logger.info("stopped");
  });
}

/** Asked before anything listens: a store that cannot tell cannot serve. */
async function hasNoPartner(store: Store): Promise<boolean> {
  try {
    return (await store.listPartners()).length === 0;
  } catch (error) {
    await store.close();
    throw error;
  }
}
