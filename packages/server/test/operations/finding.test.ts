import { describe, expect, test } from "vitest";
import { explainSubscription } from "../../src/operations/explain-subscription.ts";
import { findCustomer } from "../../src/operations/find-customer.ts";
import { listTransactions } from "../../src/operations/list-transactions.ts";
import { reverseTransaction } from "../../src/operations/reverse-transaction.ts";
import { showTransaction } from "../../src/operations/show-transaction.ts";
import { CATALOGUE, SITA, SITA_NET } from "../support/provider-files.ts";
import { prepareTopUp, START, startTestService, type TestService } from "../support/service.ts";

/** Sita's internet runs to 28 February 2026 and was topped up on the 20th of November by a month, and by three. */
async function openHistory(): Promise<TestService> {
  const service = await startTestService();
  await service.importCatalogue(CATALOGUE);
  await service.importCustomers([SITA]);
  for (const bouquet of ["NET-1M", "NET-3M"]) {
    const purchase = await prepareTopUp(service, SITA_NET, bouquet, { token: service.liveToken });
    service.now += 1_000;
    await service.call("subscription-package-topup", purchase, { token: service.liveToken });
  }
  return service;
}

const MAYBE = { environment: undefined, cuid: undefined };
const PRODUCTION = { environment: "production" } as const;

describe("finding a customer", () => {
  test("gives everything that is known, with the newest top-ups first, and says where there are more", async () => {
    const { ports } = await openHistory();
    const request = { ...PRODUCTION, code: SITA.mobile, isCuid: false };
    const all = await findCustomer(ports, { ...request, history: 2 });
    if (all.kind !== "found") throw new Error(all.kind);
    expect(all.customer).toMatchObject({ cuid: SITA.cuid, firstName: "Sita", connections: [{ reqId: "sita" }] });
    expect(all.transactions.map(({ bouquetCode }) => bouquetCode)).toEqual(["NET-3M", "NET-1M"]);
    expect(all.hasMore).toBe(false);
    expect(await findCustomer(ports, { ...request, history: 1 })).toEqual({
      ...all,
      transactions: all.transactions.slice(0, 1),
      hasMore: true,
    });
  });

  test("lists all whom a code fits, and takes a customer id for nothing else if told so", async () => {
    const service = await openHistory();
    const bare = { ...SITA, connections: {} };
    // One customer's mobile number is another's id.
    await service.importCustomers([
      { ...bare, cuid: SITA.mobile },
      { ...bare, cuid: "3" },
    ]);
    const request = { ...PRODUCTION, code: SITA.mobile, history: 1 };
    const several = await findCustomer(service.ports, { ...request, isCuid: false });
    if (several.kind !== "ambiguous") throw new Error(several.kind);
    expect(several.candidates.map(({ cuid }) => cuid)).toEqual([SITA.cuid, "3", SITA.mobile]);
    const one = await findCustomer(service.ports, { ...request, isCuid: true });
    expect(one).toMatchObject({ kind: "found", customer: { cuid: SITA.mobile } });
  });

  test("never mixes the environments, and tells where the other has such a customer", async () => {
    const { ports } = await openHistory();
    const find = (environment: "trial" | "production", code: string) =>
      findCustomer(ports, { environment, code, isCuid: false, history: 1 });
    expect(await find("production", "1000001")).toEqual({ kind: "not_found", elsewhere: "trial" });
    expect(await find("trial", "1000001")).toMatchObject({ kind: "found" });
    expect(await find("trial", SITA.cuid)).toEqual({ kind: "not_found", elsewhere: "production" });
    expect(await find("trial", "nobody")).toEqual({ kind: "not_found", elsewhere: undefined });
  });
});

describe("listing transactions", () => {
  test("gives a cursor exactly where there are more", async () => {
    const { ports } = await openHistory();
    const list = (cursor: string | undefined, limit: number) =>
      listTransactions(ports, { filter: PRODUCTION, cursor, limit });
    const all = await list(undefined, 2);
    expect(all.transactions.map(({ bouquetCode }) => bouquetCode)).toEqual(["NET-3M", "NET-1M"]);
    expect(all.cursor).toBeUndefined();
    const first = await list(undefined, 1);
    expect(first).toEqual({ transactions: all.transactions.slice(0, 1), cursor: all.transactions[0]?.txnId });
    expect(await list(first.cursor, 1)).toEqual({ transactions: all.transactions.slice(1), cursor: undefined });
  });
});

