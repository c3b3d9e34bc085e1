import inject, { type InjectOptions, type Response } from "light-my-request";
import type { Partner } from "../../src/domain/access-token.ts";
import type { AddressList } from "../../src/domain/address-list.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import type { Environment } from "../../src/domain/customer.ts";
import { resetTrial } from "../../src/faces/cli/demo/trial.ts";
import type { CustomersImport } from "../../src/office/imports/customers.ts";
import type { CustomersReport } from "../../src/office/imports/findings.ts";
import type { Actor } from "../../src/office/office.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { type App, type AppOptions, buildApp } from "../../src/partner/app.ts";
import { SharedLookUps } from "../../src/partner/gathering.ts";
import type { Observer } from "../../src/partner/ports.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import type { ObserveBatch, Store } from "../../src/store/store.ts";
import { createLogger } from "../../src/system/logger.ts";
import { by } from "./by.ts";
import { importRows, publishRows } from "./catalogue.ts";
import { expectInContract } from "./contract.ts";
import { deskOf, run } from "./desk.ts";
import { partnersOf } from "./partners.ts";
import { seededRandom } from "./random.ts";

export const PREFIX = "/staging/api/third-party";

/** 2026-11-20 09:00:00 UTC: where tests begin, unless they say otherwise. */
export const START = Date.UTC(2026, 10, 20, 9);

export type OperationName =
  | "get-customer-information"
  | "get-subscription-package"
  | "subscription-package-topup"
  | "txn-status";

