import { expect, test } from "vitest";
import { prepareTopUp } from "../support/service.ts";
import { startStaffApi } from "../support/staff-api.ts";

const MINUTE = 60_000;
const RUN = { code: "NET-1M", startdate: "2026-11-10 10:00:00", enddate: "2026-12-10 10:00:00" };
const END = "2026-12-10 10:00:00";

function row(cuid: string, more: object = {}) {
  const connections = { internet: [{ username: `net-${cuid}`, status: "active", subscriptions: [RUN] }] };
  return { cuid, first_name: "Maya", last_name: `Rai ${cuid}`, status: "active", connections, ...more };
}

/** Three customers of a production provider; `topUp` is a partner's. */
async function openProvider() {
  const api = await startStaffApi();
  const { service } = api;
  await service.importCatalogue([{ service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: "1130.50" }]);
  await service.importCustomers([row("1", { mobile: "9841000000" }), row("2"), row("3")]);
  service.now += 2 * MINUTE;
  const topUp = async (cuid: string, more: object = {}) => {
    const options = { token: service.liveToken };
    const purchase = await prepareTopUp(
      service,
      { cuid, service: "internet", reqId: `net-${cuid}` },
      "NET-1M",
      options,
    );
    await service.call("subscription-package-topup", { ...purchase, ...more }, options);
    const transaction = await service.store.findTransaction(String(purchase["checkoutId"]));
    if (transaction === undefined) throw new Error("the test's own top-up is refused");
    return transaction;
  };
  return { api, service, topUp, get: (path: string) => api.call(`GET ${path}`) };
}

test("billing writes one customer by the rules of an import, and is told what is held back", async () => {
  const { api, service, topUp } = await openProvider();
  const put = (cuid: string, body: object, query = "") => api.call(`PUT /customers/${cuid}${query}`, { body });
  await topUp("1");
  service.now += 2 * MINUTE;
  const asOf = new Date(service.now - MINUTE).toISOString();
  const renamed = { ...row("1", { asOf }), first_name: "Mina" };
  const told = {
    ...{ cuid: "1", outcome: "changed", stale: false, changes: [{ field: "first_name", from: "Maya", to: "Mina" }] },
    heldBack: [{ service: "internet", plan: "Fiber", keptEnd: "2027-01-10 10:00:00", statedEnd: END }],
  };
  expect((await put("1", renamed, "?preview=true")).json).toMatchObject({ ...told, changes: expect.anything() });
  expect((await api.call("GET /customers/1")).json.firstName).toBe("Maya");
  const { json } = await put("1", renamed);
  expect(json).toMatchObject({ outcome: "changed", heldBack: told.heldBack });
  expect(json.changes).toContainEqual(told.changes[0]);
  expect((await put("1", renamed, "?allowShorter=true")).json).toMatchObject({ outcome: "changed", heldBack: [] });
  expect((await put("1", { ...renamed, asOf: new Date(service.now - 3 * MINUTE).toISOString() })).json).toMatchObject({
    ...{ outcome: "unchanged", stale: true },
  });
  expect((await put("7", row("7", { asOf }))).json).toMatchObject({ outcome: "added" });
  const taken = { ...row("8", { asOf }), connections: row("2").connections };
  expect((await put("8", taken)).json).toMatchObject({
    code: "conflict",
    detail: "Connection net-2 is customer 2's.",
  });
  for (const [body, field] of [
    [row("2", { asOf }), "cuid"],
    [row("1"), "asOf"],
    [row("1", { asOf: "2026-11-20T23:00:00Z" }), "asOf"],
    [row("1", { asOf, status: 7 }), "status"],
    [row("1", { asOf, connections: { tv: [{ username: "x", status: "active" }] } }), "connections.tv[0].stb"],
  ] as const) {
    const { status, json: refused } = await put("1", body);
    expect([status, refused.fields.map((each: { field: string }) => each.field)]).toEqual([
      422,
      expect.arrayContaining([field]),
    ]);
  }
});

