import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { reverseTransaction } from "../../server/src/office/corrections/reversal.ts";
import { deskOf, run } from "../../server/test/support/desk.ts";
import { partnersOf } from "../../server/test/support/partners.ts";
import { topUp } from "../../server/test/support/reports.ts";
import { PREFIX, startTestService, temporaryFolder } from "../../server/test/support/service.ts";

const EXAMPLE = fileURLToPath(new URL("../examples/reconcile.mjs", import.meta.url));

test("the example names each difference between a day's orders and the provider's lists", async () => {
  const service = await startTestService();
  const { store } = service;
  const { id: partnerId = 0 } = (await partnersOf(store).find("wallet")) ?? {};
  const sell = (ms = 1_000) => {
    service.now += ms;
    return topUp(service);
  };
  const [older, fine, open, strange, other] = [
    await sell(),
    await sell(86_400_000),
    await sell(),
    await sell(),
    await sell(),
  ];
  await run(deskOf(service.ports), reverseTransaction, { id: older.txnId, reason: "twice" });
  service.now += 1_000;
  const { instant: at, wall } = store.provider.zone.moment(service.now);
  const deposit = {
    kind: "deposit",
    amount: 500_000,
    reference: "bank 4711",
    reason: "paid",
    author: "tester",
  } as const;
  const entry = { partnerId, environment: "trial", ...deposit, at, wall } as const;
  await store.engine.transact((tx) => tx.insertInto("accountEntry").values(entry).execute());

  const cwd = temporaryFolder();
  const save = (name: string, result: { orderId: string }, amt: string, isDone = true) => {
    const done = isDone ? { done: { outcome: "topped_up", result } } : {};
    const order = { purchase: { checkoutId: result.orderId, amt }, ...done };
    writeFileSync(join(cwd, `order-${name}.json`), JSON.stringify(order));
  };
  save("older", older, "1130");
  save("fine", fine, "1130");
  save("open", open, "1130", false);
  save("other", other, "1129");
  save("missing", { ...fine, orderId: "c-1", txnId: "T-1" } as never, "1130");
  const BASE = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const env = { ...process.env, BASE, TOKEN: service.trialToken };
  const reconcile = async (day: string) =>
    (await promisify(execFile)(process.execPath, [EXAMPLE, day], { cwd, env })).stdout.trim().split("\n");
  expect(await reconcile("2026-11-21")).toEqual([
    `${open.txnId}: recorded for ${open.orderId}. Take the customer's money.`,
    `${strange.txnId}: no order has this top-up of 1130. Ask the provider.`,
    `${other.txnId}: no order has this top-up of 1130. Ask the provider.`,
    "T-1: not in the list. Ask the provider.",
    `${older.txnId}: reversed. Give back the 1130 of ${older.orderId}, if you took it.`,
    "deposit bank 4711: 5000. Compare it with your books.",
  ]);
  expect(await reconcile("2026-11-20")).toEqual([""]);
  await expect(reconcile("yesterday")).rejects.toThrow("Fields of the request are missing or wrong");
});
