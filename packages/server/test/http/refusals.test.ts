import { describe, expect, test } from "vitest";
import type { AccountSettings } from "../../src/store/accounts.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { prepareTopUp, START, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
const TOP_UP = "subscription-package-topup";

/** The partner's trial account. */
function account(service: TestService, settings: Partial<AccountSettings>): Promise<void> {
  return setAccount(service.store, { partnerId: 1, environment: "trial" }, settings);
}

function failed(reason: string, code: string, retry: string, more: object = {}) {
  const text = expect.any(String);
  return { success: false, code, body: { reason, retry, message: text, requestId: text, ...more } };
}

const NEVER = failed("never_topped_up", "400ab108", "new_checkout");

describe.each(["v1.0.1", "v1.0.0"] as const)("in %s, a refusal is the outcome of its checkoutId", (version) => {
  test("if the balance is too low: a deposit helps only a new checkoutId", async () => {
    const service = await startTestService();
    const call = (operation: typeof TOP_UP | "txn-status", body: object) => service.call(operation, body, { version });
    const other = await service.issue(await service.addPartner("other"), "trial");
    await account(service, { creditLimit: 50_000n });
    const purchase = await prepareTopUp(service, FIBER);
    const first = await call(TOP_UP, purchase);
    expect([first.status, first.json]).toEqual([
      402,
      failed("insufficient_balance", "400ab109", "new_checkout", { missing: 630 }),
    ]);
    await account(service, { creditLimit: undefined });
    const again = failed("insufficient_balance", "400ab109", "new_checkout");
    for (const change of [{}, { amt: "1" }, { bouquetId: "TRIAL-NET-3M" }, { cuid: "1000002" }]) {
      const { status, json } = await call(TOP_UP, { ...purchase, ...change });
      expect([status, json]).toEqual([402, again]);
    }
    for (const later of [0, 301_000, 86_400_000]) {
      service.now += later;
      expect((await call(TOP_UP, purchase)).json).toEqual(again);
      const { status, json } = await call("txn-status", purchase);
      expect([status, json]).toEqual([410, NEVER]);
    }
    for (const operation of [TOP_UP, "txn-status"] as const)
      for (const token of [other, service.liveToken])
        expect((await service.call(operation, purchase, { version, token })).json.code).toBe("400ab101");
    expect((await call(TOP_UP, await prepareTopUp(service, FIBER))).status).toBe(200);
  });

  test.each<[string, object, object]>([
    ["day_amount", { dayAmount: 100_000 }, { limitEndsAt: "2026-11-21 00:00:00" }],
    ["day_top_ups", { dayTopUps: 0 }, { limitEndsAt: "2026-11-21 00:00:00" }],
    ["top_up_amount", { topUpAmount: 100_000 }, {}],
  ])("if it reaches %s: the answer says when time ends it", async (limit, limits, ends) => {
    // Midnight is at 18:15 UTC.
    const service = await startTestService({ timeZone: "Asia/Kathmandu", now: Date.parse("2026-11-20T18:14:59Z") });
    const { engine } = service.store;
    const put = (stored: object | null) =>
      engine.change((tx) =>
        tx
          .updateTable("partner")
          .set({ limits: stored && JSON.stringify(stored) })
          .execute(),
      );
    await put(limits);
    await account(service, { hasDayLimits: true });
    const purchase = await prepareTopUp(service, FIBER);
    const due = failed("limit_reached", "400ab110", "no", { limit, ...ends });
    const call = (operation: typeof TOP_UP | "txn-status") => service.call(operation, purchase, { version });
    const { status, json } = await call(TOP_UP);
    expect([status, json]).toEqual([403, due]);
    await put(null);
    for (const later of [0, 1_000, 301_000]) {
      service.now += later;
      expect((await call(TOP_UP)).json).toEqual(due);
      expect((await call("txn-status")).json).toEqual(NEVER);
    }
    expect((await service.call(TOP_UP, await prepareTopUp(service, FIBER), { version })).status).toBe(200);
  });
});

test("twenty equal top-ups at once that the balance does not cover get one refusal, and none succeeds", async () => {
  const service = await startTestService();
  await account(service, { creditLimit: 0n });
  const purchase = await prepareTopUp(service, FIBER);
  const calls = Array.from({ length: 20 }, () => service.call(TOP_UP, purchase));
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(402));
  expect(answers.filter(({ json }) => "missing" in json.body)).toHaveLength(1);
});

test("a suspended partner still learns that it was refused for good", async () => {
  const service = await startTestService();
  await account(service, { creditLimit: 0n });
  const purchase = await prepareTopUp(service, FIBER);
  await service.call(TOP_UP, purchase);
  await partnersOf(service.store).setStatus("wallet", "suspended", { author: "x", authority: undefined, at: START });
  const ask = () => service.call("txn-status", purchase);
  expect((await ask()).json).toEqual(NEVER);
});