test("billing says in a row whether it holds goodwill, once it is asked", async () => {
  const { api, service } = await openProvider();
  const goodwill = { service: "internet", reqId: "net-1", days: 3, reason: "outage" };
  await api.call("POST /customers/1/goodwill", { body: goodwill });
  service.now += 2 * MINUTE;
  const [connection] = row("1").connections.internet;
  const subscriptions = [{ ...connection?.subscriptions[0], enddate: "2027-01-10 10:00:00" }];
  const connections = { internet: [{ ...connection, subscriptions }] };
  const sold = row("1", { connections, asOf: new Date(service.now - MINUTE).toISOString() });
  const put = async (body: object) => (await api.call("PUT /customers/1", { body })).json;
  expect((await put(sold)).heldBack).toMatchObject([{ keptEnd: "2026-12-13 10:00:00", goodwill: { days: 3 } }]);
  expect(await put({ ...sold, goodwill: "lacking" })).toMatchObject({ outcome: "changed", heldBack: [] });
  const { plans } = (await api.call("GET /customers/1/ledgers")).json;
  expect(plans[0].entries.at(-1)).toMatchObject({ goodwill: "lacking", after: { end: "2027-01-13 10:00:00" } });
});

test("transactions are downloaded as CSV, with cells that no spreadsheet runs", async () => {
  const { get, topUp } = await openProvider();
  const { txnId } = await topUp("1", { udf1: "=cmd" });
  const { text, headers } = await get("/transactions.csv?status=success");
  const [header, line, end] = text.split("\r\n");
  expect(header).toMatch(/^txnId,checkoutId,status,partner,.*,reversalReason$/);
  expect([line?.startsWith(txnId), line?.includes(",'=cmd,"), end]).toEqual([true, true, ""]);
  expect(headers["content-disposition"]).toBe('attachment; filename="transactions.csv"');
  expect((await get("/transactions?colour=red")).status).toBe(422);
});

test("an answer of more than 64 KiB is not kept for its Idempotency-Key, but that there was one", async () => {
  const { api } = await openProvider();
  const connections = ["net-1", ...Array.from({ length: 1_500 }, (_, index) => `unknown-${index}`)];
  const body = { action: "block", connections, reason: "unpaid" };
  const block = () => api.call("POST /bulk", { body, headers: { "idempotency-key": "block" } });
  expect((await block()).status).toBe(202);
  expect((await block()).json).toMatchObject({ status: 409, code: "already_answered" });
});

test("a bulk correction is previewed, and continues after the answer", async () => {
  const { api, get } = await openProvider();
  const body = { action: "goodwill", connections: ["net-1", "net-2", "net-9"], days: 2, reason: "outage" };
  const preview = await api.call("POST /bulk/preview", { body, as: "support" });
  expect(preview.json).toMatchObject({ count: 2, effects: [{ cuid: "1" }, { cuid: "2" }], problemCount: 1 });
  const { status, json } = await api.call("POST /bulk", { body });
  expect([status, json]).toMatchObject([202, { action: "goodwill", author: "key admin", count: 2 }]);
  await expect.poll(async () => (await get(`/bulk/${json.id}`)).json).toMatchObject({ state: "done", done: 2 });
  expect((await get("/customers/2")).json.connections[0].subscriptions[0].end).toBe("2026-12-12 10:00:00");
  for (const wrong of [{ days: undefined }, { connections: undefined }, { connections: ["a\u0000"] }, { reason: "" }])
    expect((await api.call("POST /bulk", { body: { ...body, ...wrong } })).status, JSON.stringify(wrong)).toBe(422);
  const lines = Array.from({ length: 20_000 }, (_, index) => `${"9".repeat(30)}${index} internet ${"x".repeat(60)}`);
  const most = await api.call("POST /bulk/preview", { body: { ...body, connections: lines } });
  expect(most.json).toMatchObject({ count: 0, problemCount: 20_000 });
  expect(most.json.problems).toHaveLength(1_000);
});
