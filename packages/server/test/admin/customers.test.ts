import { expect, test } from "vitest";
import { prepareTopUp } from "../support/service.ts";
import { type StaffApi, startStaffApi } from "../support/staff-api.ts";

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

const cuidsOf = ({ json }: Awaited<ReturnType<StaffApi["call"]>>) =>
  json.items.map(({ cuid }: { cuid: string }) => cuid);

test("customers are searched by every code, by name, and by a transaction, page by page", async () => {
  const { get, topUp, service } = await openProvider();
  // A username may be somebody else's name.
  const username = [{ username: "rai", status: "active", subscriptions: [] }];
  await service.importCustomers([row("4", { first_name: "Gita", last_name: "KC", connections: { iptv: username } })]);
  const { txnId, checkoutId } = await topUp("2");
  for (const [q, cuids] of [
    ...[["9841000000", ["1"]] as const, ["net-3", ["3"]] as const, ["rai", ["1", "2", "3", "4"]] as const],
    ...[
      ["2 MAYA", ["2"]] as const,
      ["Net-1", ["1"]] as const,
      ["nobody", []] as const,
      [txnId.toLowerCase(), ["2"]] as const,
      [checkoutId, ["2"]] as const,
    ],
  ])
    expect(cuidsOf(await get(`/customers?q=${q}`)), q).toEqual(cuids);
  expect((await get(`/customers?q=${txnId}`)).json).toMatchObject({
    items: [{ connections: [{ service: "internet", reqId: "net-2", status: "active" }] }],
    transaction: { txnId, amount: "1130.50", partner: "wallet", bouquetName: "Fiber (MONTHLY)" },
  });
  for (const list of ["/customers?limit=2", "/customers?q=maya&limit=2"]) {
    const first = await get(list);
    expect([cuidsOf(first), first.json.cursor]).toEqual([["1", "2"], "2"]);
    const second = await get(`${list}&cursor=2`);
    expect([cuidsOf(second), second.json.cursor]).toEqual([list.includes("q=") ? ["3"] : ["3", "4"], null]);
  }
  expect(cuidsOf(await get("/customers?q=net-1&environment=trial"))).toEqual([]);
  expect((await get("/customers?q=%00")).status).toBe(422);
});

test("a customer is shown with what partners see, and its ledgers entry by entry", async () => {
  const { get, api, topUp } = await openProvider();
  const { txnId } = await topUp("1");
  const block = { service: "internet", reqId: "net-1", blocked: true, reason: "fraud" };
  expect((await api.call("POST /customers/1/block?preview=true", { body: block })).json).toMatchObject({
    changed: true,
  });
  expect((await get("/customers/1")).json.connections[0]).toMatchObject({ status: "active", blockedByStaff: null });
  await api.call("POST /customers/1/block", { body: block });
  expect((await get("/customers/1")).json).toMatchObject({
    ...{ environment: "production", cuid: "1", mobile: "9841000000", asOf: "2026-11-20T08:59:00.000Z" },
    connections: [
      {
        ...{ reqId: "net-1", status: "blocked", segment: null },
        blockedByStaff: { at: "2026-11-20T09:02:00.000Z", author: "key admin", reason: "fraud" },
        subscriptions: [
          { plan: "Fiber", bouquetId: "NET-1M", end: "2027-01-10 10:00:00", running: true, addOn: false },
        ],
      },
    ],
  });
  const { json } = await get("/customers/1/ledgers?reqId=net-1");
  expect(json.plans).toMatchObject([{ service: "internet", plan: "Fiber", run: { end: "2027-01-10 10:00:00" } }]);
  expect(json.plans[0].entries).toMatchObject([
    { seq: 1, kind: "import", before: null, after: { end: END }, asOf: "2026-11-20 08:59:00", bouquetId: "NET-1M" },
    {
      ...{ seq: 2, kind: "top_up", txnId, partner: "wallet", amount: "1130.50", period: { months: 1, days: 0 } },
      ...{ before: { end: END }, reversedBy: null, author: null },
    },
  ]);
  for (const path of ["/customers/9", "/customers/1?environment=trial"]) expect((await get(path)).status).toBe(404);
  expect((await get("/customers/1/ledgers?reqId=net-2")).json).toEqual({ plans: [] });
});

