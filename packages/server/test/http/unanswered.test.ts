import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ANSWERED_WITHIN_MS, LOOKING_EVERY_MS, Pipeline } from "../../src/partner/pipeline.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { expectInContract } from "../support/contract.ts";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { type OperationName, PREFIX, prepareTopUp, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const stopwatch = performance.now.bind(performance);
let passed = 0;

/** Moves the time of the service's timer and of its stopwatch. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= LOOKING_EVERY_MS) {
    passed += LOOKING_EVERY_MS;
    await vi.advanceTimersByTimeAsync(LOOKING_EVERY_MS);
  }
}

/** A service and its store, whose methods hang from `hold` until `release`. */
async function startWithStandstill() {
  vi.spyOn(performance, "now").mockImplementation(() => stopwatch() + passed);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const standing: (() => void)[] = [];
  const instead = new Map<string, Instead>();
  let broken: Error | undefined;
  const service = await startTestService({ wrapStore: interposed(instead) });
  const url = await service.app.listen({ host: "127.0.0.1", port: 0 });
  return {
    service,
    url,
    /** Calls an operation over a socket. */
    call: async (operation: OperationName, body: object) => {
      const response = await fetch(`${url}${PREFIX}/v1.0.1/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
      const json = (await response.json()) as any;
      const headers = Object.fromEntries(response.headers);
      expectInContract("v1.0.1", operation, response.status, json, headers);
      return { status: response.status, headers, json };
    },
    hold: (name: keyof Store) =>
      instead.set(name, async (method, args) => {
        await new Promise<void>((resolve) => standing.push(resolve));
        if (broken !== undefined) throw broken;
        return method(...args);
      }),
    /** Lets hanging methods continue, or fail. */
    release: async (error?: Error) => {
      instead.clear();
      broken = error;
      for (const resume of standing) resume();
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
    isStanding: async () => {
      for (let turn = 0; standing.length === 0 && turn < 10_000; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      expect(standing).not.toEqual([]);
    },
  };
}

/** Warnings and errors in the log. */
function saidOf({ logs }: TestService): unknown[][] {
  return logs
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ level }) => level !== "info" && level !== "debug")
    .map(({ level, msg, cause }) => [level, msg, cause]);
}

const SAID = ["warn", "the store is unavailable", "the store did not answer within 25 seconds"];
const ENOUGH_MS = ANSWERED_WITHIN_MS + LOOKING_EVERY_MS;

describe("a store that stands still", () => {
  test("makes a top-up unavailable in time, and txn-status gives its real outcome", async () => {
    const { service, call, hold, release, isStanding } = await startWithStandstill();
    const purchase = await prepareTopUp(service, FIBER);
    hold("settleTopUp");
    let isAnswered = false;
    const calling = call("subscription-package-topup", purchase).finally(() => {
      isAnswered = true;
    });
    await isStanding();
    await pass(ANSWERED_WITHIN_MS - 4 * LOOKING_EVERY_MS);
    expect(isAnswered).toBe(false);
    await pass(5 * LOOKING_EVERY_MS);
    const { status, headers, json } = await calling;
    const told = [status, json.code, json.body.retry, headers["retry-after"]];
    expect(told).toEqual([503, "400ae002", "query_status", "1"]);
    expect((await call("txn-status", purchase)).json.body.reason).toBe("not_topped_up");

    await release();
    const recorded = await call("txn-status", purchase);
    expect(recorded.status).toBe(200);
    const again = await call("subscription-package-topup", purchase);
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([200, "true"]);
    expect(again.json.body).toEqual(recorded.json.body);
    expect(saidOf(service)).toEqual([SAID]);
    const ends = service.logs.filter((line) => line.includes(json.body.requestId) && line.includes('"request"'));
    expect(ends.map((line) => JSON.parse(line)).map(({ status, outcome }) => [status, outcome])).toEqual([
      [503, "unavailable"],
    ]);
  });

  test.each<[OperationName, object, keyof Store]>([
    ["get-customer-information", { code: "1000001" }, "lookUpCustomers"],
    ["txn-status", {}, "findAccessToken"],
    ["get-subscription-package", FIBER, "findConnection"],
    ["txn-status", { checkoutId: "x".repeat(64) }, "checkoutSecrets"],
  ])("makes %s with %j unavailable in time, when it stands in %s", async (operation, body, method) => {
    const errors = method === "lookUpCustomers" ? [new StoreUnavailable("away"), new TypeError("a defect")] : [];
    for (const error of [undefined, ...errors]) {
      const { service, call, hold, release, isStanding } = await startWithStandstill();
      hold(method);
      const calling = call(operation, body);
      await isStanding();
      await pass(ENOUGH_MS);
      const { status, json } = await calling;
      expect([status, json.code, json.body.retry]).toEqual([503, "400ae002", "same_request"]);
      await release(error);
      expect(saidOf(service)).toEqual([SAID]);
    }
  });

  test.each(["", "TE: x\r\n"])(
    "answers on a socket that was silent, and what came there meanwhile (%j)",
    async (headers) => {
      const { service, hold, isStanding, release } = await startWithStandstill();
      const { socket, received } = await openSocket(service);
      const answers = () => received().match(/HTTP\/1\.1 \d+/g) ?? [];
      const send = (operation: string, body: object) =>
        socket.write(requestText(service, operation, body, { headers }));
      send("get-customer-information", { code: "1000001" });
      await vi.waitFor(() => expect(answers()).toHaveLength(1));
      await pass(20_000);
      const [one, two] = [await prepareTopUp(service, FIBER), await prepareTopUp(service, FIBER)];
      hold("settleTopUp");
      send("subscription-package-topup", one);
      await isStanding();
      send("subscription-package-topup", two);
      await sleep(50);
      for (let looks = 0; looks < 4; looks += 1) await pass(ENOUGH_MS / 2).then(() => sleep(50));
      expect(answers()).toEqual(["HTTP/1.1 200", "HTTP/1.1 503", "HTTP/1.1 503"]);
      await release();
      const ends = service.logs.filter((line) => line.includes("topup")).map((line) => JSON.parse(line));
      expect(ends.map(({ status }) => status)).toEqual([503, 503]);
    },
  );

  test("does not replace an answer that is ready when the time is over", async () => {
    const { service, call } = await startWithStandstill();
    const purchase = await prepareTopUp(service, FIBER);
    const decide = Reflect.get(Pipeline.prototype, "decide") as (...decided: unknown[]) => void;
    vi.spyOn(Pipeline.prototype, "decide").mockImplementationOnce(function (this: Pipeline, ...decided) {
      Reflect.apply(decide, this, decided);
      // A blocked event loop runs its timers before the end of the turn.
      passed += ENOUGH_MS;
      vi.advanceTimersByTime(LOOKING_EVERY_MS);
    });
    const { status, headers, json } = await call("subscription-package-topup", purchase);
    expect([status, json.success, json.code, headers["retry-after"]]).toEqual([200, true, "400ab001", undefined]);
    expect(saidOf(service)).toEqual([]);
  });

  test("makes the service not ready in time", async () => {
    const { service, url, hold, release, isStanding } = await startWithStandstill();
    hold("ping");
    const asking = fetch(`${url}/readyz`);
    await isStanding();
    await pass(ENOUGH_MS);
    expect((await asking).status).toBe(503);
    await release();
    expect(saidOf(service)).toEqual([SAID]);
  });

  test("is not reported to a caller that has left", async () => {
    const { service, hold, release, isStanding } = await startWithStandstill();
    const theirs = once(service.app.server, "connection");
    const { socket } = await openSocket(service);
    const [accepted] = await theirs;
    hold("lookUpCustomers");
    socket.write(requestText(service, "get-customer-information", { code: "1000001" }));
    await isStanding();
    const left = new Promise((resolve) => accepted.on("close", resolve));
    socket.resetAndDestroy();
    await left;
    await pass(ENOUGH_MS);
    await release();
    expect(saidOf(service)).toEqual([]);
    expect(service.logs.filter((line) => line.includes('"gave_up"'))).toHaveLength(1);
  });
});
