import { describe, expect, test } from "vitest";
import { PREFIX, shareTestService, startTestService, type TestService } from "../support/service.ts";

const OPERATIONS = ["get-customer-information", "get-subscription-package", "subscription-package-topup", "txn-status"];
const shared = shareTestService();

async function post(
  service: TestService,
  payload: string | Buffer,
  headers: Record<string, string> = {},
  operation = OPERATIONS[0],
) {
  const response = await service.inject({
    method: "POST",
    url: `${PREFIX}/v1.0.1/${operation}`,
    headers: { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json", ...headers },
    payload,
  });
  return { status: response.statusCode, json: response.json(), text: response.body };
}

test.each<[string, string | number[]]>([
  ["empty", ""],
  ["cut off", '{"code": "1'],
  ["a list", '["1000001"]'],
  ["null", "null"],
  ["a number", "7"],
  ["with NaN", '{"code":NaN}'],
  ["with one key twice", '{"code":"1000001","code":"1000002"}'],
  ["nested too deep", `{"code":${"[".repeat(1000)}${"]".repeat(1000)}}`],
  ["a byte order mark alone", "\ufeff"],
  ["with two byte order marks", '\ufeff\ufeff{"code":"1000001"}'],
  ["with a byte order mark inside", '{\ufeff"code":"1000001"}'],
  ["with a lone continuation byte", [0x80]],
  ["with a surrogate", [0xed, 0xa0, 0x80]],
  ["with a cut-off character", [0xe2, 0x82]],
])("a body that is %s is malformed", async (_, body) => {
  const bytes = (some: number[]) => Buffer.concat([Buffer.from('{"code":"'), Buffer.from(some), Buffer.from('"}')]);
  const { status, json } = await post(shared(), typeof body === "string" ? body : bytes(body));
  expect([status, json.code, json.body.reason, json.body.retry]).toEqual([
    400,
    "400ad001",
    "malformed_json",
    "fix_request",
  ]);
});

test("a JSON integer is taken as its digits, as if they were a string", async () => {
  const service = await startTestService();
  await service.importCatalogue([{ service: "tv", code: "350", name: "Base (MONTHLY)", price: 350 }]);
  const row = { cuid: "9841", first_name: "A", last_name: "B", mobile: "9841000001", status: "active" };
  await service.importCustomers([{ ...row, connections: { tv: [{ stb: "9007199254740993", status: "active" }] } }]);
  const send = async (operation: string, body: string) => {
    const token = { authorization: `Bearer ${service.liveToken}` };
    const { status, json } = await post(service, body, token, operation);
    expect(status).toBe(200);
    return json.body;
  };
  const { customer } = await send("get-customer-information", '{"code": 9841000001}');
  expect(customer.cuid).toBe("9841");
  // The number is too large for an exact float.
  const connection = '"cuid": 9841, "service": "tv", "reqId": 9007199254740993';
  const { checkoutId } = await send("get-subscription-package", `{${connection}}`);
  const purchase = `${connection}, "checkoutId": "${checkoutId}", "bouquetId": 350, "amt": 350`;
  const { result } = await send("subscription-package-topup", `{${purchase}, "udf1": 12345, "udf2": 0}`);
  expect(result).toMatchObject({ cuid: "9841", reqId: "9007199254740993", bouquetId: "350" });
  expect(await service.store.findTransaction(checkoutId)).toMatchObject({ udf1: "12345", udf2: "0" });
});

describe("a body of another kind", () => {
  test.each([
    ["text/plain", {}],
    ["application/json; charset=utf-16", {}],
    ["application/json; charset=latin1", {}],
    ["application/json", { "content-encoding": "gzip" }],
  ])("%s %j is unsupported", async (type, more) => {
    const service = shared();
    const { status, json } = await post(service, '{"code":"1000001"}', { "content-type": type, ...more });
    expect([status, json.code]).toEqual([415, "400ad006"]);
  });

  test.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
  ])("%s is JSON", async (type) => {
    const service = shared();
    expect((await post(service, '{"code":"1000001"}', { "content-type": type })).status).toBe(200);
  });

  test("and a missing one are unsupported", async () => {
    const service = shared();
    const headers = { authorization: `Bearer ${service.trialToken}` };
    const response = await service.inject({ method: "POST", url: `${PREFIX}/v1.0.1/txn-status`, headers });
    expect(response.json().code).toBe("400ad006");
  });
});

test.each([
  ["the fast door", true],
  ["node:http", false],
])("a byte order mark before a body is skipped, through %s", async (_, hasFastDoor) => {
  const service = await startTestService({ hasFastDoor });
  const base = await service.app.listen({ host: "127.0.0.1", port: 0 });
  const headers = { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json" };
  const send = async (operation: string, body: string) =>
    (await fetch(`${base}${PREFIX}/v1.0.1/${operation}`, { method: "POST", headers, body })).status;
  expect(await send("get-customer-information", '\ufeff{"code":"1000001"}')).toBe(200);
  const listing = '\ufeff{"cuid":"1000001","service":"tv","reqId":"000100000000001"}';
  expect(await send("get-subscription-package", listing)).toBe(200);
  expect(service.app.fastCalls()).toBe(hasFastDoor ? 2 : 0);
});

describe("a body", () => {
  test("of 4 KiB is read, and of one byte more is too large", async () => {
    const service = shared();
    const body = (bytes: number) => `{"code":"1000001","x":"${"y".repeat(bytes - 25)}"}`;
    expect(body(4096)).toHaveLength(4096);
    expect((await post(service, body(4096))).status).toBe(200);
    const { status, json } = await post(service, body(4097));
    expect([status, json.code, json.body.reason]).toEqual([413, "400ad005", "body_too_large"]);
  });
});

describe("a path", () => {
  test.each([
    "/",
    `${PREFIX}/v1.0.1`,
    `${PREFIX}/v1.0.1/`,
    `${PREFIX}/v1.0.2/txn-status`,
    `${PREFIX}/v1.0.1/txn-status/`,
    `${PREFIX}/v1.0.1/TXN-STATUS`,
    `${PREFIX}/v1.0.1/%zz`,
    `${PREFIX}/v1.0.1/txn%2Dstatus`,
    `${PREFIX}/v1.0.1/${"a".repeat(3000)}`,
  ])("%s is an unknown operation, for any body", async (url) => {
    const service = shared();
    const request = { url, headers: { "content-type": "text/plain" }, payload: "hello" };
    const response = await service.inject({ method: "POST", ...request });
    expect(response.statusCode).toBe(404);
    expect(response.json()).toMatchObject({ success: false, code: "400ad003", body: { reason: "unknown_operation" } });
    expect(response.headers["x-request-id"]).toBe(response.json().body.requestId);
  });

  test.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] as const)(
    "of an operation is not for %s",
    async (method) => {
      const service = shared();
      for (const operation of OPERATIONS) {
        const response = await service.inject({ method, url: `${PREFIX}/v1.0.0/${operation}?x=%2D` });
        expect(response.statusCode).toBe(405);
        expect(response.headers["allow"]).toBe("POST");
        if (method !== "HEAD") expect(response.json().code).toBe("400ad004");
      }
    },
  );
});
