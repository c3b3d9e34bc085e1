import { describe, expect, test } from "vitest";
import { moveHorizon } from "../support/history.ts";
import { type Answer, prepareTopUp, START, startTestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
const DAY_MS = 86_400_000;

const outcome = ({ status, json }: Answer) => [status, json.code];
/** An answer without its requestId, which is new for each request. */
const withoutRequestId = ({ status, json }: Answer) => {
  const { requestId: _, ...body } = json.body;
  return JSON.stringify({ status, json: { ...json, body } });
};

test("a code is trimmed, and finds a customer with a blocked or an inactive connection too", async () => {
  const service = await startTestService();
  const person = { first_name: "A", last_name: "B", status: "inactive" };
  const box = (status: string) => ({ tv: [{ stb: `stb-${status}`, status }] });
  await service.importCustomers([
    { ...person, cuid: "1", connections: box("blocked") },
    { ...person, cuid: "2", connections: box("inactive") },
  ]);
  for (const code of ["stb-blocked", "  stb-inactive\t"]) {
    const { status, json } = await service.call("get-customer-information", { code }, { token: service.liveToken });
    expect([status, json.body.customer.connections.tv[0].status]).toEqual([200, "inactive"]);
  }
});

describe("a checkoutId", () => {
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
});

test("twenty equal top-ups at once make one transaction and get equal answers", async () => {
  const service = await startTestService();
  const purchase = await prepareTopUp(service, FIBER);
  const calls = Array.from({ length: 20 }, () => service.call("subscription-package-topup", purchase));
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1);
  expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
  const { json } = await service.call("get-subscription-package", FIBER);
  expect(json.body.internet.subscriptions[0].enddate).toBe("2027-01-10 09:00:00");
});

test("a checkout from before the horizon is unknown, and one issued at it was never topped up", async () => {
  const service = await startTestService();
  const [purchase, used] = [await prepareTopUp(service, FIBER), await prepareTopUp(service, FIBER)];
  const toppedUp = await service.call("subscription-package-topup", used);
  service.now = START + 3 * DAY_MS;
  const ask = async ({ checkoutId }: typeof used) => service.call("txn-status", { checkoutId });
  expect((await ask(used)).json).toEqual(toppedUp.json);
  await moveHorizon(service, START);
  expect(outcome(await ask(purchase))).toEqual([410, "400ab108"]);
  await moveHorizon(service, START + 1);
  expect(outcome(await ask(purchase))).toEqual([404, "400ab101"]);
  expect(outcome(await service.call("subscription-package-topup", purchase))).toEqual([404, "400ab101"]);
});