test("goodwill is previewed, given and reversed, each with the run before and after", async () => {
  const { api, get } = await openProvider();
  const at = { service: "internet", reqId: "net-1", reason: "outage" };
  const give = (query = "") =>
    api.call(`POST /customers/1/goodwill${query}`, { body: { ...at, days: 3 }, as: "support" });
  const longer = { before: { end: END }, after: { end: "2026-12-13 10:00:00" }, plan: "Fiber", cuid: "1" };
  expect((await give("?preview=true")).json).toMatchObject(longer);
  expect((await give()).json).toMatchObject(longer);
  const back = await api.call("POST /customers/1/goodwill-reversal", { body: at });
  expect(back.json).toMatchObject({ before: { end: "2026-12-13 10:00:00" }, after: { end: END } });
  expect((await api.call("POST /customers/1/goodwill-reversal", { body: at })).json).toMatchObject({
    ...{
      status: 409,
      code: "conflict",
      detail: "There is no goodwill that is not reversed yet: topupd why shows the entries.",
    },
  });
  expect((await api.call("POST /customers/2/goodwill", { body: { ...at, days: 3 } })).status).toBe(404);
  expect((await api.call("POST /customers/1/goodwill", { body: { ...at, days: 3, plan: "TV" } })).json.detail).toBe(
    "There is no subscription of the plan TV to give days to: it has Fiber.",
  );
  expect((await get("/audit?cuid=1&limit=2")).json.items).toMatchObject([
    { action: "subscription.reverse_grant", author: "key admin" },
    { action: "subscription.grant", author: "key support", reason: "outage" },
  ]);
});

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
    detail: "net-2 is customer 2's.",
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

