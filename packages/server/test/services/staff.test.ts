import { describe, expect, test } from "vitest";
import { setBlocked } from "../../src/services/staff/connections.ts";
import { findCustomer } from "../../src/services/staff/customers.ts";
import { explainSubscriptions, grantGoodwill, reverseGoodwill } from "../../src/services/staff/subscriptions.ts";
import { listTransactions, reverseTransaction, showTransaction } from "../../src/services/staff/transactions.ts";
import { ACTOR, customer, MINUTE_MS, openWorld, type World } from "./world.ts";

/** Of one customer whose month to 10 December is topped up by a month, and by three. */
async function openHistory(): Promise<World> {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00", mobile: "9841000000" })]);
  for (const bouquet of ["NET-1M", "NET-3M"]) {
    world.now += MINUTE_MS;
    await world.topUp("1", bouquet);
  }
  world.now += MINUTE_MS;
  return world;
}

const PRODUCTION = { environment: "production" } as const;
const MAYBE = { service: undefined, environment: undefined, cuid: undefined };
const NET = { ...MAYBE, reqId: "net-1" };

async function newestOf({ store }: World) {
  const [newest] = await store.search.listTransactions(PRODUCTION, { before: undefined, limit: 1 });
  if (newest === undefined) throw new Error("there is none");
  return newest;
}

describe("finding a customer", () => {
  test("gives everything that is known, with the newest top-ups first, and says where there are more", async () => {
    const { ports } = await openHistory();
    const request = { ...PRODUCTION, code: "9841000000", isCuid: false };
    const all = await findCustomer(ports, { ...request, history: 2 });
    if (all.kind !== "found") throw new Error(all.kind);
    expect(all.customer).toMatchObject({ cuid: "1", firstName: "Sita", connections: [{ reqId: "net-1" }] });
    expect(all.transactions.map(({ bouquetCode }) => bouquetCode)).toEqual(["NET-3M", "NET-1M"]);
    expect(all.hasMore).toBe(false);
    const fewer = await findCustomer(ports, { ...request, history: 1 });
    expect(fewer).toEqual({ ...all, transactions: all.transactions.slice(0, 1), hasMore: true });
  });

  test("never mixes the environments", async () => {
    const { ports } = await openHistory();
    const request = { environment: "trial", code: "1", isCuid: false, history: 1 } as const;
    expect(await findCustomer(ports, request)).toEqual({ kind: "not_found", elsewhere: "production" });
  });
});

describe("transactions", () => {
  test("are listed page by page, with a cursor exactly where there are more", async () => {
    const { ports } = await openHistory();
    const list = (cursor: string | undefined, limit: number, cuids?: readonly string[]) =>
      listTransactions(ports, { filter: PRODUCTION, cuids, cursor, limit });
    const all = await list(undefined, 2);
    expect(all.transactions.map(({ bouquetCode }) => bouquetCode)).toEqual(["NET-3M", "NET-1M"]);
    expect(all.cursor).toBeUndefined();
    const first = await list(undefined, 1);
    expect(first).toEqual({ transactions: all.transactions.slice(0, 1), cursor: all.transactions[0]?.txnId });
    expect(await list(first.cursor, 1)).toEqual({ transactions: all.transactions.slice(1), cursor: undefined });
    expect(await list(undefined, 2, ["0", "1"])).toEqual(all);
    expect((await list(undefined, 2, ["0"])).transactions).toEqual([]);
  });

  test("are shown with what they did, by either id, and once reversed with what that did", async () => {
    const world = await openHistory();
    const newest = await newestOf(world);
    const shown = await showTransaction(world.ports, { id: newest.txnId });
    expect(shown).toMatchObject({
      ...{ transaction: newest, customer: { firstName: "Sita" }, plan: "Fiber 100", reversal: undefined },
      effect: { before: { end: "2027-01-10 10:00:00" }, after: { end: "2027-04-10 10:00:00" } },
    });
    expect(await showTransaction(world.ports, { id: newest.checkoutId })).toEqual(shown);
    await reverseTransaction(world.ports, ACTOR, { id: newest.txnId, reason: "charged back" });
    expect(await showTransaction(world.ports, { id: newest.txnId })).toMatchObject({
      ...{ transaction: { status: "reversed" }, effect: shown?.effect },
      reversal: {
        ...{ author: "tester", reason: "charged back" },
        effect: { before: { end: "2027-04-10 10:00:00" }, after: { end: "2027-01-10 10:00:00" } },
      },
    });
    for (const id of ["", "nothing", "01M7W2Y7M0D61P39294S26KB1Y", "A".repeat(64)])
      expect(await showTransaction(world.ports, { id })).toBeUndefined();
  });

  test("are reversed once", async () => {
    const world = await openHistory();
    const newest = await newestOf(world);
    const reverse = (id: string) => reverseTransaction(world.ports, ACTOR, { id, reason: "charged back" });
    expect(await reverse("nothing")).toEqual({ kind: "not_found" });
    const transaction = { ...newest, status: "reversed" };
    expect(await reverse(newest.txnId)).toMatchObject({
      ...{ kind: "reversed", transaction, plan: "Fiber 100" },
      ...{ before: { end: "2027-04-10 10:00:00" }, after: { end: "2027-01-10 10:00:00" } },
    });
    const reversal = { author: "tester", reason: "charged back", at: world.now };
    world.now += MINUTE_MS;
    expect(await reverse(newest.txnId)).toMatchObject({ kind: "already_reversed", transaction, reversal });
  });
});

