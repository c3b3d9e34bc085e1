import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { StaffRole } from "../../src/domain/authority.ts";
import { type AdminAppOptions, type AdminWorld, buildAdminApp } from "../../src/faces/staff-api/app.ts";
import { addStaffKey } from "../../src/office/staff/keys.ts";
import { addStaff } from "../../src/office/staff/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { accountTools } from "../../src/system/account-tools.ts";
import { createTemporaryFile } from "../../src/system/files.ts";
import { createLogger } from "../../src/system/logger.ts";
import { wellState } from "../../src/system/service-state.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { deskOf, OWN_NETWORKS, run } from "./desk.ts";
import { CHEAP } from "./office-line.ts";
import { openTestService, type TestService } from "./open-service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const PASSWORD = "mango 27 Bhaktapur lane";
export const COOKIE = "topupd_session";

export interface Asked {
  /** A role, by a key of it; or somebody, by the token of a session; or, if null, nobody. An admin unless given. */
  readonly as?: StaffRole | { readonly session: string } | null;
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
type Anything = any;

export interface StaffAnswer {
  readonly status: number;
  readonly headers: Record<string, Anything>;
  readonly json: Anything;
  readonly text: string;
}

/** The staff API on a database of its own, with the trial environment in it and a key for each role. */
export interface StaffApi {
  readonly service: TestService;
  readonly app: FastifyInstance;
  readonly world: AdminWorld;
  /** Log lines so far. */
  readonly logs: string[];
  /** Where the database is, and files that are sent, as `sent-*`. */
  readonly folder: string;
  readonly keys: Readonly<Record<StaffRole, string>>;
  /** @param asked such as `GET /partners`. */
  readonly call: (asked: string, request?: Asked) => Promise<StaffAnswer>;
  /** Adds a person, who need not change the password. */
  addPerson(name: string, role: StaffRole): Promise<void>;
  /** Logs in. @returns the cookie's value. */
  logIn(name: string): Promise<string>;
  close(): Promise<void>;
}

export type StaffApiOptions = Partial<Omit<AdminAppOptions, "world">> & {
  readonly wrapStore?: (store: Store) => Store;
  readonly defaultCountry?: string;
  readonly world?: Partial<AdminWorld>;
};

/** One for the test alone. */
export async function startStaffApi(options: StaffApiOptions = {}): Promise<StaffApi> {
  const api = await openStaffApi(temporaryFolder(), options);
  onTestFinished(() => api.close());
  return api;
}

/** One for all tests of a file that change nothing by which another test could notice it. */
export function shareStaffApi(options: StaffApiOptions = {}): () => StaffApi {
  const folder = mkdtempSync(join(tmpdir(), "topupd-test-"));
  let api: StaffApi;
  beforeAll(async () => {
    api = await openStaffApi(folder, options);
  });
  afterAll(async () => {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => api;
}

async function openStaffApi(
  folder: string,
  { wrapStore, defaultCountry, world: wished, ...options }: StaffApiOptions = {},
): Promise<StaffApi> {
  const path = join(folder, "topupd.db");
  const service = await openTestService({
    path,
    ...(wrapStore && { wrapStore }),
    ...(defaultCountry && { defaultCountry }),
  });
  const logs: string[] = [];
  const logger = createLogger("debug", { write: (line) => logs.push(line) });
  const world: AdminWorld = {
    ...service.ports,
    ...{ accounts: accountTools(service.ports, CHEAP), targets: targetTools(service.ports, OWN_NETWORKS) },
    ...{
      version: "0.0.0",
      storeKind: "sqlite",
      currency: "NPR",
      numberGrouping: "western",
      totpRoles: new Set(),
      letterhead: {
        name: "Blue Cable",
        address: "Main Road 1, Kathmandu",
        number: "Reg. 12345/081",
        tax: "PAN 301234567",
      },
      limits: {
        supportGoodwillDays: 100,
        supportBulk: 200,
        secondPersonBulk: 1000,
        secondPersonReversal: 300_000n,
        secondPersonMoney: 10_000_000n,
      },
      issuer: undefined,
      settings: [],
      setUpCode: undefined,
      passwordLogIn: true,
      isCounter: false,
      readMigrations: async () => [],
      state: wellState(),
    },
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    log: (level, fields, message) => logger[level](fields, message),
    ...wished,
  };
  const app = await buildAdminApp({
    ...{ world, trustedProxies: undefined, consoleFolder: undefined, logger, logLine: (line) => logs.push(line) },
    createTemporaryFile: () =>
      createTemporaryFile(join(folder, `sent-${Buffer.from(service.ports.random(6)).toString("hex")}`)),
    ...options,
  });
  const desk = deskOf(service.ports, service.actor, { accounts: world.accounts });
  const keyOf = async (role: StaffRole) => (await run(desk, addStaffKey, { name: role, role })).key;
  const keys = {
    ...{ viewer: await keyOf("viewer"), support: await keyOf("support") },
    ...{ finance: await keyOf("finance"), admin: await keyOf("admin") },
  };
  const api: StaffApi = {
    ...{ service, app, world, logs, folder, keys },
    async close() {
      await app.close();
      await service.close();
    },
    async call(asked, { as = "admin", body, headers = {}, from } = {}) {
      const [method, path] = asked.split(" ") as [InjectOptions["method"], string];
      const response = await app.inject({
        method: method as "GET",
        url: path.startsWith("/api/") ? path : `/api/v1${path}`,
        headers: { ...headersOf(as, body), ...headers },
        ...(from !== undefined && { remoteAddress: from }),
        ...(body !== undefined && { payload: body }),
      });
      return answerOf(response);
    },
    async addPerson(name, role) {
      await run(desk, addStaff, { name, role, password: PASSWORD });
      await keepPassword(service.store, name);
    },
    async logIn(name) {
      const { headers } = await api.call("POST /session", { as: null, body: { name, password: PASSWORD } });
      return /topupd_session=([^;]+)/.exec(String(headers["set-cookie"]))?.[1] as string;
    },
  };
  const headersOf = (as: NonNullable<Asked["as"]> | null, body: Asked["body"]): Record<string, string> => ({
    ...(typeof as === "string" && { authorization: `Bearer ${keys[as]}` }),
    ...(typeof as === "object" && as !== null && { cookie: `${COOKIE}=${as.session}` }),
    ...(typeof body === "object" && { "content-type": "application/json" }),
  });
  return api;
}

/** Lets a person go on with the password that another set. */
export async function keepPassword({ engine }: Pick<Store, "engine">, name: string): Promise<void> {
  const kept = { mustChangePassword: 0 } as const;
  await engine.transact((tx) => tx.updateTable("staff").set(kept).where("name", "=", name).execute());
}

function answerOf({ statusCode, headers, body }: LightMyRequestResponse): StaffAnswer {
  const isJson = /json/.test(String(headers["content-type"]));
  return { status: statusCode, headers, json: isJson ? JSON.parse(body) : undefined, text: body };
}