export interface CallOptions {
  readonly version?: "v1.0.1" | "v1.0.0";
  readonly token?: string;
  /** From where the request comes; from this machine, unless said. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
export type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly json: any };

/** The whole service on a real database file, with a clock that the test turns. */
export interface TestService {
  readonly app: App;
  readonly store: Store;
  readonly path: string;
  /** Log lines so far. */
  readonly logs: string[];
  /** Milliseconds since 1970; set it to move time. */
  now: number;
  readonly ports: {
    readonly store: Store;
    readonly clock: () => number;
    readonly random: (bytes: number) => Uint8Array;
  };
  readonly actor: Actor;
  /** A token of the partner that was there from the start. */
  readonly trialToken: string;
  readonly liveToken: string;
  addPartner(name: string): Promise<Partner>;
  issue(partner: Partner, environment: Environment): Promise<string>;
  /** Calls an operation, by default in v1.0.1 with the trial token. Any answer that is not in the contract is an error. */
  call(operation: OperationName, body: object, options?: CallOptions): Promise<Answer>;
  inject(request: InjectOptions | string): Promise<Response>;
  importCatalogue(rows: readonly object[], environment?: Environment): Promise<number>;
  importCustomers(rows: readonly object[], request?: Partial<CustomersImport>): Promise<CustomersReport>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly now?: number;
  readonly timeZone?: string;
  readonly currencyExponent?: number;
  readonly defaultCountry?: string;
  readonly basePlans?: BasePlans;
  readonly lapsedDays?: number;
  readonly prefix?: string;
  readonly publicUrl?: string;
  readonly currency?: string;
  readonly trustedProxies?: AddressList;
  readonly deprecatedAt?: number;
  readonly sunsetAt?: number;
  /** The file of the embedded store: made, or there already. */
  readonly path?: string;
  /** Opens another store than the embedded one. */
  readonly openStore?: (options: StoreOptions) => Promise<Store>;
  /** Leaves out the trial environment. */
  readonly bare?: boolean;
  readonly seed?: number;
  /** Stands between the service and its store, to make it fail. */
  readonly wrapStore?: (store: Store) => Store;
  readonly observer?: Observer;
  readonly observeBatch?: ObserveBatch;
  readonly refusedCalls?: AppOptions["refusedCalls"];
  readonly trialCalls?: AppOptions["trialCalls"];
  readonly lateMs?: number;
  readonly stopwatch?: () => number;
  readonly state?: AppOptions["state"];
  readonly hasFastDoor?: boolean;
  /** Builds the app: another build of it, to be held against this one. */
  readonly build?: typeof buildApp;
}

/** What every store is opened with. */
type StoreOptions = Omit<SqliteStoreOptions, "path" | "mustExist">;

export async function openTestService(options: OpenOptions): Promise<TestService> {
  const { path = "" } = options;
  const random = seededRandom(options.seed ?? 1);
  const time = { now: options.now ?? START };
  const clock = () => time.now;
  const {
    timeZone,
    currencyExponent,
    defaultCountry,
    observeBatch,
    observer,
    basePlans = DEFAULT_BASE_PLANS,
  } = options;
  const wishes = { timeZone, currencyExponent, defaultCountry, basePlans };
  const storeOptions = { ...{ clock, random, observeBatch }, ...wishes };
  const opened = await (options.openStore?.(storeOptions) ?? openSqliteStore({ ...storeOptions, path }));
  const store = options.wrapStore?.(opened) ?? opened;
  const [ports, actor] = [{ store, clock, random }, { name: "tester" }];
  const logs: string[] = [];
  const service: TestService = {
    get now() {
      return time.now;
    },
    set now(now) {
      time.now = now;
    },
    path,
    store,
    logs,
    ports,
    actor,
    app: undefined as unknown as App,
    trialToken: "",
    liveToken: "",
    addPartner: (name) => partnersOf(store).add(name, by(clock())),
    issue: async (partner, environment) =>
      (await run(deskOf(ports, actor), issueToken, { partner: partner.name, environment })).token,
    async call(operation, body, { version = "v1.0.1", token = service.trialToken, from, headers } = {}) {
      const response = await service.inject({
        method: "POST",
        url: `${options.prefix ?? PREFIX}/${version}/${operation}`,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        ...(from !== undefined && { remoteAddress: from }),
        payload: JSON.stringify(body),
      });
      expectInContract(version, operation, response.statusCode, response.json(), response.headers);
      return { status: response.statusCode, headers: response.headers, json: response.json() };
    },
    inject: (request) => inject((...pair) => service.app.server.emit("request", ...pair), request),
    async close() {
      await service.app.close();
      await store.close();
    },
    importCatalogue: (rows, environment) => publishRows(ports.store, rows, ports.clock(), environment),
    importCustomers: (rows, request) => importRows(ports, rows, request),
  };
  const { stopwatch = () => performance.now() } = options;
  const onFailure = (error: unknown) => {
    throw error;
  };
  const lookUps = await SharedLookUps.begin({ store: opened, clock, onFailure });
  const logger = createLogger("debug", { write: (line) => logs.push(line) });
  const app = (options.build ?? buildApp)({
    ports: { ...ports, observer, countLookUp: async (lookUp) => lookUps.count(lookUp) },
    stopwatch,
    prefix: options.prefix ?? PREFIX,
    publicUrl: options.publicUrl,
    currency: options.currency,
    trustedProxies: options.trustedProxies,
    lapsedDays: options.lapsedDays ?? 0,
    retirements: { "v1.0.0": { deprecatedAt: options.deprecatedAt, sunsetAt: options.sunsetAt } },
    log: (level, fields, message) => logger[level](fields, message),
    logLine: (line) => logs.push(line),
    phase: () => "serving",
    ...{ refusedCalls: options.refusedCalls, trialCalls: options.trialCalls, lateMs: options.lateMs },
    ...{ state: options.state, hasFastDoor: options.hasFastDoor },
  });
  const found = await partnersOf(store).find("wallet");
  const wallet = found ?? (await service.addPartner("wallet"));
  if (options.bare !== true) await resetTrial(ports, actor);
  return Object.assign(service, {
    app,
    trialToken: await service.issue(wallet, "trial"),
    liveToken: await service.issue(wallet, "production"),
  });
}

/** Lists the packages of a connection, and gives what a top-up of one of its bouquets sends. */
export async function prepareTopUp(
  service: TestService,
  connection: { readonly cuid: string; readonly service: string; readonly reqId: string },
  bouquetId?: string,
  options?: CallOptions,
): Promise<Record<string, string>> {
  const { status, json } = await service.call("get-subscription-package", connection, {
    ...options,
    version: "v1.0.1",
  });
  if (status !== 200) throw new Error(`the packages cannot be listed: ${JSON.stringify(json)}`);
  const bouquets: { code: string; price: number }[] = json.body[connection.service].bouquets;
  const bouquet = bouquetId === undefined ? bouquets[0] : bouquets.find(({ code }) => code === bouquetId);
  if (bouquet === undefined) throw new Error(`${bouquetId ?? "no bouquet"} is not offered`);
  return { ...connection, checkoutId: json.body.checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price) };
}
