import type { Command } from "commander";
import { type Config, SETTING_NAMES } from "../../../config.ts";
import { showDatabaseAddress } from "../../../domain/database-address.ts";
import type { Instant } from "../../../domain/wall-time.ts";
import { readPartners } from "../../../office/partners/sql.ts";
import { addSettings, addStoreCommand, configOf, examples, type Fallbacks, groupNamed, withStore } from "../command.ts";
import type { Access } from "../demo/trial.ts";
import { CommandFailed, WrongUsage } from "../failures.ts";
import type { Runtime } from "../runtime.ts";
import type { Service } from "../supervisor.ts";
import { servedAsChild } from "./serve.ts";

const FALLBACKS: Fallbacks = {
  database: "sqlite:./topupd-data/demo.db",
  consolePort: "8081",
  counterPort: "8082",
  currency: "NPR",
  numberGrouping: "indian",
  requireTotp: "none",
  providerName: "Demo Cable and Internet",
  providerAddress: "Main Road 1, Kathmandu",
  providerTax: "PAN 000000000",
  logLevel: "warn",
  drainSeconds: "0",
};
/** Country of the customers' mobile numbers. */
const COUNTRY = "NP";
const ACTOR = { name: "topupd demo" };
/** Name of the demo's own partner, and of its admin. */
const NAME = "demo";
const SELLER = "seller";
/** The connection that the demo tops up. Its bouquets are in partner/openapi/examples.ts. */
const CUSTOMER = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;

/**
 * `topupd demo`: the trial environment of a provider with some history, and the console. Each start resets the five trial
 * customers and prints one walk through the four calls.
 */
export function addDemoCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("demo")
    .description("run the trial environment from its first state, and show the four calls");
  examples(command, ["topupd demo", "topupd demo --port 9000 --database sqlite:./demo.db"]);
  // One worker serves the demo.
  const settings = SETTING_NAMES.filter((name) => name !== "workers");
  addSettings(command, settings, FALLBACKS).action(async () => {
    const config = configOf(command, runtime, FALLBACKS);
    const log = await runtime.openLog(config);
    if (await servedAsChild(runtime, config, log)) return;
    await prepareHistory(runtime, config);
    const access = await prepare(runtime, config);
    const { superviseService } = await import("../supervisor.ts");
    const service = await superviseService(runtime, config, log, 1);
    try {
      const base = `${service.url}${config.prefix}/v1.0.1`;
      runtime.stdout(`topupd demo: the trial environment, kept in ${showDatabaseAddress(config.database)}\n`);
      await walk(runtime, base, access.token);
      runtime.stdout(instructions(runtime.program, config, service, access));
      await service.askedToStop;
    } finally {
      await service.stop({ drainSeconds: 0 });
    }
    runtime.stdout("\nstopped\n");
  });
}

/** Adds `topupd trial reset`, for the trial environment of a service in production. */
export function addTrialCommands(program: Command, runtime: Runtime): void {
  addStoreCommand<object>(groupNamed(program, "trial"), runtime, {
    name: "reset",
    description: "reset the five trial customers and the trial catalogue to their first state",
    examples: ["topupd trial reset"],
    changes: true,
    makesDatabase: () => true,
    json: false,
    async run(session) {
      const { resetTrial } = await import("../demo/trial.ts");
      await resetTrial(session, session.actor);
      runtime.stderr("The trial environment is in its first state: customers 1000001 to 1000005 and 1000010.\n");
    },
  });
}

/** Fills a new database with customers and history. The store's clock is set to past times for it. */
async function prepareHistory(runtime: Runtime, config: Config): Promise<void> {
  if (!(await isNew(runtime, config))) return;
  const { clock, random, openStore, stdout } = runtime;
  let now = clock();
  const store = await openStore({ ...config, defaultCountry: config.defaultCountry ?? COUNTRY }, { clock: () => now });
  try {
    stdout("topupd demo: making a provider with 500 customers and three months of history ...\n");
    const { makeDemoHistory } = await import("../demo/history.ts");
    const { shellDesk } = await import("../desk.ts");
    const desk = shellDesk({ store, clock: () => now, random, actor: ACTOR, runtime, config });
    const turnTo = (at: Instant) => {
      now = at;
    };
    await makeDemoHistory({ ...desk, turnTo }, now);
  } finally {
    await store.close();
  }
}

/** The end of time, so that a catalogue that waits counts too. */
const EVER = Number.POSITIVE_INFINITY;

