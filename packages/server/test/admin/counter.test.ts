import { expect, test } from "vitest";
import { counterRoutesWith } from "../../src/faces/counter/app.ts";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { changeAccount, enterIntoAccount } from "../../src/office/accounts/operations.ts";
import { blockConnection } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { changePartner, limitPartner } from "../../src/office/partners/operations.ts";
import { listTokens, revokeToken, rotateToken } from "../../src/office/partners/tokens.ts";
import { addStaff, listStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { addTax } from "../../src/office/taxes/operations.ts";
import { importRows, publishRows } from "../support/catalogue.ts";
import { type CallCounter, startCounter } from "../support/counter.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { type StaffApiOptions, startStaffApi } from "../support/staff-api.ts";

const SHOP = "Counter Lalitpur";
const BOX = { cuid: "1000001", service: "tv", reqId: "000100000000001" };
/** A set-top box whose subscription is over. */
const LAPSED_BOX = { ...BOX, reqId: "000100000000002" };
const NET = { cuid: "1000001", service: "internet", reqId: "trial1" };
const START = "2026-11-20 09:00:00";
const MINUTE = 60_000;
const DAY = 86_400_000;

async function openShop(options: StaffApiOptions = {}) {
  const api = await startStaffApi(options);
  const { service, world } = api;
  for (const name of [SHOP, "Other shop"]) await service.addPartner(name);
  const counter = await startCounter(api);
  const mina = await counter.seller("mina", SHOP);
  const desk = deskOf(service.ports, service.actor, { accounts: world.accounts });
  return { api, service, counter, mina, desk };
}

async function saleOf(seller: CallCounter, more: object = {}, connection = BOX) {
  const { json } = await seller("POST /offers", connection);
  const [{ bouquetId, price }] = json.bouquets;
  return { checkoutId: json.checkoutId as string, ...connection, bouquetId, price, method: "cash", ...more };
}

test("a seller finds a customer, sees plans, prices and ends, sells, and gets a receipt", async () => {
  const { counter, mina, service } = await openShop();
  const found = await mina("GET /customers?code=9800000001");
  expect(found.json).toMatchObject({ customer: { cuid: "1000001", name: "Asha Trial" } });
  expect(found.json.connections[0]).toEqual({
    ...{ service: "tv", reqId: BOX.reqId, problem: null },
    plans: [
      { name: expect.any(String), bouquetId: "TRIAL-TV-1M", end: "2026-12-10 09:00:00", isRunning: true, from: null },
    ],
  });
  const offer = (await mina("POST /offers", BOX)).json;
  expect(offer.bouquets[0]).toMatchObject({ bouquetId: "TRIAL-TV-1M", end: "2027-01-10 09:00:00" });
  const sold = await mina("POST /sales", await saleOf(mina, { receiptNumber: "A-17" }));
  expect(sold.status, sold.text).toBe(201);
  expect(sold.json).toMatchObject({
    ...{ status: "success", time: START, number: "A-17", seller: "mina", method: "cash" },
    customer: { cuid: "1000001", name: "Asha Trial" },
    partner: { name: SHOP },
    why: "End before 2026-12-10 09:00:00, 1 month added, end now 2027-01-10 09:00:00.",
  });
  expect((await mina(`GET /sales/${sold.json.txnId}/receipt`)).json).toEqual(sold.json);
  // The day's record has the person, and no name or number of the customer.
  const lines = [...counter.logs, ...service.logs].join("\n");
  expect(lines).toContain(`"staff":"mina","partnerName":"${SHOP}","cuid":"1000001"`);
  expect(lines).not.toMatch(/9800000001|Asha/);
});

test("a sale is made once: the same request, a double click and a lost answer get the same receipt", async () => {
  const { mina } = await openShop();
  const sale = await saleOf(mina);
  expect((await mina(`GET /offers/${sale.checkoutId}`)).json).toEqual({ state: "open", receipt: null });
  const both = await Promise.all([mina("POST /sales", sale), mina("POST /sales", sale)]);
  const later = await mina("POST /sales", sale);
  const lost = await mina(`GET /offers/${sale.checkoutId}`);
  const ids = [...both.map(({ json }) => json.txnId), later.json.txnId, lost.json.receipt.txnId];
  expect(new Set(ids).size).toBe(1);
  const balance = (await mina("GET /account")).json.balance;
  expect(balance).toBe(`-${sale.price}`);
  expect((await mina("GET /account/entries")).json.items).toHaveLength(1);
  expect((await mina("GET /account/entries")).json.items[0]).not.toHaveProperty("author");
});

test("a second sale of a plan within a day is asked for, but not of other shops' sales", async () => {
  const { mina, counter, service } = await openShop();
  const other = await counter.seller("ravi", "Other shop");
  expect((await other("POST /sales", await saleOf(other))).status).toBe(201);
  expect((await mina("POST /sales", await saleOf(mina))).status).toBe(201);
  const again = await saleOf(mina);
  const asked = await mina("POST /sales", again);
  expect([asked.status, asked.json.fields[0].field, asked.json.detail]).toEqual([
    ...[409, "again"],
    `Your shop sold this plan at ${START}. Sell it again?`,
  ]);
  expect((await mina(`GET /offers/${again.checkoutId}`)).json.state).toBe("open");
  expect((await mina("POST /sales", { ...again, again: true })).status).toBe(201);
  service.now += 86_400_001;
  const later = await counter.logIn("mina");
  expect((await later("POST /sales", await saleOf(later))).status).toBe(201);
});

test("a seller sells no more than the shop may: balance, limits, suspension and revocation hold", async () => {
  const { mina, desk, service } = await openShop();
  const account = { name: SHOP, environment: "trial" } as const;
  await run(desk, changeAccount, { ...account, creditLimit: "0" });
  const poor = await mina("POST /sales", await saleOf(mina));
  expect(poor.json).toMatchObject({
    status: 409,
    detail: expect.stringMatching(/balance .* NPR [0-9.]+ is missing\.$/),
  });
  await run(desk, enterIntoAccount, { ...account, kind: "deposit", amount: "100000", reference: "one" });
  expect((await mina("POST /sales", await saleOf(mina))).status).toBe(201);
  await run(desk, limitPartner, { name: SHOP, dayTopUps: 1 } as never);
  const limited = await mina("POST /sales", await saleOf(mina, { again: true }));
  expect(limited.json.detail).toContain("number of sales of this day");
  expect(limited.json.detail).toContain("2026-11-21 00:00:00");
  await run(desk, changePartner, { name: SHOP, status: "suspended" } as never);
  expect((await mina("POST /offers", BOX)).json).toMatchObject({ status: 403, code: "forbidden" });
  await run(desk, changePartner, { name: SHOP, status: "active" } as never);
  const [token] = (await run(desk, listTokens, { partner: SHOP })).items;
  const rotated = run(desk, rotateToken, { id: token?.id ?? "" });
  expect(await refusal(rotated)).toMatchObject({ code: "conflict", words: expect.stringContaining("the seller mina") });
  await run(desk, revokeToken, { id: token?.id ?? "" });
  service.now += 2_000;
  expect((await mina("POST /offers", BOX)).json.detail).toContain("may not sell any more");
});

test("a seller reads nothing of other shops, and no route of the staff", async () => {
  const { mina, api, counter } = await openShop();
  const other = await counter.seller("ravi", "Other shop");
  const sold = (await other("POST /sales", await saleOf(other))).json;
  expect((await mina(`GET /sales/${sold.txnId}/receipt`)).status).toBe(404);
  expect((await mina(`GET /offers/${sold.checkoutId}`)).status).toBe(404);
  expect((await mina("GET /account")).json).toMatchObject({ partner: SHOP, balance: "0.00" });
  const [, session = ""] = mina.cookie.split("=");
  for (const route of ROUTES) {
    if (route.permission === "public") continue;
    const asked = `${route.method} ${route.path.replace(/:\w+/g, "0")}`;
    const answer = await api.call(asked, { as: { session } });
    expect([answer.status, asked]).toEqual([401, asked]);
  }
  const logIn = { name: "mina", password: "kettle orbit fjord" };
  expect((await api.call("POST /session", { as: null, body: logIn })).json.code).toBe("wrong_credentials");
});

test("a seller opens a shift, sells, asks for a reversal and counts the cash; another shop's seller finds nothing", async () => {
  const { mina, counter } = await openShop();
  expect((await mina("POST /shift", { opening: "500" })).status).toBe(201);
  const sold = (await mina("POST /sales", await saleOf(mina, { method: "cash", receiptNumber: "R-17" }))).json;
  expect(sold).toMatchObject({ seller: "mina", method: "cash", number: "R-17" });
  const asked = await mina(`POST /sales/${sold.txnId}/reversal-request`, { reason: "wrong box" });
  expect(asked.json).toMatchObject({ state: "reversal_requested", request: { requestedBy: "mina" } });
  expect((await mina("GET /sales")).json.items).toMatchObject([{ txnId: sold.txnId, state: "reversal_requested" }]);
  const other = await counter.seller("ravi", "Other shop");
  for (const [path, body] of [
    ["reversal-request", { reason: "x" }],
    ["cash-returned", {}],
  ] as const)
    expect((await other(`POST /sales/${sold.txnId}/${path}`, body)).status, path).toBe(404);
  expect((await other("GET /sales")).json.items).toEqual([]);
  expect((await other("GET /shift")).json).toEqual({ shift: null });
  const closed = (await mina("POST /shift/close", { counted: "500" })).json;
  expect(Number(closed.expected)).toBe(500 + Number(sold.price));
  expect(Number(closed.difference)).toBe(-Number(sold.price));
});

test("nobody but sellers is let in at the counter", async () => {
  const { api, counter } = await openShop();
  await api.addPerson("maya", "admin");
  const logIn = { name: "maya", password: "kettle orbit fjord" };
  expect((await counter.call("POST /session", { body: logIn })).json.code).toBe("wrong_credentials");
  const cookie = `topupd_counter=${await api.logIn("maya")}`;
  for (const { method, path, permission } of counterRoutesWith({})) {
    if (permission === "public") continue;
    const asked = `${method} ${path.replace(/:\w+/g, "0")}`;
    for (const by of [{ cookie }, {}]) expect([(await counter.call(asked, by)).status, asked]).toEqual([401, asked]);
  }
});

test("one seller looks up half of the shop's strangers; another can use the rest", async () => {
  const { mina, counter, desk } = await openShop();
  const ravi = await counter.seller("ravi", SHOP);
  await run(desk, limitPartner, { name: SHOP, newLookUps: 10 } as never);
  const counted = async (seller: CallCounter, from: number) => {
    const codes = Array.from({ length: 12 }, (_, index) => String(from + index));
    const answers = await Promise.all(codes.map((code) => seller(`GET /customers?code=${code}`)));
    return answers.filter(({ status }) => status === 404).length;
  };
  expect(await counted(mina, 100)).toBe(5);
  expect(await counted(ravi, 200)).toBe(5);
  expect((await mina("GET /customers?code=300")).json).toMatchObject({ status: 429, code: "too_many_look_ups" });
});

test("a removed seller is out within a second, and the token is revoked", async () => {
  const { mina, desk } = await openShop();
  expect((await run(desk, listStaff, {})).items).toMatchObject([{ name: "mina", role: "seller", sellerOf: SHOP }]);
  await mina("POST /shift", {});
  const sale = await saleOf(mina);
  await run(desk, removeStaff, { name: "mina" });
  expect((await mina("POST /sales", sale)).status).toBe(401);
  // A namesake would go on with the open shift.
  const namesake = { name: "mina", sellerOf: SHOP, password: "kettle orbit fjord" };
  expect(await refusal(run(desk, addStaff, namesake))).toMatchObject({ code: "conflict" });
  expect((await run(desk, listTokens, { partner: SHOP })).items[0]?.revokedAt).not.toBeNull();
  const input = { name: "x", password: "kettle orbit fjord" };
  await expect(run(desk, addStaff, input)).rejects.toMatchObject({ code: "invalid" });
  expect(await refusal(run(desk, addStaff, { ...input, sellerOf: "Nobody" }))).toMatchObject({ code: "not_found" });
});

test("a suspended shop sells nothing, and learns what became of its sales", async () => {
  const { mina, desk } = await openShop();
  const [sale, open] = [await saleOf(mina), await saleOf(mina, {}, NET)];
  const sold = (await mina("POST /sales", sale)).json;
  await run(desk, changePartner, { name: SHOP, status: "suspended" } as never);
  const forbidden = { status: 403, code: "forbidden", detail: expect.stringContaining("has suspended your shop") };
  for (const [asked, body] of [["POST /offers", NET] as const, ["POST /sales", open] as const])
    expect((await mina(asked, body)).json, asked).toMatchObject(forbidden);
  expect((await mina("GET /customers?code=1000001")).json).toMatchObject(forbidden);
  expect((await mina(`GET /offers/${sale.checkoutId}`)).json).toEqual({ state: "sold", receipt: sold });
  expect((await mina(`GET /offers/${open.checkoutId}`)).json).toEqual({ state: "open", receipt: null });
  expect((await mina(`GET /sales/${sold.txnId}/receipt`)).json).toEqual(sold);
});

test("a receipt shows who is told of its own change alone, and nothing of another shop's later sale", async () => {
  const { mina, counter, desk, service } = await openShop();
  await run(desk, addTarget, { name: "billing" });
  const ravi = await counter.seller("ravi", "Other shop");
  const mine = (await mina("POST /sales", await saleOf(mina))).json;
  expect(mine.chain).toMatchObject({ steps: [{ target: "billing" }] });
  service.now += 1_000;
  const theirs = (await ravi("POST /sales", await saleOf(ravi))).json;
  expect(theirs.chain).toMatchObject({ steps: [{ target: "billing" }] });
  const receipt = async (seller: CallCounter, { txnId }: { txnId: string }) =>
    (await seller(`GET /sales/${txnId}/receipt`)).json;
  expect(await receipt(mina, mine)).toEqual({ ...mine, chain: null });
  expect(await receipt(ravi, theirs)).toEqual(theirs);
  service.now += 1_000;
  await run(desk, reverseTransaction, { id: theirs.txnId, reason: "paid twice" });
  expect(await receipt(ravi, theirs)).toEqual({ ...theirs, status: "reversed", chain: null });
});

test("a receipt has the papers of shop and provider, and base and taxes of its own day whenever it is printed", async () => {
  const { mina, counter, desk, service, api } = await openShop();
  const papers = { legalName: "Counter Pvt. Ltd.", address: "Patan 3", taxNumber: "PAN 601", contact: "9841000000" };
  await run(desk, changePartner, { name: SHOP, ...papers } as never);
  await run(desk, addTax, { name: "VAT", share: "13", service: "tv", from: "2026-11-21" });
  const untaxed = (await mina("POST /sales", await saleOf(mina, {}, LAPSED_BOX))).json;
  expect(untaxed).toMatchObject({
    ...{ number: untaxed.txnId, partner: { name: SHOP, ...papers }, provider: api.world.letterhead, currency: "NPR" },
    ...{ price: "450.00", base: "450.00", taxes: [] },
    why: `Nothing was running, 1 month from ${START}, end now 2026-12-20 09:00:00.`,
  });
  service.now += DAY;
  const later = await counter.logIn("mina");
  const taxed = (await later("POST /sales", await saleOf(later, {}, BOX))).json;
  expect(taxed).toMatchObject({ price: "450.00", base: "398.23", taxes: [{ name: "VAT", amount: "51.77" }] });
  expect((await later(`GET /sales/${untaxed.txnId}/receipt`)).json).toEqual(untaxed);
});

test("a plan that has not begun is shown with its start", async () => {
  const { counter, service } = await openShop();
  const live = await counter.seller("live", SHOP, "production");
  const bouquet = { service: "internet", code: "NET-100-1M", name: "Fiber 100 Mbps (MONTHLY)", price: 1130 };
  await publishRows(service.store, [bouquet], service.ports.clock());
  const run = { code: "NET-100-1M", startdate: "2027-02-01 00:00:00", enddate: "2027-03-01 00:00:00" };
  const internet = [{ username: "future2", status: "active", subscriptions: [run] }];
  const row = { cuid: "60202", first_name: "Later", last_name: "Start", status: "active", connections: { internet } };
  await importRows(service.ports, [row]);
  expect((await live("GET /customers?code=60202")).json.connections).toMatchObject([
    { plans: [{ end: "2027-03-01 00:00:00", isRunning: true, from: "2027-02-01 00:00:00" }], problem: null },
  ]);
});

test("a shop's sellers in both environments know nothing of each other's sales", async () => {
  const { mina, counter } = await openShop();
  const live = await counter.seller("live", SHOP, "production");
  const sold = (await mina("POST /sales", await saleOf(mina))).json;
  for (const asked of [`GET /sales/${sold.txnId}/receipt`, `GET /offers/${sold.checkoutId}`])
    expect([(await mina(asked)).status, (await live(asked)).status], asked).toEqual([200, 404]);
  expect((await live("GET /account")).json).toMatchObject({ environment: "production", balance: "0.00" });
  expect((await live("GET /customers?code=1000001")).status).toBe(404);
});

test("a sale that was reversed is no reason to ask before the next one", async () => {
  const { mina, desk } = await openShop();
  const { txnId: id } = (await mina("POST /sales", await saleOf(mina))).json;
  await run(desk, reverseTransaction, { id, reason: "wrong box" });
  expect((await mina("POST /sales", await saleOf(mina))).status).toBe(201);
  expect((await mina("POST /sales", await saleOf(mina))).status).toBe(409);
});

test("a sale is refused at once while too many top-ups wait, and can be sent again", async () => {
  let isOverloaded = false;
  const wrapStore: NonNullable<StaffApiOptions["wrapStore"]> = (store) => {
    return { ...store, isOverloaded: () => isOverloaded };
  };
  const { mina } = await openShop({ wrapStore });
  const sale = await saleOf(mina);
  isOverloaded = true;
  const refused = await mina("POST /sales", sale);
  expect([refused.status, refused.json.code, refused.headers["retry-after"]]).toEqual([503, "unavailable", "1"]);
  expect((await mina(`GET /offers/${sale.checkoutId}`)).json.state).toBe("open");
  isOverloaded = false;
  expect((await mina("POST /sales", sale)).status).toBe(201);
});

test("offers count as look-ups, a customer once by whatever code, and a refusal says how long to wait", async () => {
  const { mina, desk } = await openShop();
  await run(desk, limitPartner, { name: SHOP, newLookUps: 4 } as never);
  const codes = ["1000001", "9800000001", BOX.reqId, NET.reqId];
  const statuses = [];
  for (const code of codes) statuses.push((await mina(`GET /customers?code=${code}`)).status);
  for (const connection of [BOX, NET, { cuid: "1000002", service: "internet", reqId: "trial2" }])
    statuses.push((await mina("POST /offers", connection)).status);
  expect(statuses).toEqual(Array(7).fill(200));
  const refused = await mina("POST /offers", { cuid: "1000004", service: "internet", reqId: "trial4" });
  expect([refused.status, refused.json.code, refused.headers["retry-after"]]).toEqual([
    ...[429, "too_many_look_ups", "3600"],
  ]);
  expect((await mina("GET /customers?code=nobody")).status).toBe(429);
});

test("an offer is good until its time, begins with what was bought last, and is then never sold", async () => {
  const { mina, service } = await openShop();
  const [{ json: offer }, { json: unused }] = [await mina("POST /offers", NET), await mina("POST /offers", NET)];
  expect(offer.validUntil).toBe("2026-11-20T09:05:00.000Z");
  const quarter = offer.bouquets.find(({ bouquetId }: { bouquetId: string }) => bouquetId === "TRIAL-NET-3M");
  expect([offer.bouquets[0].bouquetId, quarter.price]).toEqual(["TRIAL-NET-1M", "3220.00"]);
  const sale = (from: { checkoutId: string }) => {
    return { checkoutId: from.checkoutId, ...NET, bouquetId: quarter.bouquetId, price: quarter.price, method: "card" };
  };
  service.now += 5 * MINUTE;
  expect((await mina("POST /sales", sale(offer))).status).toBe(201);
  service.now += 1;
  expect((await mina("POST /sales", { ...sale(unused), again: true })).json).toMatchObject({
    ...{ status: 409, detail: expect.stringContaining("more than five minutes ago, and nothing was sold") },
  });
  const outcome = async () => (await mina(`GET /offers/${unused.checkoutId}`)).json;
  service.now += MINUTE - 1;
  expect(await outcome()).toEqual({ state: "open", receipt: null });
  service.now += 1;
  expect(await outcome()).toEqual({ state: "never", receipt: null });
  expect((await mina("POST /offers", NET)).json.bouquets[0].bouquetId).toBe("TRIAL-NET-3M");
});

test("a connection that nothing can be sold for says why", async () => {
  const { mina, desk } = await openShop();
  const reason = "box was stolen";
  await run(desk, blockConnection, { ...BOX, environment: "trial", blocked: true, reason } as never);
  const problems = async (code: string) =>
    (await mina(`GET /customers?code=${code}`)).json.connections.map(({ problem }: { problem: unknown }) => problem);
  expect(await problems("1000001")).toEqual([expect.stringContaining("has blocked this connection"), null, null]);
  expect(await problems("1000005")).toEqual([expect.stringContaining("The customer is inactive")]);
});

test("a shop lists its account by whole months, and no more than 31 days at once", async () => {
  const { mina } = await openShop();
  const list = (from: string, to: string) => mina(`GET /account/entries?from=${from}&to=${to}`);
  expect((await list("2026-10-01", "2026-10-31")).json).toMatchObject({ items: [], opening: "0.00" });
  const refused = await list("2026-10-01", "2026-11-01");
  expect([refused.status, refused.json.fields]).toEqual([
    ...[422, [{ field: "to", problem: "may be 30 days after from at most" }]],
  ]);
});
