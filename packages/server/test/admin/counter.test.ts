import { expect, test } from "vitest";
import { counterRoutesWith } from "../../src/faces/counter/app.ts";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { changeAccount, enterIntoAccount } from "../../src/office/accounts/operations.ts";
import { changePartner, limitPartner } from "../../src/office/partners/operations.ts";
import { listTokens, revokeToken, rotateToken } from "../../src/office/partners/tokens.ts";
import { addStaff, listStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { type CallCounter, startCounter } from "../support/counter.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { startStaffApi } from "../support/staff-api.ts";

const SHOP = "Counter Lalitpur";
const BOX = { cuid: "1000001", service: "tv", reqId: "000100000000001" };
const START = "2026-11-20 09:00:00";

async function openShop() {
  const api = await startStaffApi();
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
    plans: [{ name: expect.any(String), bouquetId: "TRIAL-TV-1M", end: "2026-12-10 09:00:00", isRunning: true }],
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
