import { expect, onTestFinished, test } from "vitest";
import { partnersOf } from "../../server/test/support/partners.ts";
import { fill } from "../../server/test/support/reports.ts";
import { START, startTestService } from "../../server/test/support/service.ts";
import type { Client } from "../src/index.ts";
import { DRIVERS } from "./support/drivers.ts";

/* Each client against a running service: the partner's account and lists of more than a page. */

test.each(DRIVERS.filter(([, isHere]) => isHere))("the client in %s reads the partner's reports", async (...of) => {
  const service = await startTestService();
  const partnerId = (await partnersOf(service.store).find("wallet"))?.id ?? 0;
  const txnIds = await fill(service, partnerId, START, 201);
  const baseUrl = await service.app.listen({ host: "127.0.0.1", port: 0 });
  const driver = of[2]();
  onTestFinished(driver.stop);
  const call = async (action: keyof Client, values: object = {}) => {
    const options = { baseUrl, token: service.trialToken };
    return (await driver.call({ do: action, with: values, options, nowMs: START })).outcome;
  };
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
