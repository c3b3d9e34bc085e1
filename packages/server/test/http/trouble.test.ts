import { describe, expect, test } from "vitest";
import { StoreContended, StoreUnavailable } from "../../src/store/errors.ts";
import { wellState } from "../../src/system/service-state.ts";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { PREFIX, prepareTopUp, startTestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** A store whose methods can be made to fail. */
function breakable() {
  const failures = new Map<string, Instead>();
  return { failures, wrapStore: interposed(failures) };
}

describe("a store that is away", () => {
  test("makes the service not ready, but alive; the log says so once, and once when the store is available again", async () => {
    const { failures, wrapStore } = breakable();
    const service = await startTestService({ wrapStore });
    const readyThrice = async () => {
      const codes: number[] = [];
      for (let time = 0; time < 3; time += 1) codes.push((await service.inject("/readyz")).statusCode);
      return codes;
    };
    const said = () =>
      service.logs
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => String(msg).includes("the store is"))
        .map(({ level, msg, cause }) => [level, msg, cause]);

    expect([await readyThrice(), said()]).toEqual([[200, 200, 200], []]);
    failures.set("ping", () => Promise.reject(new StoreUnavailable("the disk is full")));
    const away = ["warn", "not ready: the store is unavailable", "the disk is full"];
    expect([await readyThrice(), said()]).toEqual([[503, 503, 503], [away]]);
    expect((await service.inject("/healthz")).statusCode).toBe(200);
    failures.clear();
    const back = ["info", "ready again: the store is available", undefined];
    expect([await readyThrice(), said()]).toEqual([
      [200, 200, 200],
      [away, back],
    ]);
  });

  test("makes a top-up unavailable, and sends the partner to txn-status", async () => {
    const { failures, wrapStore } = breakable();
    const service = await startTestService({ wrapStore });
    const purchase = await prepareTopUp(service, FIBER);
    failures.set("settleTopUp", () => Promise.reject(new StoreUnavailable("away")));
    const { status, headers, json } = await service.call("subscription-package-topup", purchase);
    const told = [status, json.code, json.body.reason, json.body.retry, headers["retry-after"]];
    expect(told).toEqual([503, "400ae002", "unavailable", "query_status", "1"]);
  });

  test("makes other requests unavailable, to be sent again as they are", async () => {
    const { failures, wrapStore } = breakable();
    const service = await startTestService({ wrapStore });
    failures.set("findAccessToken", () => Promise.reject(new StoreUnavailable("away")));
    const { status, json } = await service.call("get-customer-information", { code: "1000001" });
    expect([status, json.code, json.body.retry]).toEqual([503, "400ae002", "same_request"]);
  });
});

describe("a store that answers and records nothing", () => {
  const ready = { status: "ready" };
  const startFailing = async () => {
    const { failures, wrapStore } = breakable();
    const service = await startTestService({ wrapStore });
    const buy = async (changed: { readonly amt?: string } = {}) => {
      const purchase = await prepareTopUp(service, FIBER);
      return (await service.call("subscription-package-topup", { ...purchase, ...changed })).status;
    };
    const failWith = (error: Error) => failures.set("settleTopUp", () => Promise.reject(error));
    const told = async () => {
      const answer = await service.inject("/readyz");
      return {
        ready: [answer.statusCode, answer.json()],
        logged: service.logs
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .filter(({ msg }) => /^(no top-up can be|top-ups are) recorded/.test(String(msg)))
          .map(({ level, msg, cause }) => [level, msg, cause]),
      };
    };
    return { service, buy, failures, failWith, told };
  };

  test("is shown by /readyz and the log, from its first failure until a top-up is recorded", async () => {
    const { service, buy, failures, failWith, told } = await startFailing();
    expect([await buy(), await told()]).toEqual([200, { ready: [200, ready], logged: [] }]);

    failWith(new StoreUnavailable("the disk is full"));
    const since = service.now;
    const failing = {
      ready: [200, { ...ready, recordingFailsSince: new Date(since).toISOString() }],
      logged: [["warn", "no top-up can be recorded", "the disk is full"]],
    };
    expect([await buy(), await told()]).toEqual([503, failing]);
    service.now += 60_000;
    expect([await buy(), await told()]).toEqual([503, failing]);

    failures.clear();
    // A refusal is answered without a write.
    expect([await buy({ amt: "0.01" }), await told()]).toEqual([422, failing]);
    const over = ["info", "top-ups are recorded again", undefined];
    const well = { ready: [200, ready], logged: [...failing.logged, over] };
    expect([await buy(), await told()]).toEqual([200, well]);
    expect([await buy(), await told()]).toEqual([200, well]);
  });

  test.each([
    ["others hold what is to be written", 503, new StoreContended("others hold the customer")],
    ["there is a defect", 500, new TypeError("no function")],
  ])("is not what a top-up meets where %s", async (_what, status, error) => {
    const { buy, failWith, told } = await startFailing();
    failWith(error);
    expect([await buy(), await told()]).toEqual([status, { ready: [200, ready], logged: [] }]);
  });
});