/** Whether the database has neither a trial catalogue nor a partner. @throws WrongUsage if it may be in production */
async function isNew({ openStore }: Runtime, config: Config): Promise<boolean> {
  const store = await openStore(config);
  try {
    // TOPUPD_DATABASE may name the database of a service in production.
    if ((await store.currentCatalogue("production", EVER)) !== undefined)
      throw new WrongUsage(
        "this database has a catalogue for real customers: name another one for the demo with --database",
      );
    return (
      (await store.currentCatalogue("trial", EVER)) === undefined && (await readPartners(store.engine.db)).length === 0
    );
  } finally {
    await store.close();
  }
}

/** Resets the trial customers, and makes a new trial token and password. */
async function prepare(runtime: Runtime, config: Config): Promise<Access> {
  const { clock, random } = runtime;
  return withStore(config, runtime, {}, async (store) => {
    const ports = { store, clock, random };
    const { giveAccess, resetTrial } = await import("../demo/trial.ts");
    await resetTrial(ports, ACTOR);
    return giveAccess({ ...ports, actor: ACTOR, runtime, config }, NAME, SELLER);
  });
}

/** Makes the four calls of the typical flow (interface, section 1) to this service. */
async function walk(runtime: Runtime, base: string, token: string): Promise<void> {
  const call = async (title: string, operation: string, request: object): Promise<unknown> => {
    const response = await fetch(`${base}/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(request),
    }).catch((error: Error) => {
      throw new CommandFailed(
        `the demo cannot call itself at ${base}: ${(error.cause as Error | undefined)?.message ?? error.message}`,
      );
    });
    const answer: unknown = await response.json();
    runtime.stdout(
      `\n${title}\n\n  POST ${operation}\n${indent(request)}\n\n  ${response.status} ${response.statusText}\n${indent(answer)}\n`,
    );
    if (!response.ok) throw new CommandFailed(`${operation} got the status ${response.status}`);
    return answer;
  };

  await call("1. Who is the customer?", "get-customer-information", { code: CUSTOMER.cuid });
  const listed = await call("2. What can be bought?", "get-subscription-package", CUSTOMER);
  const { checkoutId, internet } = (listed as PackagesAnswer).body;
  const [bouquet] = internet.bouquets;
  if (bouquet === undefined) throw new CommandFailed("the trial customer is offered no bouquet");
  const purchase = { ...CUSTOMER, checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price), udf1: "order-1" };
  await call("3. Top up.", "subscription-package-topup", purchase);
  await call("4. Is it done?", "txn-status", { checkoutId });
}

interface PackagesAnswer {
  readonly body: {
    readonly checkoutId: string;
    readonly internet: { readonly bouquets: readonly { readonly code: string; readonly price: number }[] };
  };
}

function instructions(
  program: string,
  { database, prefix }: Config,
  { url, metricsUrl, consoleUrl, counterUrl }: Service,
  { token, password }: Access,
): string {
  const customer = JSON.stringify(CUSTOMER).slice(1, -1);
  const curl = (operation: string, data: string) =>
    `curl -s "$BASE/${operation}" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d ${data}`;
  const metrics = metricsUrl === undefined ? "" : `Metrics: ${metricsUrl}/metrics\n`;
  const consoleLine =
    consoleUrl === undefined ? "" : `Console: ${consoleUrl}  log in as ${NAME}, password ${password}\n`;
  const counterLine =
    counterUrl === undefined ? "" : `Counter: ${counterUrl}  log in as ${SELLER}, password ${password}\n`;
  return `
Your turn: paste this into another terminal. The service runs until Ctrl-C.

TOKEN=${token}
BASE=${url}${prefix}/v1.0.1

${curl("get-customer-information", `'{"code":"${CUSTOMER.cuid}"}'`)}; echo

PACKAGES=$(${curl("get-subscription-package", `'{${customer}}'`)}); echo "$PACKAGES"
CHECKOUT_ID=$(echo "$PACKAGES" | sed 's/.*"checkoutId":"\\([^"]*\\)".*/\\1/')

${curl("subscription-package-topup", `'{${customer},"checkoutId":"'"$CHECKOUT_ID"'","bouquetId":"TRIAL-NET-3M","amt":"3220"}'`)}; echo

${curl("txn-status", `'{"checkoutId":"'"$CHECKOUT_ID"'"}'`)}; echo

Read and try the interface in a browser: ${url}/docs
${consoleLine}${counterLine}${metrics}Trial customers: 1000001 to 1000005, 1000010 to practise failures, and 2000001 to 2000500. The token ends in 7 days. Check the database: ${program} check --database ${showDatabaseAddress(database)}
`;
}

function indent(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^/gm, "  ");
}
