import { type Answer, type OperationName, START, type TestService } from "./open-service.ts";

/** One request of the flow, and the answer to it. */
export interface Exchange {
  readonly title: string;
  readonly request: { readonly operation: OperationName; readonly body: unknown };
  readonly response: { readonly status: number; readonly headers: Record<string, unknown>; readonly body: unknown };
}

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** One call, as the flow makes it: with the service's trial token unless another is given. */
export type Caller = (operation: OperationName, body: object, token?: string) => Promise<Answer>;

/** The whole flow with everything that partners get wrong in it, and what was answered. The service is a fresh one. */
export async function recordFlow(service: TestService, call: Caller): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const say = async (title: string, operation: OperationName, body: object, token?: string) => {
    const { status, headers, json } = await call(operation, body, token);
    exchanges.push({ title, request: { operation, body }, response: { status, headers, body: json } });
    return json.body;
  };

  for (const code of ["1000001", "1000002", "1000003", "1000004", "1000005"]) {
    await say(`customer ${code}`, "get-customer-information", { code });
  }
  await say("a code that nobody has", "get-customer-information", { code: "0000000" });
  await say("a television connection", "get-subscription-package", {
    cuid: "1000003",
    service: "tv",
    reqId: "000100000000003",
  });
  await say("an IPTV connection", "get-subscription-package", {
    cuid: "1000004",
    service: "iptv",
    reqId: "trial4-iptv",
  });
  await say("a lapsed connection", "get-subscription-package", {
    cuid: "1000002",
    service: "internet",
    reqId: "trial2",
  });
  await say("an inactive customer", "get-subscription-package", {
    cuid: "1000005",
    service: "internet",
    reqId: "trial5",
  });
  await say("a connection that is not there", "get-subscription-package", { ...FIBER, reqId: "nobody" });

  const { checkoutId } = await say("an internet connection", "get-subscription-package", FIBER);
  const purchase = { ...FIBER, checkoutId, bouquetId: "TRIAL-NET-3M", amt: "3220", udf1: "order-1", udf2: "till-7" };
  await say("a query before the top-up", "txn-status", { checkoutId });
  await say("a top-up with a wrong amount", "subscription-package-topup", { ...purchase, amt: "3221" });
  await say("a top-up of a bouquet that is not offered", "subscription-package-topup", {
    ...purchase,
    bouquetId: "TRIAL-TV-1M",
  });
  await say("a top-up of another connection", "subscription-package-topup", { ...purchase, reqId: "trial2" });
  await say("a top-up with an overlong udf1", "subscription-package-topup", {
    ...purchase,
    checkoutId: "unknown",
    udf1: "x".repeat(31),
  });
  await say("a top-up", "subscription-package-topup", purchase);
  await say("the same top-up again", "subscription-package-topup", purchase);
  await say("the same checkout with another bouquet", "subscription-package-topup", {
    ...purchase,
    bouquetId: "TRIAL-NET-1M",
  });
  await say("a query after the top-up", "txn-status", { checkoutId });
  await say("the connection after the top-up", "get-subscription-package", FIBER);
  await say("a request with wrong fields", "subscription-package-topup", { cuid: 1, amt: "1.234" });
  await say("a request with an unknown token", "txn-status", { checkoutId }, "unknown");
  await sayExpired(service, say);
  return exchanges;
}

async function sayExpired(
  service: TestService,
  say: (title: string, operation: OperationName, body: object) => Promise<{ checkoutId: string }>,
): Promise<void> {
  const { checkoutId } = await say("a checkout that is left to expire", "get-subscription-package", FIBER);
  service.now = START + 300_001;
  await say("a top-up after the expiry", "subscription-package-topup", {
    ...FIBER,
    checkoutId,
    bouquetId: "TRIAL-NET-3M",
    amt: "3220",
  });
  service.now = START + 360_001;
  await say("a query long after the expiry", "txn-status", { checkoutId });
}
