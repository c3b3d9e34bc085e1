import { expect, test } from "vitest";
import { importTransactions } from "../../src/operations/import-transactions.ts";
import { exportedRows } from "../support/exported-rows.ts";
import type { TestService } from "../support/open-service.ts";
import { ndjson, prepareTopUp, startTestService } from "../support/service.ts";

/** A production top-up of `wallet`, as another topupd has recorded it, and what its partner sends to make it again. */
async function startWithImported() {
  const service = await startTestService();
  const [row] = exportedRows(1, { partner: "wallet", until: service.now - 60_000 });
  if (row === undefined) throw new Error("there is no row");
  await putOnRecord(service, row);
  const { checkoutId, cuid, service: kind, reqId, bouquetId, amount } = row;
  const status = { checkoutId };
  return { service, row, status, purchase: { ...status, cuid, service: kind, reqId, bouquetId, amt: amount } };
}

async function putOnRecord(service: TestService, row: object): Promise<void> {
  const report = await importTransactions(service.ports, "production", () => ndjson([row]), {
    skipInvalid: false,
    onProgress: () => {},
    onRejected: (rejected) => {
      throw new Error(JSON.stringify(rejected));
    },
  });
  expect(report).toMatchObject({ added: 1 });
}

test("an imported top-up is told to its own partner, and sent again it is answered as it was", async () => {
  const { service, row, status, purchase } = await startWithImported();
  const own = { token: service.liveToken };
  const told = await service.call("txn-status", status, own);
  expect(told.status).toBe(200);
  expect(told.json.body.result).toMatchObject({ orderId: row.checkoutId, txnId: row.txnId, status: "success" });
  const again = await service.call("subscription-package-topup", purchase, own);
  expect(again.status).toBe(200);
  expect(again.json).toEqual(told.json);
  expect(again.headers["idempotent-replayed"]).toBe("true");
});

test("an imported top-up is as one that was made up to a trial token of its partner, and to other partners", async () => {
  const { service, status, purchase } = await startWithImported();
  const other = await service.addPartner("bank");
  const strangers = [service.trialToken, await service.issue(other, "production"), await service.issue(other, "trial")];
  const madeUp = `${status.checkoutId.slice(0, -6)}AAAAAA`;
  const unasked = ({ json: { body, ...rest } }: { readonly json: { readonly body: object } }) => {
    const { requestId, ...said } = body as { readonly requestId: string };
    expect(requestId).toMatch(/./);
    return { ...rest, body: said };
  };
  for (const token of strangers) {
    for (const [operation, body] of [
      ["txn-status", status],
      ["subscription-package-topup", purchase],
    ] as const) {
      const answer = await service.call(operation, body, { token });
      expect(answer).toMatchObject({ status: 404, json: { code: "400ab101", body: { reason: "checkout_unknown" } } });
      const toMadeUp = await service.call(operation, { ...body, checkoutId: madeUp }, { token });
      expect(unasked(answer)).toEqual(unasked(toMadeUp));
    }
  }
  expect(await service.store.findTransaction(status.checkoutId)).toMatchObject({ imported: true, status: "success" });
});

test("an imported top-up is not told to a partner whose number its own had where it comes from", async () => {
  const service = await startTestService();
  const [row] = exportedRows(1, { partner: "wallet", until: service.now });
  const connection = { cuid: "2000001", service: "internet", reqId: "sita" };
  const connections = { internet: [{ username: connection.reqId, status: "active" }] };
  await service.importCatalogue([{ service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: 1130 }]);
  await service.importCustomers([
    { cuid: connection.cuid, first_name: "Sita", last_name: "Rai", status: "active", connections },
  ]);
  // Both are sealed by one secret where a database was copied; then partners were added to each.
  const token = await service.issue(await service.addPartner("bank"), "production");
  const purchase = await prepareTopUp(service, connection, undefined, { token });
  await putOnRecord(service, { ...row, ...connection, checkoutId: purchase["checkoutId"] });
  for (const [operation, body] of [
    ["txn-status", { checkoutId: purchase["checkoutId"] }],
    ["subscription-package-topup", purchase],
  ] as const)
    expect(await service.call(operation, body, { token })).toMatchObject({ status: 404, json: { code: "400ab101" } });
});
