import { describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/open.ts";
import type { OnFinished } from "../../store-suite/database.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { type CommitFault, PostgresProxy } from "../../support/postgres-proxy.ts";
import { openTestService, prepareTopUp, type TestService } from "../../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

describe.concurrent("a partner whose top-up dies at COMMIT", () => {
  test.for([
    { fault: "unanswered", what: "had happened, learns of it, and has the top-up replayed", isRecorded: true },
    { fault: "lost", what: "had not happened, learns of it, and can send the top-up again", isRecorded: false },
  ] as const)("that $what", async ({ fault, isRecorded }, { onTestFinished }) => {
    const { service, proxy, count } = await openFaultyService(onTestFinished);
    const purchase = await prepareTopUp(service, FIBER);
    proxy.commitFault = fault satisfies CommitFault;
    expectUnavailable(await service.call("subscription-package-topup", purchase), "query_status");

    const { checkoutId = "" } = purchase;
    const status = await service.call("txn-status", { checkoutId });
    if (isRecorded)
      expect(status).toMatchObject({ status: 200, json: { success: true, body: { result: { orderId: checkoutId } } } });
    else expect(status).toMatchObject({ status: 404, json: { code: "400ab107" } });
    const again = await service.call("subscription-package-topup", purchase);
    expect(again.status).toBe(200);
    expect(again.headers["idempotent-replayed"]).toBe(isRecorded ? "true" : undefined);
    if (isRecorded) expect(again.json.body).toEqual(status.json.body);
    expect((await service.call("txn-status", { checkoutId })).json.body).toEqual(again.json.body);
    expect(await count()).toBe(1);
  });
});

test.concurrent("every request is told to come again while the database is away, and readiness follows it", async ({
  expect,
  onTestFinished,
}) => {
  const { service, proxy, count } = await openFaultyService(onTestFinished);
  const purchase = await prepareTopUp(service, FIBER);
  const { checkoutId = "" } = purchase;
  const readiness = async () => (await service.inject("/readyz")).statusCode;
  expect(await readiness()).toBe(200);
  proxy.refuse();
  await expect.poll(readiness, { timeout: 3_000 }).toBe(503);
  // What is kept in memory may still be served for a moment, and says nothing of what is on record.
  await expect.poll(() => service.store.checkoutSecrets().then(String, () => "away"), { timeout: 3_000 }).toBe("away");
  expectUnavailable(await service.call("subscription-package-topup", purchase), "query_status");
  expectUnavailable(await service.call("txn-status", { checkoutId }), "same_request");
  expectUnavailable(await service.call("get-customer-information", { code: FIBER.cuid }), "same_request");
  expect((await service.inject("/healthz")).statusCode).toBe(200);
  proxy.pass();
  await expect.poll(readiness, { timeout: 5_000 }).toBe(200);
  expect((await service.call("txn-status", { checkoutId })).json.code).toBe("400ab107");
  expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
  expect(await count()).toBe(1);
});

function expectUnavailable({ status, headers, json }: Awaited<ReturnType<TestService["call"]>>, retry: string): void {
  expect(status).toBe(503);
  expect(headers["retry-after"]).toBe("1");
  expect(json).toMatchObject({ success: false, code: "400ae002", body: { reason: "unavailable", retry } });
  expect(json.body.requestId).toBe(headers["x-request-id"]);
}

async function openFaultyService(onTestFinished: OnFinished) {
  const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
  await made;
  const proxy = await PostgresProxy.start(url);
  onTestFinished(() => proxy.close());
  const service = await openTestService({
    openStore: (options) => openPostgresStore({ ...options, url: proxy.url, connections: 4 }),
  });
  onTestFinished(() => service.close());
  const count = () =>
    withClient(url, async (client) => (await client.query("SELECT count(*)::int AS count FROM top_up")).rows[0].count);
  return { service, proxy, count };
}