test("transactions after a txnId or an instant are read forward, without those of the last 60 seconds", async () => {
  const { service, get, topUp } = await openProvider();
  const since = new Date(service.now).toISOString();
  const txnIds = [];
  for (const cuid of ["1", "2", "1"]) {
    txnIds.push((await topUp(cuid)).txnId);
    service.now += 30_000;
  }
  const after = async (query: string) => {
    const { items, cursor } = (await get(`/transactions?after=${query}`)).json;
    return [items.map(({ txnId }: { txnId: string }) => txnId), cursor];
  };
  expect(await after(since)).toEqual([txnIds.slice(0, 2), txnIds[1]]);
  expect(await after(`${since}&limit=1`)).toEqual([txnIds.slice(0, 1), txnIds[0]]);
  expect(await after(txnIds[1] as string)).toEqual([[], null]);
  service.now += 30_000;
  expect(await after(txnIds[1] as string)).toEqual([[txnIds[2]], txnIds[2]]);
  expect(await after(`${txnIds[0]}&cuid=2`)).toEqual([[txnIds[1]], txnIds[1]]);
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

test("transactions are filtered, added up, downloaded, shown and reversed", async () => {
  const { api, service, get, topUp } = await openProvider();
  const first = await topUp("1", { udf1: "=cmd" });
  service.now += 1_000;
  const second = await topUp("2", { udf2: "till" });
  const ids = async (filter: string) =>
    (await get(`/transactions?${filter}`)).json.items.map(({ txnId }: { txnId: string }) => txnId);
  for (const filter of ["cuid=1", "reqId=net-1", "udf1=%3Dcmd", "bouquet=NET-1M&cuid=1&partner=wallet"])
    expect(await ids(filter), filter).toEqual([first.txnId]);
  expect(await ids("from=2026-11-20&to=2026-11-20&amount=1130.5&service=internet")).toHaveLength(2);
  expect(await ids("from=2026-11-21")).toEqual([]);
  const page = await get("/transactions?limit=1");
  expect([page.json.items.length, await ids(`limit=1&cursor=${page.json.cursor}`)]).toEqual([1, [first.txnId]]);
  for (const wrong of ["cursor=x", "after=x", "partner=nobody", "amount=1,5", "from=2026-02-30", "colour=red"])
    expect((await get(`/transactions?${wrong}`)).status, wrong).toBe(422);

  const reversal = `POST /transactions/${second.checkoutId}/reversal`;
  const reason = { body: { reason: "paid twice" } };
  const shorter = { cuid: "2", plan: "Fiber", before: { end: "2027-01-10 10:00:00" }, after: { end: END } };
  expect((await api.call(`${reversal}?preview=true`, reason)).json).toMatchObject(shorter);
  expect((await get(`/transactions/${second.txnId}`)).json).toMatchObject({ status: "success", reversal: null });
  expect((await api.call(reversal, reason)).json).toMatchObject(shorter);
  expect((await api.call(reversal, reason)).json.detail).toBe(
    "This top-up of 1130.50 of wallet was reversed already, 2026-11-20 09:02:01 by key admin: paid twice.",
  );
  expect((await get(`/transactions/${second.txnId}`)).json).toMatchObject({
    ...{ status: "reversed", customer: { lastName: "Rai 2", mobile: null }, before: { end: END } },
    reversal: { author: "key admin", reason: "paid twice", after: { end: END } },
  });
  expect((await get("/transactions/totals")).json).toEqual({
    ...{ count: 2, amount: "2261.00", reversed: 1, reversedAmount: "1130.50" },
  });
  expect((await get("/transactions/totals?cuid=1&status=reversed")).json).toMatchObject({ count: 0, amount: "0.00" });
  const { text, headers } = await get("/transactions.csv?status=success");
  const [header, line, end] = text.split("\r\n");
  expect(header).toMatch(/^txnId,checkoutId,status,partner,.*,reversalReason$/);
  expect([line?.startsWith(first.txnId), line?.includes(",'=cmd,"), end]).toEqual([true, true, ""]);
  expect(headers["content-disposition"]).toBe('attachment; filename="transactions.csv"');
});

test("coming ends and refused calls are listed", async () => {
  const { get, service } = await openProvider();
  expect((await get("/ends")).json.items).toEqual([]);
  const first = await get("/ends?days=30&limit=2");
  expect(first.json.items[0]).toEqual({
    ...{ cuid: "1", firstName: "Maya", lastName: "Rai 1", service: "internet", reqId: "net-1", plan: "Fiber" },
    ...{ bouquetId: "NET-1M", end: END },
  });
  expect(cuidsOf(await get(`/ends?days=30&cursor=${first.json.cursor}`))).toEqual(["3"]);
  expect((await get("/ends?cursor=x")).status).toBe(422);
  const attempt = { partnerId: 1, environment: "production", operation: "get-customer-information" } as const;
  const refused = { ...attempt, at: service.now, reason: "customer_inactive", requestId: "r" };
  await service.store.attempts.record([
    { ...refused, code: "9841000000" },
    { ...refused, code: "net-2", reason: "customer_not_found" },
    { ...refused, code: undefined },
  ]);
  expect((await get("/customers/1/attempts")).json).toMatchObject({
    items: [{ partner: "wallet", reason: "customer_inactive", code: "9841000000", requestId: "r" }],
    cursor: null,
  });
  expect((await get("/attempts?reason=customer_not_found&partner=wallet")).json.items).toMatchObject([
    { code: "net-2" },
  ]);
  const page = await get("/attempts?limit=2");
  expect((await get(`/attempts?cursor=${page.json.cursor}`)).json.items).toMatchObject([{ code: "9841000000" }]);
});

test("an answer of more than 64 KiB is not kept for its Idempotency-Key, but that there was one", async () => {
  const { api } = await openProvider();
  const connections = ["net-1", ...Array.from({ length: 1_500 }, (_, index) => `unknown-${index}`)];
  const body = { action: "block", connections, reason: "unpaid" };
  const block = () => api.call("POST /bulk", { body, headers: { "idempotency-key": "block" } });
  expect((await block()).status).toBe(202);
  expect((await block()).json).toMatchObject({ status: 409, code: "already_answered" });
});

test("a bulk correction is previewed, begun and followed", async () => {
  const { api, get } = await openProvider();
  const body = { action: "goodwill", connections: ["net-1", "net-2", "net-9"], days: 2, reason: "outage" };
  const preview = await api.call("POST /bulk/preview", { body, as: "support" });
  expect(preview.json).toMatchObject({
    ...{ count: 2, problems: [{ line: "net-9", problem: "there is no such connection" }], problemCount: 1 },
    effects: [
      { cuid: "1", plan: "Fiber", before: { end: END }, after: { end: "2026-12-12 10:00:00" }, repeated: false },
      {},
    ],
  });
  const { status, json } = await api.call("POST /bulk", { body });
  expect([status, json]).toMatchObject([202, { action: "goodwill", author: "key admin", count: 2 }]);
  await expect
    .poll(async () => (await get(`/bulk/${json.id}`)).json)
    .toMatchObject({
      ...{ state: "done", done: 2, failed: [{ connection: "net-9", problem: "there is no such connection" }] },
    });
  expect((await get("/customers/2")).json.connections[0].subscriptions[0].end).toBe("2026-12-12 10:00:00");
  expect((await api.call("POST /bulk", { body: { ...body, connections: ["net-9"] } })).json.code).toBe("conflict");
  for (const wrong of [{ days: undefined }, { connections: undefined }, { connections: ["a\u0000"] }, { reason: "" }])
    expect((await api.call("POST /bulk", { body: { ...body, ...wrong } })).status, JSON.stringify(wrong)).toBe(422);
  const lines = Array.from({ length: 20_000 }, (_, index) => `${"9".repeat(30)}${index} internet ${"x".repeat(60)}`);
  const most = await api.call("POST /bulk/preview", { body: { ...body, connections: lines } });
  expect(most.json).toMatchObject({ count: 0, problemCount: 20_000 });
  expect(most.json.problems).toHaveLength(1_000);
  expect((await get("/segments")).json).toEqual({ items: [] });
});