describe("showing a transaction", () => {
  test("tells what it did, by either of its ids", async () => {
    const { ports, store } = await openHistory();
    const [second, first] = await store.search.listTransactions(PRODUCTION, { before: undefined, limit: 2 });
    const shown = await showTransaction(ports, first?.txnId ?? "");
    expect(shown).toEqual(await showTransaction(ports, first?.checkoutId ?? ""));
    expect(shown).toMatchObject({ transaction: first, customer: { firstName: "Sita" } });
    expect(shown?.grant).toMatchObject({ plan: "Fiber 100 Mbps", step: { effect: "new_run" } });
    const { calendar } = store.provider;
    const { before, after } = shown?.grant?.step ?? {};
    expect([before, after].map((each) => calendar.format(each?.end ?? 0))).toEqual([
      "2026-02-28 10:00:00",
      "2026-12-20 09:00:01",
    ]);
    const next = await showTransaction(ports, second?.txnId ?? "");
    expect(next?.grant?.step.before).toEqual(after);
    expect(calendar.format(next?.grant?.step.after?.end ?? 0)).toBe("2027-03-20 09:00:01");
  });

  test("tells where the end was before and after a reversal, also where another was reversed later", async () => {
    const { ports, store } = await openHistory();
    const [second, first] = await store.search.listTransactions(PRODUCTION, { before: undefined, limit: 2 });
    const staff = { ...ports, author: "maya" };
    const reverse = (id: string) =>
      reverseTransaction(staff, { id, reason: "twice", partnerId: undefined, amount: undefined });
    for (const each of [first, second]) expect((await reverse(each?.txnId ?? "")).kind).toBe("reversed");
    const endsOf = async (id = "") => {
      const { before, after } = (await showTransaction(ports, id))?.reversal?.moved ?? {};
      return [before, after].map((each) => store.provider.calendar.format(each?.end ?? 0));
    };
    expect(await endsOf(first?.txnId)).toEqual(["2027-03-20 09:00:01", "2027-02-20 09:00:02"]);
    expect(await endsOf(second?.txnId)).toEqual(["2027-02-20 09:00:02", "2026-02-28 10:00:00"]);
  });

  test("is undefined where there is none", async () => {
    const { ports } = await openHistory();
    for (const id of ["", "nothing", "01M7W2Y7M0D61P39294S26KB1Y", "A".repeat(64)])
      expect(await showTransaction(ports, id)).toBeUndefined();
  });
});

describe("explaining a subscription", () => {
  test("goes from the first grant to the end that partners see, each step with its top-up", async () => {
    const { ports, store } = await openHistory();
    const answer = await explainSubscription(ports, { ...SITA_NET, service: "internet", ...MAYBE });
    if (answer.kind !== "explained") throw new Error(answer.kind);
    const [plan] = answer.explanation.plans;
    expect(plan?.steps.map(({ effect, transaction }) => [effect, transaction?.bouquetCode])).toEqual([
      ["stated", undefined],
      ["new_run", "NET-1M"],
      ["continued", "NET-3M"],
    ]);
    const found = await store.findConnection({ ...PRODUCTION, ...SITA_NET, service: "internet" });
    expect([plan?.subscription]).toEqual(found?.connection?.subscriptions);
  });

  test("asks which is meant where several have the connection, in whichever environment", async () => {
    const service = await openHistory();
    await service.importCustomers([{ ...SITA, cuid: "7" }]);
    await service.importCatalogue(CATALOGUE, "trial");
    await service.importCustomers([SITA], "trial");
    const ask = (more: object) =>
      explainSubscription(service.ports, { service: "internet", reqId: "sita", ...MAYBE, ...more });
    const all = await ask({});
    if (all.kind !== "ambiguous") throw new Error(all.kind);
    expect(all.candidates.map(({ connection }) => `${connection.environment} ${connection.cuid}`)).toEqual([
      "trial 2000001",
      "production 2000001",
      "production 7",
    ]);
    expect(await ask({ cuid: "7" })).toMatchObject({ explanation: { connection: { environment: "production" } } });
    expect(await ask({ environment: "trial" })).toMatchObject({ explanation: { connection: { cuid: "2000001" } } });
    expect(await ask({ ...PRODUCTION })).toMatchObject({ kind: "ambiguous" });
    expect(await ask({ ...PRODUCTION, cuid: "2000001" })).toMatchObject({ kind: "explained" });
  });

  test("tells of a connection that is gone, if its customer is named", async () => {
    const service = await openHistory();
    const renamed = { username: "sita2", status: "active" };
    // Long after its last run has ended, so that nothing that was granted keeps it.
    service.now = START + 400 * 86_400_000;
    await service.importCustomers([{ ...SITA, cuid: "2000009", connections: {} }]);
    await service.importCustomers([{ ...SITA, connections: { internet: [renamed] } }]);
    const ask = (cuid?: string) =>
      explainSubscription(service.ports, { service: "internet", reqId: "sita", environment: undefined, cuid });
    expect(await ask()).toEqual({ kind: "not_found" });
    expect(await ask("nobody")).toEqual({ kind: "not_found" });
    const answer = await ask(SITA.cuid);
    if (answer.kind !== "explained") throw new Error(answer.kind);
    const [plan] = answer.explanation.plans;
    expect(plan?.subscription).toBeUndefined();
    expect(plan?.steps.at(-1)?.effect).toBe("withdrawn");
  });

  test("of a connection without any subscription has no plans", async () => {
    const service = await openHistory();
    await service.importCustomers([{ ...SITA, cuid: "8", connections: { tv: [{ stb: "77", status: "active" }] } }]);
    const answer = await explainSubscription(service.ports, { service: "tv", reqId: "77", ...MAYBE });
    expect(answer).toMatchObject({ kind: "explained", explanation: { plans: [] } });
    const other = await explainSubscription(service.ports, { service: "iptv", reqId: "77", ...MAYBE });
    expect(other).toEqual({ kind: "not_found" });
  });

  test("finds the connection also where its name is the mobile number of many who have no such connection", async () => {
    const service = await startTestService();
    const mobile = "9801234567";
    const name = { first_name: "First", last_name: "Last", mobile, status: "active" };
    const many = Array.from({ length: 30 }, (_, index) => ({ cuid: `1${index}`, ...name, connections: {} }));
    const connections = { internet: [{ username: mobile, status: "active" }] };
    await service.importCustomers([...many, { cuid: "900001", ...name, connections }]);
    const answer = await explainSubscription(service.ports, { service: "internet", reqId: mobile, ...MAYBE });
    expect(answer).toMatchObject({ kind: "explained", explanation: { connection: { cuid: "900001" } } });
  });
});
