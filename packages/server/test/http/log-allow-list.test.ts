import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { CATALOGUE, SITA } from "../support/provider-files.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { PREFIX, prepareTopUp, startTestService, type TestService } from "../support/service.ts";

/** The whole service logs at its most detailed level. These tests check every line. */

const LISTED = [
  ...["level", "time", "msg", "requestId", "route", "status", "outcome", "partner", "environment", "ms", "cause"],
  ...["partnerName", "checkoutId", "err"],
];
const LISTED_OF_ERROR = ["type", "message", "code", "errcode", "at", "cause"];
/** The only sent value in the line of a top-up. */
const CHECKOUT_OF_TOP_UP = /(?<=subscription-package-topup".*)"checkoutId":"[^"]*"/;
/** Lines about a request, which must have its id. */
const OF_REQUEST = ["request", "a request failed", "the store is unavailable", "an answer could not be written"];

/** Names and numbers that cannot occur by chance. */
const ZUBAIDA = { ...SITA, cuid: "7770001", first_name: "Zubaida", last_name: "Quispe", mobile: "9811122233" };
const USERNAME = "zq.home";
const FIBER = { cuid: ZUBAIDA.cuid, service: "internet", reqId: USERNAME };
const UDF = { udf1: "order-4711-of-Zubaida", udf2: "+977-9811122233" };
const SECRETS = ["Zubaida", "Quispe", "9811122233", "7770001", USERNAME, "order-4711", "topup_trial_", "topup_live_"];

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly err?: Record<string, unknown>;
}

/** A service that records which methods of its store are called, and can replace them. */
async function startWatched() {
  const called = new Set<string>();
  const instead = new Map<string, Instead>();
  const watching = (store: Store) =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === "function") called.add(String(name));
        return value;
      },
    });
  const service = await startTestService({ wrapStore: (store) => watching(interposed(instead)(store)) });
  await service.importCatalogue(CATALOGUE);
  const internet = SITA.connections.internet.map((connection) => ({ ...connection, username: USERNAME }));
  await service.importCustomers([{ ...ZUBAIDA, connections: { internet } }]);
  return { service, called, instead };
}

/** The body of a top-up. */
async function prepare(service: TestService): Promise<Record<string, string>> {
  return { ...(await prepareTopUp(service, FIBER, "NET-1M", { token: service.liveToken })), ...UDF };
}

/** Makes every call around a top-up, in both versions. @returns ids that must not be logged. */
async function buy(service: TestService): Promise<string[]> {
  const live = { token: service.liveToken };
  const old = { ...live, version: "v1.0.0" } as const;
  const found = await service.call("get-customer-information", { code: ZUBAIDA.mobile }, live);
  expect(found.json.body.customer.first_name).toBe("Zubaida");
  await service.call("get-customer-information", { code: USERNAME }, old);
  const purchase = await prepare(service);
  const { checkoutId = "" } = purchase;
  const bought = await service.call("subscription-package-topup", purchase, live);
  expect(bought.status).toBe(200);
  await service.call("subscription-package-topup", purchase, old);
  await service.call("subscription-package-topup", { ...purchase, amt: "1" }, live);
  await service.call("txn-status", { checkoutId }, live);
  await service.call("txn-status", { checkoutId: `${checkoutId}x` }, live);
  return [checkoutId, bought.json.body.result.txnId];
}

/** @throws unless each line is JSON with listed fields only, has no secret, and has its request's id. */
function inspect({ logs, trialToken, liveToken }: TestService, secrets: readonly string[]): Line[] {
  const all = [...SECRETS, ...secrets, trialToken, liveToken, trialToken.slice(-20), liveToken.slice(-20)];
  return logs.map((text) => {
    expect(text).toMatch(/^\{.*\}\n$/);
    const rest = text.replace(CHECKOUT_OF_TOP_UP, "").toLowerCase();
    const told = all.filter((secret) => secret === "" || rest.includes(secret.toLowerCase()));
    expect(told, text).toEqual([]);
    const line = JSON.parse(text) as Line;
    expect(Object.keys(line).filter((name) => !LISTED.includes(name))).toEqual([]);
    for (let err = line.err; err !== undefined; err = err["cause"] as Line["err"])
      expect(Object.keys(err).filter((name) => !LISTED_OF_ERROR.includes(name))).toEqual([]);
    if (OF_REQUEST.includes(line.msg)) expect(line.requestId, text).toMatch(/^[0-9a-f]{18}$/);
    return line;
  });
}

