import { describe, expect, test } from "vitest";
import { callOperation, commandLine, logLines } from "../support/command-line.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";

const KNOWN_FIELDS = ["level", "time", "msg", "requestId", "url", "database", "route", "status", "outcome", "partner"];
const MORE_FIELDS = [
  "version",
  "timeZone",
  "currencyExponent",
  "environment",
  "ms",
  "signal",
  "partnerName",
  "checkoutId",
];

describe("the log of a service", () => {
  test("holds a line for each request, and no token, name, mobile number or username", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const service = await line.start("serve", "--log-level", "debug", "--drain-seconds", "0");
    const { url } = service;
    const call = async (operation: string, body: object, bearer = token) =>
      (await callOperation(url, operation, bearer, body)).json;

    await call("get-customer-information", { code: "9800000101" });
    const { checkoutId } = (await call("get-subscription-package", SITA_NET)).body;
    const purchase = { ...SITA_NET, checkoutId, bouquetId: "NET-1M", amt: 1130, udf1: "order-4711", udf2: "Sita Rai" };
    const { txnId } = (await call("subscription-package-topup", purchase)).body.result;
    await call("txn-status", { checkoutId });
    await call("txn-status", { checkoutId }, `${token}x`);
    await call("get-customer-information", { code: 9800000101, Sita: "Rai" });
    await fetch(`${url}/staging/api/third-party/v1.0.1/Sita?mobile=9800000101`, { method: "POST" });
    await fetch(`${url}/${token}`);
    await fetch(`${url}/%E0%A4%A`);

    service.signal("SIGTERM");
    await service.ended;
    const log = service.stderr();
    const requests = logLines(log).filter(({ msg }) => msg === "request");
    expect(requests.slice(0, 8).map(({ status }) => status)).toEqual([200, 200, 200, 200, 401, 400, 404, 404]);
    expect(requests[2]).toMatchObject({
      route: expect.stringMatching(/topup$/),
      partner: 1,
      environment: "production",
      partnerName: expect.any(String),
      checkoutId,
    });
    for (const secret of [token.slice(11), "Sita", "Rai", "9800000101", '"sita"', txnId, "order-4711"]) {
      expect(log).not.toContain(secret);
    }
    expect(log.trimEnd().split("\n")).toHaveLength(logLines(log).length);
    const fields = new Set(logLines(log).flatMap((entry) => Object.keys(entry)));
    expect([...fields].filter((field) => ![...KNOWN_FIELDS, ...MORE_FIELDS].includes(field))).toEqual([]);
  });

  test("holds only what is at least as grave as was asked for", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const demo = await line.start("demo", "--log-level", "error");
    await callOperation(demo.url, "get-customer-information", token, { code: "1000001" });
    demo.signal("SIGTERM");
    expect(await demo.ended).toBe(0);
    expect(demo.stderr()).toBe("");
  });
});