describe("a clock that was set back", () => {
  test("is shown by /readyz", async () => {
    const state = { ...wellState(), clockSetBackFrom: Date.UTC(2026, 10, 20, 12) };
    const service = await startTestService({ state });
    const answer = await service.inject("/readyz");
    const told = { status: "ready", clockSetBackFrom: "2026-11-20T12:00:00.000Z" };
    expect([answer.statusCode, answer.json()]).toEqual([200, told]);
  });
});

describe("an overload", () => {
  test("refuses top-ups before anything else is done with them, and nothing else", async () => {
    const service = await startTestService({ wrapStore: (store) => ({ ...store, isOverloaded: () => true }) });
    const { status, json, headers } = await service.call("subscription-package-topup", {}, { token: "nobody's" });
    expect([status, json.body.reason, json.body.retry]).toEqual([503, "unavailable", "same_request"]);
    expect(headers["retry-after"]).toBe("1");
    expect((await service.call("get-customer-information", { code: "1000001" })).status).toBe(200);
  });
});

describe("a defect", () => {
  test("is answered without a stack or an internal name, and logged with its place, but without its message", async () => {
    const { failures, wrapStore } = breakable();
    const service = await startTestService({ wrapStore });
    failures.set("lookUpCustomers", () => Promise.reject(new TypeError("secret-table is not a function")));
    const { status, json } = await service.call("get-customer-information", { code: "1000001" });
    expect([status, json.code, json.body.retry]).toEqual([500, "400ae001", "query_status"]);
    expect(JSON.stringify(json)).not.toMatch(/secret-table|TypeError|\.ts/);
    const logged = service.logs.map((line) => JSON.parse(line)).find(({ msg }) => msg === "a request failed");
    expect(logged).toMatchObject({ level: "error", requestId: json.body.requestId });
    expect(logged.err).toEqual({ type: "TypeError", at: expect.any(Array) });
    expect(logged.err.at[0]).toMatch(/^test\/http\/trouble\.test\.ts:\d+:\d+$/);
    expect(service.logs.join("")).not.toContain("secret-table");
  });
});

describe("the end of v1.0.0", () => {
  test("is announced on every answer of that version alone", async () => {
    const service = await startTestService({ deprecatedAt: Date.UTC(2027, 0, 1), sunsetAt: Date.UTC(2027, 11, 31) });
    for (const code of ["1000001", "nobody"]) {
      const { headers } = await service.call("get-customer-information", { code }, { version: "v1.0.0" });
      expect(headers["deprecation"]).toBe("@1798761600");
      expect(headers["sunset"]).toBe("Fri, 31 Dec 2027 00:00:00 GMT");
      expect(headers["link"]).toBe('</staging/api/third-party/v1.0.1/>; rel="successor-version"');
    }
    const headers = { authorization: `Bearer ${service.trialToken}` };
    const report = (version: string) => service.inject({ url: `${PREFIX}/${version}/partner/account`, headers });
    expect((await report("v1.0.0")).headers["deprecation"]).toBe("@1798761600");
    for (const current of [await service.call("get-customer-information", { code: "1000001" }), await report("v1.0.1")])
      expect(current.headers["deprecation"]).toBeUndefined();
    const plain = await (await startTestService()).call("txn-status", {}, { version: "v1.0.0" });
    expect(["deprecation", "sunset", "link"].filter((name) => name in plain.headers)).toEqual([]);
  });
});
