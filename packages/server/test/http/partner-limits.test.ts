import { describe, expect, test, vi } from "vitest";
import type { RefusedCall, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
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

  test("does not slow another partner, and gets new limits at once", async () => {
    const { service, lookUp } = await limitedService({ rate: 1, burst: 1 });
    const other = await service.issue(await service.addPartner("other"), "trial");
    expect([(await lookUp(SITA.code)).status, (await lookUp(SITA.code)).status]).toEqual([200, 429]);
    expect((await service.call("get-customer-information", SITA, { token: other })).status).toBe(200);
    await limit(service, { burst: 3 });
    expect((await lookUp(SITA.code)).status).toBe(200);
  });
});

describe("a partner that looks up too much", () => {
  test("gets 429 for unknown codes and new customers, while customers whom it has topped up answer", async () => {
    const { service, time, lookUp, refusedCalls } = await limitedService({ unknownLookUps: 2, newLookUps: 2 });
    const purchase = await prepareTopUp(service, { cuid: "1000004", service: "internet", reqId: "trial4" });
    expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    // Its listing counts for an hour.
    time.ms += 3_600_000;
    for (const code of ["nobody-1", "nobody-2", "nobody-1"]) expect((await lookUp(code)).status).toBe(404);
    for (const code of ["1000001", "1000002", "1000001"]) expect((await lookUp(code)).status).toBe(200);
    const [unknown, known] = [await lookUp("nobody-3"), await lookUp("1000003")];
    expect([unknown.status, known.status]).toEqual([429, 429]);
    const fields = {
      "retry-after": "3600",
      "ratelimit-policy": '"look-ups";q=4;w=3600',
      ratelimit: '"look-ups";r=0;t=3600',
    };
    expect(unknown.headers).toMatchObject(fields);
    expect(known.headers).toMatchObject(fields);
    const listing = { cuid: "1000003", service: "tv", reqId: "none" };
    expect((await service.call("get-subscription-package", listing)).status).toBe(429);
    expect((await lookUp("1000004")).status).toBe(200);
    const limited = refusedCalls.filter(({ reason }) => reason === "rate_limited");
    expect(limited.map(({ detail }) => detail)).toEqual(["look-ups", "look-ups", "look-ups"]);
    time.ms += 3_600_000;
    expect((await lookUp("1000003")).status).toBe(200);
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

  test("reads at most 660 customers in an hour by counting upwards", async () => {
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
    expect(Object.fromEntries(counts)).toEqual({ 200: 600, 404: 60, 429: 140 });
  });
});

function statusesIn(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status as string);
}
