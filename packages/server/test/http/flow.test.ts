import { describe, expect, test } from "vitest";
import { prepareTopUp, startTestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

describe("the typical flow", () => {
  test.each(["v1.0.1", "v1.0.0"] as const)("looks up, lists, tops up and queries in %s", async (version) => {
    const service = await startTestService();
    const found = await service.call("get-customer-information", { code: "1000001" }, { version });
    expect(found.json).toMatchObject({ success: true, code: "400aa010", body: { customer: { cuid: "1000001" } } });

    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    const toppedUp = await service.call("subscription-package-topup", purchase, { version });
    expect(toppedUp.status).toBe(200);
    expect(toppedUp.json).toMatchObject({ success: true, code: "400ab001" });
    expect(toppedUp.json.body.result).toMatchObject({
      orderId: purchase["checkoutId"],
      bouquetId: "TRIAL-NET-3M",
      amt: 3220,
      status: "success",
      txnDate: "2026-11-20 09:00:00",
    });

    const queried = await service.call("txn-status", { checkoutId: purchase["checkoutId"] }, { version });
    expect(queried.json).toEqual(toppedUp.json);

    const listed = await service.call("get-subscription-package", FIBER, { version });
    expect(listed.json.body.internet.subscriptions).toEqual([
      {
        code: "TRIAL-NET-3M",
        name: "Trial Fiber 100 Mbps (QUARTERLY)",
        startdate: "2026-11-10 09:00:00",
        enddate: "2027-03-10 09:00:00",
      },
    ]);
  });
});
