import { describe, expect, test, vi } from "vitest";
import type { RefusedCall, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { CATALOGUE, SITA_NET, SITA as SITA_OF_FILE } from "../support/provider-files.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { type OpenOptions, prepareTopUp, startTestService, type TestService } from "../support/service.ts";

const SITA = { code: "1000001" };

/** A service whose partner has low limits, and whose stopwatch the test turns. */
async function limitedService(limits: object, options: Partial<OpenOptions> = {}) {
  const time = { ms: 0 };
  const refusedCalls: RefusedCall[] = [];
  const note = (call: RefusedCall) => void refusedCalls.push(call);
  const service = await startTestService({ stopwatch: () => time.ms, refusedCalls: { note }, ...options });
  await limit(service, limits);
  const lookUp = async (code: string) => service.call("get-customer-information", { code });
  return { service, time, refusedCalls, lookUp };
}

const limit = ({ store, now }: TestService, limits: object) => partnersOf(store).setLimits("wallet", limits, by(now));

describe("a partner that sends too fast", () => {
  test.each([true, false])(
    "is refused, keeps its connection, and is served again (fast door: %s)",
    async (hasFastDoor) => {
      const { service, time, refusedCalls } = await limitedService({ rate: 2, burst: 3 }, { hasFastDoor });
      const { socket, received } = await openSocket(service);
      const send = async (count: number) => {
        for (let sent = 0; sent < count; sent += 1) {
          const answers = statusesIn(received()).length + 1;
          socket.write(requestText(service, "get-customer-information", SITA));
          await vi.waitFor(() => expect(statusesIn(received())).toHaveLength(answers));
        }
        return statusesIn(received()).slice(-count);
      };
      expect(await send(4)).toEqual(["200", "200", "200", "429"]);
      expect(received()).toMatch(
        /retry-after: 1\r\nratelimit-policy: "calls";q=2;w=1\r\nratelimit: "calls";r=0;t=1\r\n/i,
      );
      time.ms += 500;
      expect(await send(2)).toEqual(["200", "429"]);
      expect(service.app.fastCalls() > 0).toBe(hasFastDoor);
      const refused = { reason: "rate_limited", detail: "calls" };
      expect(refusedCalls).toMatchObject([refused, refused]);
      socket.destroy();
    },
  );

  test("pushes no practice of others out: refused calls are not kept for the report", async () => {
    const kept: unknown[] = [];
    const trialCalls = { note: (each: unknown) => kept.push(each) };
    const { service } = await limitedService({ rate: 1, burst: 2 }, { trialCalls });
    const statuses: number[] = [];
    for (let times = 0; times < 5; times += 1)
      statuses.push((await service.call("get-customer-information", SITA)).status);
    expect([statuses, kept.length]).toEqual([[200, 200, 429, 429, 429], 2]);
  });

  test("does not slow another partner, and gets new limits at once", async () => {
    const { service, lookUp } = await limitedService({ rate: 1, burst: 1 });
    const other = await service.issue(await service.addPartner("other"), "trial");
    expect([(await lookUp(SITA.code)).status, (await lookUp(SITA.code)).status]).toEqual([200, 429]);
    expect((await service.call("get-customer-information", SITA, { token: other })).status).toBe(200);
    await limit(service, { burst: 3 });
    expect((await lookUp(SITA.code)).status).toBe(200);
  });

  test("in the trial is still served in production", async () => {
    const { service, lookUp } = await limitedService({ rate: 1, burst: 2, newLookUps: 1 });
    for (const status of [200, 200, 429]) expect((await lookUp(SITA.code)).status).toBe(status);
    const live = { token: service.liveToken };
    expect((await service.call("get-customer-information", { code: "nobody" }, live)).status).toBe(404);
  });
});

test("a partner that has reached its limit of a day in the trial still tops up in production", async () => {
  const { service } = await limitedService({ dayTopUps: "1" });
  await service.importCatalogue(CATALOGUE);
  await service.importCustomers([SITA_OF_FILE]);
  const statusIn = async (token: string, connection: Parameters<typeof prepareTopUp>[1], bouquet?: string) => {
    const purchase = await prepareTopUp(service, connection, bouquet, { token });
    return (await service.call("subscription-package-topup", purchase, { token })).status;
  };
  const trial = { cuid: "1000002", service: "internet", reqId: "trial2" };
  expect(await statusIn(service.trialToken, trial)).toBe(200);
  expect(await statusIn(service.trialToken, trial)).toBe(403);
  expect(await statusIn(service.liveToken, SITA_NET, "NET-1M")).toBe(200);
});

describe("a partner that looks up too much", () => {
  const TWINS = ["9811111111", "9822222222"] as const;
  const ambiguous = (mobile: string, index: number) =>
    [0, 1].map((each) => ({
      ...{ cuid: `${2_000_000 + 2 * index + each}`, first_name: "A", last_name: "B", mobile, status: "active" },
      connections: {},
    }));
  const LISTING = "get-subscription-package";
  const RAM = { cuid: "1000002", service: "internet", reqId: "trial2" };

  /** Codes of a stranger, of nobody and of two customers have been looked up, and the budget is spent. */
  async function spent() {
    const limited = await limitedService({ newLookUps: 3 });
    const { service, lookUp } = limited;
    await service.importCustomers(TWINS.flatMap(ambiguous), { environment: "trial" });
    const statuses = async () => {
      const answers = [];
      for (const code of ["nobody", TWINS[0], "9800000002"]) answers.push((await lookUp(code)).status);
      return answers;
    };
    expect(await statuses()).toEqual([404, 409, 200]);
    return { ...limited, statuses };
  }

  test("gets one answer for all other strangers, whoever they are", async () => {
    const { service, lookUp, refusedCalls } = await spent();
    const none = { service: "internet", reqId: "none" };
    const answers = [
      ...[await lookUp("1000003"), await lookUp("9800000004"), await lookUp("nobody-2"), await lookUp(TWINS[1])],
      ...[await lookUp("1000005"), await lookUp("9800000002 1")],
      await service.call(LISTING, { ...none, cuid: "1000003" }),
      await service.call(LISTING, { ...none, cuid: "1000001", reqId: "trial1" }),
      await service.call(LISTING, { ...none, cuid: "nobody-3" }),
    ];
    const texts = answers.map(({ json, headers, status }) => {
      const { date: _, "x-request-id": id, ...others } = headers;
      return JSON.stringify({ status, json, others }).replaceAll(String(id), "");
    });
    expect(new Set(texts)).toEqual(new Set([texts[0]]));
    expect(answers[0]).toMatchObject({
      status: 429,
      headers: {
        "retry-after": "3600",
        "ratelimit-policy": '"look-ups";q=3;w=3600',
        ratelimit: '"look-ups";r=0;t=3600',
      },
    });
    const limited = refusedCalls.filter(({ reason }) => reason === "rate_limited");
    expect(limited.map(({ detail }) => detail)).toEqual(answers.map(() => "look-ups"));
  });

  test("gets what it looked up in the last hour again, and can list it and top it up", async () => {
    const { service, lookUp, statuses } = await spent();
    expect(await statuses()).toEqual([404, 409, 200]);
    const purchase = await prepareTopUp(service, RAM);
    expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    expect((await lookUp("1000003")).status).toBe(429);
    service.now += 3_600_000;
    for (const code of ["1000003", "1000004", "nobody-2"]) expect((await lookUp(code)).status).not.toBe(429);
    expect((await lookUp("1000001")).status).toBe(429);
    // A customer whom it has topped up.
    await prepareTopUp(service, RAM);
    expect((await lookUp("9800000002")).status).toBe(200);
  });

  test("costs one query for each customer whom it has topped up", async () => {
    let asked = 0;
    const wrapStore = (store: Store): Store => ({
      ...store,
      hasToppedUp: (...of) => {
        asked += 1;
        return store.hasToppedUp(...of);
      },
    });
    const { service, lookUp } = await limitedService({}, { wrapStore });
    const request = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
    await service.call("subscription-package-topup", request);
    const before = asked;
    for (let time = 0; time < 3; time += 1) expect((await lookUp(SITA.code)).status).toBe(200);
    expect(asked - before).toBe(1);
  });

  test("reads at most 600 customers in an hour by counting upwards", async () => {
    const { service, time } = await limitedService({});
    const rows = Array.from({ length: 700 }, (_, index) => ({
      ...{ cuid: `${5_000_000 + index}`, first_name: "A", last_name: "B", status: "active", connections: {} },
    }));
    await service.importCustomers(rows);
    const counts = new Map<number, number>();
    for (let code = 4_999_900; code < 5_000_700; code += 1) {
      time.ms += 50;
      const options = { token: service.liveToken };
      const { status } = await service.call("get-customer-information", { code: `${code}` }, options);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ 200: 500, 404: 100, 429: 200 });
  });
});

function statusesIn(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status as string);
}