describe("the log of the whole service", () => {
  test("holds nothing of what partners send and get, in good requests and in bad ones", async () => {
    const { service } = await startWatched();
    const secrets = await buy(service);
    const { trialToken, liveToken } = service;
    const path = `${PREFIX}/v1.0.1/txn-status`;
    const bearer = { authorization: `Bearer ${trialToken}` };
    const bodies = [`{"checkoutId":"${trialToken}"}`, `{"checkoutId":9811122233,"Zubaida":1}`, `{"9811122233":`, ""];
    const odd = [
      { url: `/${trialToken}` },
      { url: `${path}?mobile=9811122233&token=${trialToken}`, headers: bearer },
      { url: "/%E0%A4%A9811122233" },
      { url: `/healthz?token=${trialToken}`, method: "GET" as const },
      { url: path, headers: { authorization: trialToken } },
      { url: path, headers: { ...bearer, "content-type": `text/${trialToken}` } },
      { url: path, headers: { "x-request-id": trialToken, cookie: `t=${trialToken}` } },
      { url: path, headers: { authorization: `Bearer ${liveToken.slice(0, -1)}` } },
      ...bodies.map((payload) => ({
        url: path,
        payload,
        headers: { ...bearer, "content-type": "application/json", "user-agent": "Zubaida" },
      })),
    ];
    for (const request of odd) await service.inject({ method: "POST", ...request });
    const lines = inspect(service, secrets);
    const requests = lines.filter(({ msg }) => msg === "request");
    // Only the first of six requests without a valid token is logged at once.
    expect(requests).toHaveLength(odd.length + 8 - 5);
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(requests.length);
  });

  test("holds no bytes of a socket that are not a request, or are never read", async () => {
    const { service } = await startWatched();
    const { trialToken } = service;
    const send = async (text: string) => {
      const { socket, closed } = await openSocket(service);
      socket.end(text);
      await closed;
    };
    const authorization = `Authorization: Bearer ${trialToken}`;
    await send(`POST /9811122233?${trialToken} HTTP/1.1\r\nHost: zubaida\r\n${authorization}\r\nbroken\r\n\r\n`);
    await send(`${trialToken} 9811122233\r\n\r\n`);
    await send(requestText(service, "txn-status", { "9811122233": "" }, { length: 99 }));
    await send(`GET /${"9811122233".repeat(3000)} HTTP/1.1\r\nHost: zubaida\r\n\r\n`);
    inspect(service, []);
    expect(service.logs.length).toBeGreaterThan(0);
  });

  const failures: readonly (readonly [what: string, failure: (secret: string) => unknown])[] = [
    ["an error whose words and stack quote it", (secret) => new Error(`no ${secret}\n    at src/${secret}.ts:1:1`)],
    [
      "an error as a database's, with what is stored in its properties",
      (secret) =>
        Object.assign(new Error(`invalid input: "${secret}"`), {
          code: "22P02",
          detail: `Key (code)=(${secret}) already exists.`,
          where: secret,
          parameters: [secret],
        }),
    ],
    ["a store that is away, for a reason that quotes it", (secret) => new StoreUnavailable("away", { cause: secret })],
    ["what is no error", (secret) => secret],
  ];

  test.each(failures)("holds nothing of it where the store fails with %s, wherever it does", async (_what, failure) => {
    const { service, called, instead } = await startWatched();
    called.clear();
    const secrets = await buy(service);
    const purchase = await prepare(service);
    const { checkoutId = "" } = purchase;
    const live = { token: service.liveToken };
    const secret = `${service.liveToken} Zubaida 9811122233 ${checkoutId}`;
    service.logs.length = 0;
    // This method does not use the database.
    const methods = [...called, "ping"].filter((method) => method !== "isOverloaded");
    expect(methods.length).toBeGreaterThan(4);
    for (const method of methods) {
      instead.set(method, () => Promise.reject(failure(secret)));
      await service.inject("/readyz");
      await service.call("get-customer-information", { code: USERNAME }, live);
      await service.call("get-subscription-package", FIBER, live);
      await service.call("subscription-package-topup", purchase, live);
      await service.call("txn-status", { checkoutId }, live);
      instead.clear();
    }
    const lines = inspect(service, [...secrets, checkoutId]);
    const told = lines.filter(({ msg }) => msg === "a request failed" || msg === "the store is unavailable");
    expect(told.length).toBeGreaterThanOrEqual(methods.length - 1);
    // Each failure leads to its request.
    const ids = lines.filter(({ msg }) => msg === "request").map(({ requestId }) => requestId);
    expect(told.filter(({ requestId }) => !ids.includes(requestId))).toEqual([]);
  });

  test("holds nothing of an answer that cannot be written", async () => {
    const { service, instead } = await startWatched();
    const secrets = await buy(service);
    const { checkoutId = "" } = await prepare(service);
    service.logs.length = 0;
    const whose = { partnerId: 1, environment: "production" };
    const outcome = { checkoutId, ...whose, firstName: "Zubaida", mobile: "9811122233" };
    instead.set("findOutcome", () => Promise.resolve(outcome));
    const { status, json } = await service.call("txn-status", { checkoutId }, { token: service.liveToken });
    expect([status, json.code]).toEqual([500, "400ae001"]);
    const lines = inspect(service, [...secrets, checkoutId]);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ["error", "a request failed"],
      ["info", "request"],
    ]);
  });
});
