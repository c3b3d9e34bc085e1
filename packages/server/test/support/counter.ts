import type { FastifyInstance, InjectOptions } from "fastify";
import { onTestFinished } from "vitest";
import { hashLookUp, LookUpLog } from "../../src/domain/partner-limits.ts";
import { buildCounterApp } from "../../src/faces/counter/app.ts";
import { addStaff } from "../../src/office/staff/operations.ts";
import { createLogger } from "../../src/system/logger.ts";
import { deskOf, run } from "./desk.ts";
import { keepPassword, type StaffAnswer, type StaffApi } from "./staff-api.ts";

const PASSWORD = "kettle orbit fjord";

export interface Counter {
  readonly app: FastifyInstance;
  /** Log lines so far. */
  readonly logs: string[];
  /** Adds a seller of a partner, and logs in. @returns a function that calls the counter as this seller. */
  seller(name: string, partner: string, environment?: "trial" | "production"): Promise<CallCounter>;
  logIn(name: string): Promise<CallCounter>;
  call: (asked: string, request?: { readonly cookie?: string; readonly body?: object }) => Promise<StaffAnswer>;
}

export type CallCounter = ((asked: string, body?: object) => Promise<StaffAnswer>) & { readonly cookie: string };

/** The counter beside a staff API, on the same database. */
export async function startCounter(
  { service, world }: Pick<StaffApi, "service" | "world">,
  consoleFolder?: string,
): Promise<Counter> {
  const lookUps = new LookUpLog();
  const logs: string[] = [];
  const logger = createLogger("debug", { write: (line) => logs.push(line) });
  const options = {
    world: { ...world, log: (level: "info" | "warn", fields: object, text: string) => logger[level](fields, text) },
    ...{ trustedProxies: undefined, consoleFolder, logger, logLine: (line: string) => logs.push(line) },
    createTemporaryFile: () => {
      throw new Error("the counter takes no files");
    },
  };
  const app = await buildCounterApp(options, {
    countLookUp: async (lookUp) => lookUps.count(lookUp, hashLookUp(lookUp, Buffer.alloc(32)), service.now),
  });
  onTestFinished(() => app.close());
  const desk = deskOf(service.ports, service.actor, { accounts: world.accounts });
  const counter: Counter = {
    ...{ app, logs },
    async call(asked, { cookie, body } = {}) {
      const [method, path] = asked.split(" ") as [InjectOptions["method"], string];
      const response = await app.inject({
        method: method as "GET",
        url: `/api/v1${path}`,
        headers: { ...(cookie && { cookie }), ...(body && { "content-type": "application/json" }) },
        ...(body && { payload: body }),
      });
      const isJson = /json/.test(String(response.headers["content-type"]));
      const json = isJson ? JSON.parse(response.body) : undefined;
      return { status: response.statusCode, headers: response.headers, json, text: response.body };
    },
    async seller(name, sellerOf, environment = "trial") {
      await run(desk, addStaff, { name, sellerOf, environment, password: PASSWORD });
      await keepPassword(service.store, name);
      return counter.logIn(name);
    },
    async logIn(name) {
      const { headers } = await counter.call("POST /session", { body: { name, password: PASSWORD } });
      const cookie = /topupd_counter=[^;]+/.exec(String(headers["set-cookie"]))?.[0] ?? "";
      const call = (asked: string, body?: object) => counter.call(asked, { cookie, ...(body && { body }) });
      return Object.assign(call, { cookie });
    },
  };
  return counter;
}
