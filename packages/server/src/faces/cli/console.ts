import type { FastifyInstance } from "fastify";
import type { Config } from "../../config.ts";
import type { Limits } from "../../office/limits.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { oidcIssuer } from "../../system/oidc.ts";
import { urlOf } from "../../system/port-guard.ts";
import { buildAdminApp } from "../staff-api/app.ts";
import { listening } from "./failures.ts";
import type { ChildParts, Served } from "./processes.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/** Serves the console and the staff API. @throws CommandFailed if it cannot listen. */
export async function serveConsole(
  runtime: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
  { store, state, metrics }: ChildParts,
): Promise<Served> {
  const { version, clock, random, sleep, accounts, targetTools, consoleFolder, createTemporaryFile } = runtime;
  const { consoleHost: host, consolePort: port = 0 } = config;
  const app = await buildAdminApp({
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
      totpRoles: config.requireTotp,
      letterhead: {
        name: config.providerName ?? null,
        address: config.providerAddress ?? null,
        number: config.providerNumber ?? null,
        tax: config.providerTax ?? null,
      },
      passwordLogIn: config.passwordLogIn,
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
  });
  // Exclusive: processes of a cluster share ports, and two that ask for a free port would get the same one.
  await listening(app.listen({ host, port, exclusive: true }), config, "consoleHost", "consolePort");
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be accepted"));
  return { url: urlOf(app.server), stop: () => close(app, runtime, config) };
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
