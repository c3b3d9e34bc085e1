import { describe, expect, test } from "vitest";
import { PREFIX, prepareTopUp, shareTestService, startTestService, type TestService } from "../support/service.ts";

const OPERATIONS = ["get-customer-information", "get-subscription-package", "subscription-package-topup", "txn-status"];
const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
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

describe("a body that is no JSON object", () => {
  test.each([
    ["empty", ""],
    ["cut off", '{"code": "1'],
    ["a list", '["1000001"]'],
    ["null", "null"],
    ["a number", "7"],
    ["with NaN", '{"code":NaN}'],
    ["with one key twice", '{"code":"1000001","code":"1000002"}'],
    ["nested too deep", `{"code":${"[".repeat(1000)}${"]".repeat(1000)}}`],
    ["with a byte order mark", '\ufeff{"code":"1"}'],
  ])("because it is %s is malformed", async (_, payload) => {
    const service = shared();
    const { status, json } = await post(service, payload);
    const told = [status, json.code, json.body.reason, json.body.retry];
    expect(told).toEqual([400, "400ad001", "malformed_json", "fix_request"]);
  });

  test.each([
    ["a lone continuation byte", [0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a cut-off character", [0xe2, 0x82]],
  ])("because it holds %s is malformed", async (_, bytes) => {
    const service = shared();
    const payload = Buffer.concat([Buffer.from('{"code":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect((await post(service, payload)).json.code).toBe("400ad001");
  });
});

describe("a field that is wrong", () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ["missing", undefined],
    ["null", null],
    ["a number with a fraction", 1000001.5],
    ["negative", -1000001],
    ["empty", ""],
    ["longer than 64 characters", "1".repeat(65)],
    ["a string with a NUL", "1\u0000"],
    ["a string with a lone surrogate", "1\ud800"],
  ];
  test.each(wrong)("because it is %s is named", async (_, value) => {
    const service = shared();
    const { status, json } = await service.call("get-customer-information", { code: value });
    expect([status, json.code, json.body.reason]).toEqual([400, "400ad002", "invalid_field"]);
    expect(json.body.fields).toEqual([{ field: "code", problem: expect.any(String) }]);
  });

  test("is none because it is a JSON integer: its digits are the identifier, as if they were a string", async () => {
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
    // Beyond what a float holds exactly.
    const connection = '"cuid": 9841, "service": "tv", "reqId": 9007199254740993';
    const { checkoutId } = await send("get-subscription-package", `{${connection}}`);
    const purchase = `${connection}, "checkoutId": "${checkoutId}", "bouquetId": 350, "amt": 350`;
    const { result } = await send("subscription-package-topup", `{${purchase}, "udf1": 12345, "udf2": 0}`);
    expect(result).toMatchObject({ cuid: "9841", reqId: "9007199254740993", bouquetId: "350" });
    expect(await service.store.findTransaction(checkoutId)).toMatchObject({ udf1: "12345", udf2: "0" });
  });

  test.each(["-0", "1.0", "1e3", "-7", "123456789012345678901234567890.5"])(
    "because udf1 is the number %s is refused: its digits are not all there is",
    async (literal) => {
      const service = shared();
      const purchase = JSON.stringify({ ...FIBER, checkoutId: "x", bouquetId: "y", amt: "1" });
      const body = `${purchase.slice(0, -1)},"udf1":${literal}}`;
      const { json } = await post(service, body, {}, "subscription-package-topup");
      expect(json.body.fields).toEqual([{ field: "udf1", problem: "must be a string" }]);
    },
  );

  test("is named together with all others", async () => {
    const service = shared();
    const wrong = { cuid: 1.5, service: "radio", amt: "-5", udf1: "x".repeat(31) };
    const { json } = await service.call("subscription-package-topup", wrong);
    const fields = json.body.fields.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(["cuid", "service", "reqId", "checkoutId", "bouquetId", "amt", "udf1"]);
  });

  test.each(["", " 1130", "1130 ", "-1130", "1,130", "1130.", "1130.001", "1e3", "NaN", "١٢٣", "01130"])(
    "because amt is %j is refused",
    async (amt) => {
      const service = shared();
      const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-1M");
      const { json } = await service.call("subscription-package-topup", { ...purchase, amt });
      expect(json.body.fields).toEqual([{ field: "amt", problem: expect.any(String) }]);
    },
  );

  test.each(["-1130", "1.13e3", "1130.001", "113000000000000000000000", "1130000000000000.00"])(
    "because amt is the number %s is refused",
    async (literal) => {
      const service = shared();
      const purchase = JSON.stringify({ ...FIBER, checkoutId: "x", bouquetId: "y" });
      const body = `${purchase.slice(0, -1)},"amt":${literal}}`;
      const { json } = await post(service, body, {}, "subscription-package-topup");
      expect(json.body.fields).toEqual([{ field: "amt", problem: expect.any(String) }]);
    },
  );

  test("because udf1 or udf2 has 31 characters is refused, with 30 of any script it is not", async () => {
    const service = shared();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-1M");
    for (const field of ["udf1", "udf2"]) {
      const { json } = await service.call("subscription-package-topup", { ...purchase, [field]: "🙂".repeat(31) });
      expect(json.body.fields).toEqual([{ field, problem: expect.any(String) }]);
    }
    const good = { ...purchase, udf1: "🙂".repeat(30), udf2: "" };
    expect((await service.call("subscription-package-topup", good)).status).toBe(200);
  });
});

describe("keys of another program's trade", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("such as %s are passed over", async (key) => {
    const service = shared();
    const { status } = await post(service, `{"code":"1000001","${key}":{"code":"x","polluted":true}}`);
    expect(status).toBe(200);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("that are unknown are passed over", async () => {
    const { status } = await shared().call("get-customer-information", { code: "1000001", extra: { deep: [1] } });
    expect(status).toBe(200);
  });
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

  test("and none at all are told apart", async () => {
    const service = shared();
    const headers = { authorization: `Bearer ${service.trialToken}` };
    const response = await service.inject({ method: "POST", url: `${PREFIX}/v1.0.1/txn-status`, headers });
    expect(response.json().code).toBe("400ad006");
  });
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

describe("a failure", () => {
  test("has exactly the documented shape", async () => {
    const service = shared();
    const { json, headers } = await service.call("get-customer-information", { code: "nobody" });
    expect(Object.keys(json)).toEqual(["success", "code", "body"]);
    expect(Object.keys(json.body)).toEqual(["reason", "message", "retry", "requestId"]);
    expect(headers["x-request-id"]).toBe(json.body.requestId);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  });
});