describe("explaining a connection", () => {
  test("reads each plan's entries aloud, with what each found and left, and its top-up", async () => {
    const world = await openHistory();
    await reverseTransaction(world.ports, ACTOR, { id: (await newestOf(world)).txnId, reason: "charged back" });
    const answer = await explainSubscriptions(world.ports, NET);
    if (answer.kind !== "explained") throw new Error(answer.kind);
    expect(answer.explanation).toMatchObject({
      connection: { cuid: "1", service: "internet" },
      customer: { cuid: "1" },
    });
    const [plan] = answer.explanation.plans;
    expect(plan?.subscription?.end).toBe("2027-01-10 10:00:00");
    expect(
      plan?.entries.map(({ entry, before, isOpening, reversedBy, transaction }) => [
        ...[entry.kind, before?.end, entry.after?.end, isOpening, reversedBy, transaction?.bouquetCode],
      ]),
    ).toEqual([
      ["import", undefined, "2026-12-10 10:00:00", false, undefined, undefined],
      ["top_up", "2026-12-10 10:00:00", "2027-01-10 10:00:00", false, undefined, "NET-1M"],
      ["top_up", "2027-01-10 10:00:00", "2027-04-10 10:00:00", false, 4, "NET-3M"],
      ["reversal", "2027-04-10 10:00:00", "2027-01-10 10:00:00", false, undefined, undefined],
    ]);
  });

  test("knows the ledger of a connection that is gone, by its customer", async () => {
    const world = await openHistory();
    const asOf = new Date(world.now - MINUTE_MS).toISOString();
    await world.importCustomers([{ ...customer("1"), connections: {} }], { asOf, allowShorter: ["1"] });
    expect(await explainSubscriptions(world.ports, NET)).toEqual({ kind: "no_connection" });
    const answer = await explainSubscriptions(world.ports, { ...NET, cuid: "1", service: "internet" });
    expect(answer).toMatchObject({ kind: "explained", explanation: { plans: [{ subscription: undefined }] } });
  });
});

describe("goodwill", () => {
  const request = { ...NET, days: 3, plan: undefined, reason: "outage" };

  test("is given to the one subscription that may be meant, and reversed", async () => {
    const world = await openHistory();
    const moved = { connection: { cuid: "1", service: "internet", reqId: "net-1" }, plan: "Fiber 100", days: 3 };
    expect(await grantGoodwill(world.ports, ACTOR, request)).toMatchObject({
      ...{ kind: "granted", ...moved },
      ...{ before: { end: "2027-04-10 10:00:00" }, after: { end: "2027-04-13 10:00:00" } },
    });
    expect(await reverseGoodwill(world.ports, ACTOR, request)).toMatchObject({
      ...{ kind: "reversed", ...moved },
      ...{ before: { end: "2027-04-13 10:00:00" }, after: { end: "2027-04-10 10:00:00" } },
    });
    expect(await reverseGoodwill(world.ports, ACTOR, request)).toEqual({ kind: "not_found" });
  });

  test("is given to none where it is not clear which is meant", async () => {
    const { ports } = await openHistory();
    expect(await grantGoodwill(ports, ACTOR, { ...request, reqId: "x" })).toEqual({ kind: "no_connection" });
    const other = await grantGoodwill(ports, ACTOR, { ...request, plan: "Other" });
    expect(other).toEqual({ kind: "no_subscription", plans: ["Fiber 100"] });
  });
});

describe("blocking a connection", () => {
  test("is done once, outlasts imports, and is undone by staff alone", async () => {
    const world = await openHistory();
    const request = { ...NET, reason: "fraud" };
    const set = (blocked: boolean) => setBlocked(world.ports, ACTOR, { ...request, blocked });
    expect(await set(true)).toMatchObject({ kind: "done", changed: true, connection: { cuid: "1" } });
    expect(await set(true)).toMatchObject({ kind: "done", changed: false });
    const asOf = new Date(world.now - MINUTE_MS).toISOString();
    await world.importCustomers([customer("1", { end: "2027-04-10 10:00:00" })], { asOf });
    await expect(world.topUp("1")).rejects.toThrow("connection_blocked");
    expect(await set(false)).toMatchObject({ kind: "done", changed: true });
    await world.topUp("1");
  });

  test("by the provider's records cannot be undone by staff", async () => {
    const world = await openWorld();
    const connections = { internet: [{ username: "net-1", status: "blocked" }] };
    await world.importCustomers([{ ...customer("1"), connections }]);
    const answer = await setBlocked(world.ports, ACTOR, { ...NET, blocked: false, reason: "paid" });
    expect(answer).toEqual({ kind: "blocked_by_records" });
  });
});
