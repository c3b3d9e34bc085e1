import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../src/system/logger.ts";
import { PREFIX, prepareTopUp, startTestService } from "../support/service.ts";

const WITHOUT_TIMES = [/"time":"[^"]+"/, /"ms":[\d.]+/] as const;

function withoutTimes(line: string): string {
  return WITHOUT_TIMES.reduce((text, pattern) => text.replace(pattern, ""), line);
}

/** The same line as the logger itself writes it. */
function asLogged(line: string): string {
  const lines: string[] = [];
  const { level: _level, time: _time, msg, ...fields } = JSON.parse(line);
  createLogger("info", { write: (written) => lines.push(written) }).info(fields, msg);
  return lines.join("");
}

describe("the line of a request", () => {
  test("looks like one of the logger's for every outcome", async () => {
    const service = await startTestService();
    await service.call("get-customer-information", { code: "1000001" });
    await service.call("get-customer-information", { code: "nobody" });
    await service.call("txn-status", {}, { token: "none" });
    // Requests without a token get only one line a second.
    const other = await startTestService();
    await other.inject({ method: "POST", url: `/no"where` });
    const logs = [service, other].flatMap((each) => each.logs);
    const lines = logs.filter((line) => line.includes('"msg":"request"'));
    expect(lines.map((line) => JSON.parse(line)).map(({ status, outcome }) => [status, outcome])).toEqual([
      [200, undefined],
      [404, "customer_not_found"],
      [401, "unknown_token"],
      [404, "unknown_operation"],
    ]);
    for (const line of lines) {
      expect(withoutTimes(line)).toBe(withoutTimes(asLogged(line)));
      expect(line).toMatch(WITHOUT_TIMES[0]);
      expect(line).toMatch(WITHOUT_TIMES[1]);
    }
  });
});

test("a flood without a valid token gets one line, while each request of a partner has its own", async () => {
  const service = await startTestService();
  for (let index = 0; index < 50; index += 1) await service.call("txn-status", {}, { token: "none" });
  for (let index = 0; index < 5; index += 1) await service.call("get-customer-information", { code: "1000001" });
  const lines = service.logs.filter((line) => line.includes('"msg":"request"')).map((line) => JSON.parse(line));
  expect(lines.filter(({ partner }) => partner !== undefined)).toHaveLength(5);
  expect(lines.filter(({ partner }) => partner === undefined)).toHaveLength(1);
});

test("health checks and pages have no line, and do not count as requests without a valid token", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const service = await startTestService();
  for (const url of ["/readyz", "/healthz", "/docs", "/readyz", "/healthz?deep=1"])
    expect((await service.inject({ method: "GET", url })).statusCode).toBe(200);
  vi.advanceTimersByTime(1_000);
  expect(service.logs.filter((line) => line.includes("request"))).toEqual([]);
  await service.call("txn-status", {}, { token: "none" });
  await service.inject({ method: "GET", url: "/readyz" });
  await service.call("txn-status", {}, { token: "none" });
  vi.advanceTimersByTime(1_000);
  expect(service.logs.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
    ...{ msg: "more requests without a valid token", count: 1, outcomes: "unknown_token 1" },
  });
});

describe("the line of a top-up", () => {
  const fieldsOf = (line: string | undefined) => {
    const { status, partnerName, checkoutId } = JSON.parse(line ?? "{}");
    return [status, partnerName, checkoutId];
  };

  test("names the partner and the checkoutId, whether it was made or refused", async () => {
    const service = await startTestService();
    const shop = `Asha's "Shop"`;
    const token = await service.issue(await service.addPartner(shop), "trial");
    const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
    const others = { ...purchase, checkoutId: `${purchase["checkoutId"]?.slice(0, -1)}_` };
    for (const body of [purchase, others]) await service.call("subscription-package-topup", body);
    await service.call("subscription-package-topup", purchase, { token });
    const lines = service.logs.slice(-3);
    expect(lines.map(fieldsOf)).toEqual([
      [200, "wallet", purchase["checkoutId"]],
      [404, "wallet", others.checkoutId],
      [404, shop, purchase["checkoutId"]],
    ]);
    for (const line of lines) expect(withoutTimes(line)).toBe(withoutTimes(asLogged(line)));
  });

  test("holds no other value that is sent as a checkoutId", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
    const token = service.trialToken;
    for (const checkoutId of [token, token.padEnd(64, "x"), "9811122233", "Asha", 9811122233, null]) {
      await service.call("subscription-package-topup", { ...purchase, checkoutId });
      const [, ...told] = fieldsOf(service.logs.at(-1));
      expect(told).toEqual(["wallet", undefined]);
    }
  });

  test("holds no checkoutId where the request was not admitted, or has no body", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
    await service.call("subscription-package-topup", purchase, { token: "none" });
    expect(fieldsOf(service.logs.at(-1))).toEqual([401, undefined, undefined]);
    const authorization = `Bearer ${service.trialToken}`;
    const url = `${PREFIX}/v1.0.1/subscription-package-topup`;
    await service.inject({ method: "POST", url, headers: { authorization } });
    expect(fieldsOf(service.logs.at(-1))).toEqual([415, "wallet", undefined]);
  });
});
