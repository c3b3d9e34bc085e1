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
  const list = (title: string, cuid: string, service: string, reqId: string) =>
    say(title, "get-subscription-package", { cuid, service, reqId });
  await list("a television connection", "1000003", "tv", "000100000000003");
  await list("an IPTV connection", "1000004", "iptv", "trial4-iptv");
  await list("a lapsed connection", "1000002", "internet", "trial2");
  await list("an inactive customer", "1000005", "internet", "trial5");
  await list("a connection that is not there", "1000001", "internet", "nobody");

  const { checkoutId } = await say("an internet connection", "get-subscription-package", FIBER);
  const purchase = { ...FIBER, checkoutId, bouquetId: "TRIAL-NET-3M", amt: "3220", udf1: "order-1", udf2: "till-7" };
  const topUp = (title: string, changed: object = {}) =>
    say(title, "subscription-package-topup", { ...purchase, ...changed });
  await say("a query before the top-up", "txn-status", { checkoutId });
  await topUp("a top-up with a wrong amount", { amt: "3221" });
  await topUp("a top-up of a bouquet that is not offered", { bouquetId: "TRIAL-TV-1M" });
  await topUp("a top-up of another connection", { reqId: "trial2" });
  await topUp("a top-up with an overlong udf1", { checkoutId: "unknown", udf1: "x".repeat(31) });
  await topUp("a top-up");
  await topUp("the same top-up again");
  await topUp("the same checkout with another bouquet", { bouquetId: "TRIAL-NET-1M" });
  await say("a query after the top-up", "txn-status", { checkoutId });
  await say("the connection after the top-up", "get-subscription-package", FIBER);
  await say("a request with wrong fields", "subscription-package-topup", { cuid: true, amt: "1.234" });
  await say("a request with an unknown token", "txn-status", { checkoutId }, "unknown");

  const late = await say("a checkout that is left to expire", "get-subscription-package", FIBER);
  const latePurchase = { ...FIBER, checkoutId: late.checkoutId, bouquetId: "TRIAL-NET-3M", amt: "3220" };
  service.now = START + 300_001;
  await say("a top-up after the expiry", "subscription-package-topup", latePurchase);
  service.now = START + 360_001;
  await say("a query long after the expiry", "txn-status", { checkoutId: late.checkoutId });
  return exchanges;
}
