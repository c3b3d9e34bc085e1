import { describe, expect, test } from "vitest";
import { by } from "../support/by.ts";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { partnersOf } from "../support/partners.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { PREFIX, prepareTopUp, shareTestService, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
const LOOK_UP = { code: "1000001" };
const shared = shareTestService();

describe("an access token", () => {
  test.each([
    ["no header", undefined],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["no token", "Bearer "],
    ["two tokens", "Bearer one two"],
  ])("is missing if there is %s", async (_, authorization) => {
    const service = shared();
    const response = await service.inject({
      method: "POST",
      url: `${PREFIX}/v1.0.1/get-customer-information`,
      headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
      payload: JSON.stringify(LOOK_UP),
    });
    expect(response.statusCode).toBe(401);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
    expect(response.json()).toMatchObject({ success: false, code: "400ac001", body: { reason: "missing_token" } });
  });

  test("is missed before anything else of the request is read", async () => {
    const response = await shared().inject({
      method: "POST",
      url: `${PREFIX}/v1.0.1/txn-status`,
      headers: { "content-type": "text/plain" },
      payload: "x".repeat(10_000),
    });
    expect(response.json().body.reason).toBe("missing_token");
  });

  test("is missing in two headers, because a proxy may have checked the other one", async () => {
    const service = await startTestService();
    for (const other of [service.trialToken, service.liveToken, "x"]) {
      const { socket, received, closed } = await openSocket(service);
      socket.write(
        requestText(service, "get-customer-information", LOOK_UP, { headers: `Authorization: Bearer ${other}\r\n` }),
      );
      await closed;
      expect(received()).toMatch(/^HTTP\/1\.1 401 .*"code":"400ac001"/s);
    }
  });

  test("is taken with its scheme in any case", async () => {
    const service = shared();
    const headers = { authorization: `bearer ${service.trialToken}` };
    expect((await service.call("get-customer-information", LOOK_UP, { headers })).status).toBe(200);
  });
});

test.each<[string, number, string, (service: TestService) => Promise<unknown>]>([
  [
    "its token was revoked",
    401,
    "revoked_token",
    async ({ store, now }) => {
      for (const { id } of await partnersOf(store).listTokens()) await partnersOf(store).revokeToken(id, by(now));
    },
  ],
  [
    "its partner was suspended",
    403,
    "partner_suspended",
    ({ store }) => partnersOf(store).setStatus("wallet", "suspended", by(1)),
  ],
])("a top-up that was admitted before %s is refused as at the door: %i", async (_, status, reason, lose) => {
  const instead = new Map<string, Instead>();
  const service = await startTestService({ wrapStore: interposed(instead) });
  const purchase = await prepareTopUp(service, FIBER);
  instead.set("settleTopUp", async (settle, args) => {
    await lose(service);
    return settle(...args);
  });
  const refused = await service.call("subscription-package-topup", purchase);
  expect([refused.status, refused.json.body.reason]).toEqual([status, reason]);
  instead.clear();
  const atTheDoor = await service.call("subscription-package-topup", purchase);
  const { requestId: _a, ...said } = refused.json.body;
  const { requestId: _b, ...due } = atTheDoor.json.body;
  expect([refused.status, refused.json.code, said]).toEqual([atTheDoor.status, atTheDoor.json.code, due]);
  expect(await service.store.findTransaction(purchase["checkoutId"] as string)).toBeUndefined();
});

test("a suspended partner can call txn-status and nothing else, so that its open orders end", async () => {
  const service = await startTestService();
  const purchase = await prepareTopUp(service, FIBER);
  const { checkoutId } = purchase;
  await service.call("subscription-package-topup", purchase);
  await partnersOf(service.store).setStatus("wallet", "suspended", by(1));
  for (const version of ["v1.0.1", "v1.0.0"] as const) {
    const { status, json } = await service.call("txn-status", { checkoutId }, { version });
    expect([status, json.body.result.orderId]).toEqual([200, checkoutId]);
    const refused = [
      await service.call("get-customer-information", LOOK_UP, { version }),
      await service.call("get-subscription-package", FIBER, { version }),
      await service.call("subscription-package-topup", purchase, { version }),
    ];
    expect(refused.map(({ json: { code } }) => code)).toEqual(["400ac005", "400ac005", "400ac005"]);
  }
});
