import { describe, expect, test } from "vitest";
import { moveHorizon } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import { type Answer, prepareTopUp, START, startTestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
const VALID_MS = 300_000;
const DAY_MS = 86_400_000;

const outcome = ({ status, json }: Answer) => [status, json.code];
/** An answer without what differs from request to request by its nature. */
const withoutRequestId = ({ status, json }: Answer) => {
  const { requestId: _, ...body } = json.body;
  return JSON.stringify({ status, json: { ...json, body } });
};

describe("a checkoutId", () => {
  test("can be used up to and including five minutes after its issue, and no longer", async () => {
    const service = await startTestService();
    const [first, second] = [await prepareTopUp(service, FIBER), await prepareTopUp(service, FIBER)];
    service.now = START + VALID_MS;
    expect(outcome(await service.call("subscription-package-topup", first))).toEqual([200, "400ab001"]);
    service.now += 1;
    expect(outcome(await service.call("subscription-package-topup", second))).toEqual([410, "400ab102"]);
  });

  test("issued by one version works on the other", async () => {
    const service = await startTestService();
    const { json } = await service.call("get-subscription-package", FIBER, { version: "v1.0.0" });
    const [bouquet] = json.body.internet.bouquets;
    const purchase = { ...FIBER, checkoutId: json.body.checkoutId, bouquetId: bouquet.code, amt: bouquet.amt };
    expect((await service.call("subscription-package-topup", purchase, { version: "v1.0.1" })).status).toBe(200);
    const replay = await service.call("subscription-package-topup", purchase, { version: "v1.0.0" });
    expect(replay.headers["idempotent-replayed"]).toBe("true");
  });

  test("that is unknown, altered, or another partner's gets one and the same answer", async () => {
    const service = await startTestService();
    const other = await service.issue(await service.addPartner("other"), "trial");
    const purchase = await prepareTopUp(service, FIBER);
    const checkoutId = purchase["checkoutId"] as string;
    const altered = checkoutId.slice(0, 40) + (checkoutId[40] === "A" ? "B" : "A") + checkoutId.slice(41);
    for (const operation of ["subscription-package-topup", "txn-status"] as const) {
      const answers = [
        await service.call(operation, { ...purchase, checkoutId: "A".repeat(64) }),
        await service.call(operation, { ...purchase, checkoutId: "short" }),
        await service.call(operation, { ...purchase, checkoutId: altered }),
        await service.call(operation, purchase, { token: other }),
        await service.call(operation, purchase, { token: service.liveToken }),
      ];
      expect(answers.map(outcome)).toEqual(Array(5).fill([404, "400ab101"]));
      expect(new Set(answers.map(withoutRequestId)).size).toBe(1);
      expect(answers[0]?.json.body).toMatchObject({
        retry: "fix_request",
        message: expect.stringContaining("does not prove that no top-up was made"),
      });
    }
    expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    for (const operation of ["subscription-package-topup", "txn-status"] as const)
      expect(outcome(await service.call(operation, purchase, { token: other }))).toEqual([404, "400ab101"]);
  });

  test("for another connection is a mismatch, and uses nothing up", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    for (const wrong of [{ cuid: "1000002" }, { service: "tv" }, { reqId: "trial2" }]) {
      const answer = await service.call("subscription-package-topup", { ...purchase, ...wrong });
      expect(outcome(answer)).toEqual([422, "400ab104"]);
    }
    expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
  });
});

describe("a top-up that is sent again", () => {
  test("is answered with the very same result, long after expiry too", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const first = await service.call("subscription-package-topup", { ...purchase, udf1: "order 1" });
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    service.now = START + 365 * 24 * 60 * 60 * 1000;
    const partner = await partnersOf(service.store).find("wallet");
    const token = await service.issue(partner as NonNullable<typeof partner>, "trial");
    const again = await service.call("subscription-package-topup", { ...purchase, amt: "1130.00" }, { token });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });

  test("with another value is refused as used", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-1M");
    await service.call("subscription-package-topup", purchase);
    const others = { cuid: "1000002", service: "tv", reqId: "trial2", bouquetId: "TRIAL-NET-3M", amt: "1131" };
    for (const [field, value] of Object.entries(others)) {
      const { status, json } = await service.call("subscription-package-topup", { ...purchase, [field]: value });
      expect([status, json.code, json.body.retry], field).toEqual([409, "400ab103", "query_status"]);
    }
  });

  test("twenty times at once makes one transaction and twenty equal answers", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const calls = Array.from({ length: 20 }, () => service.call("subscription-package-topup", purchase));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
    const { json } = await service.call("get-subscription-package", FIBER);
    expect(json.body.internet.subscriptions[0].enddate).toBe("2027-01-10 09:00:00");
  });
});

describe("txn-status", () => {
  test("says not topped up while the checkout is usable and for a minute after, then never", async () => {
    const service = await startTestService();
    const { checkoutId } = await prepareTopUp(service, FIBER);
    const ask = async (age: number) => {
      service.now = START + age;
      return outcome(await service.call("txn-status", { checkoutId }));
    };
    expect(await ask(0)).toEqual([404, "400ab107"]);
    expect(await ask(VALID_MS)).toEqual([404, "400ab107"]);
    expect(await ask(VALID_MS + 60_000)).toEqual([404, "400ab107"]);
    expect(await ask(VALID_MS + 60_001)).toEqual([410, "400ab108"]);
  });

  test("says never for good, though the clock is set back after it was said", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const { checkoutId } = purchase;
    for (const age of [VALID_MS + 60_001, 0, VALID_MS + 60_000]) {
      service.now = START + age;
      expect(outcome(await service.call("txn-status", { checkoutId }))).toEqual([410, "400ab108"]);
    }
    service.now = START;
    expect(outcome(await service.call("subscription-package-topup", purchase))).toEqual([410, "400ab102"]);
  });

  test("says unknown of a checkout from before the horizon, and so does a top-up, and never of one that was issued at it", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    service.now = START + 3 * DAY_MS;
    const { checkoutId } = purchase;
    await moveHorizon(service, START);
    expect(outcome(await service.call("txn-status", { checkoutId }))).toEqual([410, "400ab108"]);
    await moveHorizon(service, START + 1);
    expect(outcome(await service.call("txn-status", { checkoutId }))).toEqual([404, "400ab101"]);
    expect(outcome(await service.call("subscription-package-topup", purchase))).toEqual([404, "400ab101"]);
  });

  test("still gives a recorded result after that", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const toppedUp = await service.call("subscription-package-topup", purchase);
    service.now = START + VALID_MS + 60_001;
    const queried = await service.call("txn-status", { checkoutId: purchase["checkoutId"] });
    expect(queried.json).toEqual(toppedUp.json);
  });
});
