import { describe, expect, test } from "vitest";
import { LazyLogger } from "../../src/http/lazy-logger.ts";
import { createLogger } from "../../src/log.ts";
import { PREFIX, prepareTopUp, startTestService } from "../support/service.ts";

const WITHOUT_TIMES = [/"time":"[^"]+"/, /"ms":[\d.]+/] as const;

function withoutTimes(line: string): string {
  return WITHOUT_TIMES.reduce((text, pattern) => text.replace(pattern, ""), line);
}

/** The line that the logger itself makes of a request's. */
function asLogged(line: string): string {
  const lines: string[] = [];
  const { level: _level, time: _time, requestId, msg, ...fields } = JSON.parse(line);
  createLogger("info", { write: (written) => lines.push(written) })
    .child({ requestId })
    .info(fields, msg);
  return lines.join("");
}

describe("the line of a request", () => {
  test("looks like one of the logger's, whatever came of the request", async () => {
    const service = await startTestService();
    await service.call("get-customer-information", { code: "1000001" });
    await service.call("get-customer-information", { code: "nobody" });
    await service.call("txn-status", {}, { token: "none" });
    await service.app.inject({ method: "POST", url: `/no"where` });
    await service.app.inject({ method: "GET", url: "/healthz?deep=1" });
    const lines = service.logs.filter((line) => line.includes('"msg":"request"'));
    expect(lines.map((line) => JSON.parse(line)).map(({ status, outcome }) => [status, outcome])).toEqual([
      [200, undefined],
      [404, "customer_not_found"],
      [401, "unknown_token"],
      [404, "unknown_operation"],
      [200, undefined],
    ]);
    for (const line of lines) {
      expect(withoutTimes(line)).toBe(withoutTimes(asLogged(line)));
      expect(line).toMatch(WITHOUT_TIMES[0]);
      expect(line).toMatch(WITHOUT_TIMES[1]);
    }
    expect(JSON.parse(lines[4] ?? "").route).toBe("/healthz");
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

describe("a logger that is made when it is needed", () => {
  test("logs as the one that it stands for, and its children with their bindings", () => {
    const lines: string[] = [];
    const plain = createLogger("info", { write: (line) => lines.push(line) });
    let made = 0;
    const lazy = new LazyLogger(() => {
      made += 1;
      return plain;
    });
    const child = lazy.child({ requestId: "r1" });
    expect(made).toBe(0);
    child.debug("nothing");
    child.warn({ cause: "away", secret: "x" }, "the store is away");
    lazy.error("a request failed");
    lazy.silent("nothing");
    expect(made).toBe(1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", requestId: "r1", cause: "away", msg: "the store is away" },
      { level: "error", msg: "a request failed" },
    ]);
    expect(lines.join("")).not.toContain("secret");
    lazy.level = "fatal";
    expect(plain.level).toBe("fatal");
    expect(lazy.level).toBe("fatal");
    lazy.child({ requestId: "r2" }).error("not told");
    lazy.child({ requestId: "r2" }).fatal("told");
    expect(lines).toHaveLength(3);
  });
});
