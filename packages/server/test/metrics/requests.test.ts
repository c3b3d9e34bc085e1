import { describe, expect, test } from "vitest";
import { topUp } from "../../src/partner/top-ups.ts";
import { type MeasuredService, startMeasuredService } from "../support/measured-service.ts";
import { PREFIX, prepareTopUp } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** The counts of all requests, as `operation version partner environment outcome`. */
async function counted({ read }: MeasuredService): Promise<Record<string, number>> {
  const { samples } = await read();
  return Object.fromEntries(
    samples("topupd_requests_total").map(({ labels, value }) => {
      const names = ["operation", "version", "partner", "environment", "outcome"];
      expect(Object.keys(labels)).toEqual(names);
      return [names.map((name) => labels[name] || "-").join(" "), value];
    }),
  );
}

describe("a scrape after known requests", () => {
  test("has exactly their numbers, by operation, version, partner, environment and outcome", async () => {
    const measured = await startMeasuredService();
    const { service } = measured;
    const second = await service.addPartner('Blue "Wallet" \\ Sons');
    const token = await service.issue(second, "production");

    for (let time = 0; time < 3; time += 1) await service.call("get-customer-information", { code: "1000001" });
    await service.call("get-customer-information", { code: "1000001" }, { version: "v1.0.0" });
    await service.call("get-customer-information", { code: "1000001" }, { token });
    await service.call("get-customer-information", { code: "1000001" }, { token: "none" });
    await service.call("txn-status", {});
    const purchase = await prepareTopUp(service, FIBER);
    await service.call("subscription-package-topup", { ...purchase, amt: "1" });
    await service.call("subscription-package-topup", purchase);
    await service.call("subscription-package-topup", purchase, { version: "v1.0.0" });
    await service.call("subscription-package-topup", { ...purchase, bouquetId: "none" });
    await service.inject({ method: "POST", url: `${PREFIX}/v1.0.1/top-up` });
    await service.inject({ method: "GET", url: "/9841000000?token=1" });
    await service.inject({ method: "GET", url: `${PREFIX}/v1.0.1/txn-status` });
    for (const url of ["/healthz", "/readyz", "/openapi/v1.0.1.json"]) await service.inject(url);

    expect(await counted(measured)).toEqual({
      "get-customer-information v1.0.1 wallet trial success": 3,
      "get-customer-information v1.0.0 wallet trial success": 1,
      'get-customer-information v1.0.1 Blue "Wallet" \\ Sons production customer_not_found': 1,
      "get-customer-information v1.0.1 - - unknown_token": 1,
      "txn-status v1.0.1 wallet trial invalid_field": 1,
      "get-subscription-package v1.0.1 wallet trial success": 1,
      "subscription-package-topup v1.0.1 wallet trial amount_mismatch": 1,
      "subscription-package-topup v1.0.1 wallet trial success": 1,
      "subscription-package-topup v1.0.0 wallet trial replayed": 1,
      "subscription-package-topup v1.0.1 wallet trial checkout_used": 1,
      "- - - - unknown_operation": 2,
      "txn-status v1.0.1 - - method_not_allowed": 1,
    });
  });

  test("counts each request to an operation once in the histogram of durations, and no other", async () => {
    const measured = await startMeasuredService();
    const { service, read } = measured;
    await service.call("get-customer-information", { code: "1000001" });
    await service.call("get-customer-information", { code: "nobody" }, { version: "v1.0.0" });
    await service.call("txn-status", { checkoutId: "none" });
    await service.inject("/nowhere");
    const { samples } = await read();
    const counts = samples("topupd_request_duration_seconds_count").map(({ labels, value }) => [labels, value]);
    expect(counts).toEqual([
      [{ operation: "get-customer-information" }, 2],
      [{ operation: "txn-status" }, 1],
    ]);
    const bounds = samples("topupd_request_duration_seconds_bucket").map(({ labels }) => labels["le"]);
    expect([bounds[0], bounds.at(-2), bounds.at(-1)]).toEqual(["0.0005", "10.0", "+Inf"]);
  });

  test("holds no token, customer, connection, mobile number, checkoutId or path that a caller made up", async () => {
    const measured = await startMeasuredService();
    const { service, scrape } = measured;
    const { json } = await service.call("get-customer-information", { code: "1000001" });
    const purchase = await prepareTopUp(service, FIBER);
    await service.call("subscription-package-topup", { ...purchase, udf1: "order-77" });
    await service.call("get-customer-information", { code: "9800000001" });
    await service.inject({ method: "POST", url: `${PREFIX}/v1.0.1/secret-path` });
    await service.inject({ method: "POST", url: `${PREFIX}/v9.9.9/txn-status` });
    // Digits of a duration may equal a customer id by chance.
    const text = (await scrape()).replace(/ [\d.e+-]+$/gm, "");
    const { first_name, last_name } = json.body.customer;
    const secrets = [service.trialToken, purchase["checkoutId"] ?? "", "1000001", "trial1", "9800000001", "order-77"];
    for (const secret of [...secrets, first_name, last_name, "secret-path", "v9.9.9"]) {
      expect(secret).not.toBe("");
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/topup_(trial|live)_/);
  });
});

test("a top-up is recorded and answered even where the observer fails at it", async () => {
  const { service } = await startMeasuredService();
  const fail = () => {
    throw new Error("deaf");
  };
  const purchase = await prepareTopUp(service, FIBER);
  const caller = { partnerId: 1, partnerName: "wallet", environment: "trial" as const, tokenId: undefined };
  const ports = { ...service.ports, observer: { requestAnswered: fail, topUpRecorded: fail, recordingChanged: fail } };
  const request = { cuid: FIBER.cuid, service: "internet" as const, reqId: FIBER.reqId };
  const { checkoutId = "", bouquetId = "", amt = "" } = purchase;
  const answer = await topUp(ports, caller, {
    ...request,
    checkoutId,
    bouquetCode: bouquetId,
    amount: BigInt(amt) * 100n,
  });
  expect(answer).toMatchObject({ ok: true, value: { replayed: false } });
});

test("who is turned away at the door is counted, and does not make the others look quick", async () => {
  const { service, read } = await startMeasuredService();
  for (let count = 0; count < 5; count += 1)
    await service.call("txn-status", { checkoutId: "none" }, { token: "none" });
  await service.call("txn-status", { checkoutId: "none" });
  const { value } = await read();
  expect(value("topupd_requests_total", { outcome: "unknown_token" })).toBe(5);
  expect(value("topupd_request_duration_seconds_count", { operation: "txn-status" })).toBe(1);
});
