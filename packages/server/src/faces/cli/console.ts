import type { FastifyInstance } from "fastify";
import type { Config } from "../../config.ts";
import { formatRecoveryCode, RECOVERY_CODE_RANDOM_BYTES } from "../../domain/staff.ts";
import type { Limits } from "../../office/limits.ts";
import { lacksStaff } from "../../office/setup/first-admin.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { oidcIssuer } from "../../system/oidc.ts";
import { urlOf } from "../../system/port-guard.ts";
import { buildCounterApp } from "../counter/app.ts";
import { type AdminAppOptions, buildAdminApp } from "../staff-api/app.ts";
import { listening } from "./failures.ts";
import { firstSettings } from "./first-settings.ts";
import { askSupervisor } from "./look-ups.ts";
import type { ChildParts, Served } from "./processes.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/** Serves the console and the staff API, and the counter on its own port. @throws CommandFailed if it cannot listen. */
export async function serveConsole(
  runtime: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
  { store, state, metrics, supervisor }: ChildParts,
): Promise<Served> {
  const { version, clock, random, sleep, accounts, targetTools, consoleFolder, counterFolder, createTemporaryFile } =
    runtime;
  const { consoleHost: host, consolePort: port = 0, counterHost, counterPort } = config;
  // A database that does not answer has accounts, as far as is known.
  const isNew = config.passwordLogIn && (await lacksStaff(store.engine.db).catch(() => false));
  const setUpCode = isNew ? formatRecoveryCode(random(RECOVERY_CODE_RANDOM_BYTES)) : undefined;
  const options: AdminAppOptions = {
    world: {
      store,
      clock,
      random,
      sleep,
      limits: limitsOf(config, store.provider),
      accounts,
      targets: targetTools(config.privateTargets),
      version,
      state,
      countFailedLogIn: metrics?.countFailedLogIn,
      stepEnded: metrics?.deliveryObserver.stepEnded,
      storeKind: config.database.store,
      currency: config.currency,
      numberGrouping: config.numberGrouping,
      backsUpHourly: config.backupFolder !== undefined,
      totpRoles: config.requireTotp,
      letterhead: {
        name: config.providerName ?? null,
        address: config.providerAddress ?? null,
        number: config.providerNumber ?? null,
        tax: config.providerTax ?? null,
      },
      settings: firstSettings(config),
      setUpCode,
      passwordLogIn: config.passwordLogIn,
      isCounter: false,
      issuer: issuerOf(config),
      readMigrations: () => runtime.readMigrations(config),
      log: (level, fields, message) => logger[level](fields, message),
    },
    trustedProxies: config.trustedProxies,
    consoleNames: config.consoleNames,
    consoleFolder,
    createTemporaryFile,
    logger,
    logLine,
  };
  const app = await buildAdminApp(options);
  // Exclusive: processes of a cluster share ports, and two that ask for a free port would get the same one.
  await listening(app.listen({ host, port, exclusive: true }), config, "consoleHost", "consolePort");
  if (setUpCode !== undefined)
    logger.warn(
      { url: urlOf(app.server), setUpCode },
      "the database has no staff yet: open the console to add the first admin; it asks for the code, except on this machine",
    );
  const apps = [app];
  let counterUrl: string | undefined;
  if (counterPort !== undefined) {
    const parts = {
      observer: metrics?.observer && { ...metrics.observer, recordingChanged: () => {} },
      countLookUp: askSupervisor(supervisor),
    };
    const counter = await buildCounterApp({ ...options, consoleFolder: counterFolder }, parts);
    const address = { host: counterHost, port: counterPort, exclusive: true };
    await listening(counter.listen(address), config, "counterHost", "counterPort");
    counterUrl = urlOf(counter.server);
    apps.push(counter);
  }
  for (const { server } of apps)
    server.on("error", (error) => logger.error({ err: error }, "a connection could not be accepted"));
  const stop = async () => {
    await Promise.all(apps.map((each) => close(each, runtime, config)));
  };
  return { url: urlOf(app.server), counterUrl, stop };
}

export function limitsOf(config: Config, { currencyExponent }: Pick<ProviderSettings, "currencyExponent">): Limits {
  const { supportGoodwillDays, supportBulk, secondPersonBulk, secondPersonReversal, secondPersonMoney } = config;
  const money = (units: bigint | undefined) =>
    units === undefined ? undefined : units * 10n ** BigInt(currencyExponent);
  return {
    ...{ supportGoodwillDays, supportBulk, secondPersonBulk },
    ...{ secondPersonReversal: money(secondPersonReversal), secondPersonMoney: money(secondPersonMoney) },
  };
}

function issuerOf({ oidcIssuer: issuer, oidcClient: client, oidcSecret: secret, oidcRoleClaim: roleClaim }: Config) {
  return issuer === undefined || client === undefined ? undefined : oidcIssuer({ issuer, client, secret, roleClaim });
}

async function close(app: FastifyInstance, { sleep }: Runtime, { shutdownSeconds }: Config): Promise<void> {
  const closed = app.close();
  const inTime = new AbortController();
  const late = sleep(shutdownSeconds * 1000, inTime.signal).then(() => app.server.closeAllConnections());
  await closed;
  inTime.abort();
  await late;
}
