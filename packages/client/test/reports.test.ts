import { expect, onTestFinished, test } from "vitest";
import { partnersOf, setAccount } from "../../server/test/support/partners.ts";
import { FIBER, fill } from "../../server/test/support/reports.ts";
import { PREFIX, prepareTopUp, START, startTestService } from "../../server/test/support/service.ts";
import type { Client } from "../src/index.ts";
import { DRIVERS, type Driver } from "./support/drivers.ts";

/* Each client against a running service: the partner's account, and lists of more than a page. */

const CLIENTS = DRIVERS.filter(([, isHere]) => isHere);

async function place(start: () => Driver) {
  const service = await startTestService();
  const { id: partnerId = 0 } = (await partnersOf(service.store).find("wallet")) ?? {};
  const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const driver = start();
  onTestFinished(driver.stop);
  const call = async (action: keyof Client, values: object = {}) => {
    const options = { base, token: service.trialToken };
    return (await driver.call({ do: action, with: values, options, nowMs: START })).outcome;
  };
  return { service, partnerId, call };
}

test.each(CLIENTS)(
  "the client in %s tops up with a new checkoutId when there is money for it",
  async (_, _isHere, start) => {
    const { service, partnerId, call } = await place(start);
    const allow = (creditLimit: bigint) =>
      setAccount(service.store, { partnerId, environment: "trial" }, { creditLimit });
    await allow(100_000n);
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-1M");
    const failure = { reason: "insufficient_balance", missing: "130" };
    expect(await call("topUp", purchase)).toMatchObject({ outcome: "refused", failure });
    await allow(113_000n);
    expect(await call("topUp", purchase)).toMatchObject({ outcome: "refused", failure: { reason: failure.reason } });
    const listed = await prepareTopUp(service, FIBER, "TRIAL-NET-1M");
    expect(await call("topUp", listed)).toMatchObject({ outcome: "topped_up", replayed: false });
    expect(await call("getAccount")).toMatchObject({
      value: { balance: "-1130", creditLimit: "1130", available: "0" },
    });
  },
);

test.each(CLIENTS)("the client in %s reads the partner's reports", async (_, _isHere, start) => {
  const { service, partnerId, call } = await place(start);
  const txnIds = await fill(service, partnerId, START, 201);
  const days = { from: "2026-11-20", to: "2026-11-20" };
  // Each of 1,130.00 with a commission of 10.00.
  expect(await call("getAccount")).toMatchObject({
    value: { balance: "-225120", commission: [], limits: { rate: 50 } },
  });
  for (const action of ["listTopUps", "listAccountEntries"] as const) {
    const { value } = (await call(action, days)) as { value: { items: { txnId: string }[]; opening?: string } };
    expect(value.items.map(({ txnId }) => txnId)).toEqual(txnIds);
    expect(value.items.at(-1)).toMatchObject(action === "listTopUps" ? { amt: "1130" } : { balance: "-225120" });
    expect(value.opening ?? undefined).toBe(action === "listTopUps" ? undefined : "0");
  }
  const refused = { kind: "refused", operation: "partner/top-ups", reason: "invalid_field", fields: [{ field: "to" }] };
  expect(await call("listTopUps", { from: "2026-11-20", to: "2026-11-19" })).toMatchObject({ failure: refused });
});
