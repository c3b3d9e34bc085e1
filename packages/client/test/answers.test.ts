import { describe, expect, test } from "vitest";
import { FAILURES, type FailureReason } from "../../server/src/partner/failures.ts";
import { KNOWN_FAILURES, type Service } from "../src/index.ts";
import { scene } from "./support/scripted.ts";
import {
  BASE_1_0_0,
  failure,
  otherFailure,
  PURCHASE,
  page,
  RESULT,
  type Reply,
  recorded,
  reply,
  START,
} from "./support/wire.ts";

const PROFILE = { cuid: "1000001", first_name: "Asha", last_name: "Trial", status: "active" };
const CONNECTIONS = {
  tv: [{ stb: "000100000000001", status: "active" }],
  internet: [{ username: "trial1", status: "inactive" }],
  iptv: [],
};
const SUBSCRIPTION = {
  code: "B1",
  name: "Fiber (MONTHLY)",
  startdate: "2026-11-10 08:44:52",
  enddate: "2026-12-10 08:44:52",
};

const lookedUp = (body: object) => reply(200, { success: true, code: "400aa010", body });
const listed = (service: string, connection: object, bouquet: object, customer: object = {}) =>
  lookedUp({
    checkoutId: "c-1",
    customer: { ...PROFILE, ...customer },
    [service]: { connection, subscriptions: [SUBSCRIPTION], bouquets: [{ code: "B1", name: "Fiber", ...bouquet }] },
  });

describe("a customer", () => {
  const customer = {
    ...PROFILE,
    connections: {
      tv: [{ reqId: "000100000000001", status: "active" }],
      internet: [{ reqId: "trial1", status: "inactive" }],
      iptv: [],
    },
  };

  test("is the same from both versions", async () => {
    const newer = scene([lookedUp({ customer: { ...PROFILE, connections: CONNECTIONS } })]).client;
    const older = scene([lookedUp({ customer: PROFILE, connection: CONNECTIONS })], { base: BASE_1_0_0 }).client;
    expect(await newer.lookUpCustomer("9800000001")).toMatchObject({ ok: true, value: customer });
    expect(await older.lookUpCustomer("9800000001")).toMatchObject({ ok: true, value: customer });
  });

  test("may lack the list of a service that the deployment does not have", async () => {
    const { client } = scene([lookedUp({ customer: PROFILE, connection: { internet: [] } })], { base: BASE_1_0_0 });
    expect(await client.lookUpCustomer("x")).toMatchObject({
      value: { connections: { tv: [], internet: [], iptv: [] } },
    });
  });

  test("keeps the other connections where an iptv item has unknown fields", async () => {
    const connections = { ...CONNECTIONS, iptv: [{ mac: "00:01" }, { username: "i", status: "active" }] };
    const { client } = scene([lookedUp({ customer: { ...PROFILE, connections } })]);
    const answer = await client.lookUpCustomer("x");
    expect(answer).toMatchObject({ value: { connections: { iptv: [{ reqId: "i", status: "active" }] } } });
    expect(answer).toMatchObject({ value: { connections: { tv: [{ reqId: "000100000000001" }] } } });
  });
});

describe("a listing", () => {
  const list = async (answer: Reply, service: Service, version: "v1.0.1" | "v1.0.0") =>
    scene([answer], { base: `https://topup.example/${version}` }).client.listPackages({
      cuid: PROFILE.cuid,
      service,
      reqId: "r",
    });

  test("has the price of both versions under one name", async () => {
    const value = {
      checkoutId: "c-1",
      customer: PROFILE,
      service: "internet",
      connection: { reqId: "r", status: "active" },
      subscriptions: [SUBSCRIPTION],
      bouquets: [{ code: "B1", name: "Fiber", price: "3220.5" }],
    };
    const connection = { username: "r", status: "active" };
    expect(await list(listed("internet", connection, { price: 3220.5 }), "internet", "v1.0.1")).toMatchObject({
      ok: true,
      value,
    });
    expect(await list(listed("internet", connection, { amt: "3220.50" }), "internet", "v1.0.0")).toMatchObject({
      ok: true,
      value,
    });
  });

  test("of iptv takes the reqId of the request where the connection has none that is known", async () => {
    const answer = await list(listed("iptv", { mac: "00:01", status: "active" }, { price: 1 }), "iptv", "v1.0.1");
    expect(answer).toMatchObject({ ok: true, value: { connection: { reqId: "r", status: "active" } } });
  });

  test("of iptv may be asked for by either name that its connection has", async () => {
    const connection = { username: "another", stb: "r", status: "active" };
    expect(await list(listed("iptv", connection, { price: 1 }), "iptv", "v1.0.1")).toMatchObject({
      ok: true,
      value: { connection: { reqId: "r" } },
    });
  });

  const active = { status: "active" };
  test.each([
    [
      "another customer",
      "internet",
      listed("internet", { username: "r", ...active }, { price: 1 }, { cuid: "1000002" }),
    ],
    [
      "the same number with a zero before it",
      "tv",
      listed("tv", { stb: "r", ...active }, { price: 1 }, { cuid: "01000001" }),
    ],
    ["another set-top box", "tv", listed("tv", { stb: "s", ...active }, { price: 1 })],
    ["another username", "internet", listed("internet", { username: "s", ...active }, { price: 1 })],
    ["the username in capitals", "internet", listed("internet", { username: "R", ...active }, { price: 1 })],
    ["another iptv connection", "iptv", listed("iptv", { username: "s", ...active }, { price: 1 })],
  ] as const)(
    "of %s, which was not asked for, is unreadable, and no checkoutId comes of it",
    async (_, service, answer) => {
      const told = await list(answer, service, "v1.0.1");
      expect(told).toMatchObject({ ok: false, failure: { kind: "unreadable" } });
      expect(told).toMatchObject({ failure: { message: expect.stringContaining("the listing is of another") } });
    },
  );

  test.each([
    ["of another service", listed("tv", { stb: "r", status: "active" }, { price: 1 })],
    ["with the other version's price", listed("internet", { username: "r", status: "active" }, { amt: 1 })],
    [
      "with a price that cannot be told exactly",
      listed("internet", { username: "r", status: "active" }, { price: 1e15 }),
    ],
    ["without a username", listed("internet", { stb: "r", status: "active" }, { price: 1 })],
    ["without a checkoutId", lookedUp({ customer: PROFILE, internet: {} })],
  ])("%s is unreadable", async (_, answer) => {
    expect(await list(answer, "internet", "v1.0.1")).toMatchObject({ ok: false, failure: { kind: "unreadable" } });
  });
});

describe("a result", () => {
  const query = async (answer: Reply) => scene([answer]).client.queryTransaction(PURCHASE.checkoutId);

  test("is read, with its request id and whether it is a replay", async () => {
    const headers = { "x-request-id": "r-1", "idempotent-replayed": "true" };
    expect(await query(recorded({}, headers))).toEqual({ ok: true, value: RESULT, requestId: "r-1", replayed: true });
  });

  test.each([
    ["for another checkoutId", recorded({ orderId: "another" })],
    ["without a transaction id", recorded({ txnId: undefined })],
    ["with an empty status", recorded({ status: "" })],
    ["with a number for an identifier", recorded({ reqId: 12 })],
    ["with an amount of many digits", recorded({ amt: 1130.0000000000002 })],
    ["under another success code", reply(200, { success: true, code: "400aa010", body: { result: RESULT } })],
    ["under a failure's code", reply(200, { success: true, code: "400ab107", body: { result: RESULT } })],
    ["with an HTTP status that says no", reply(500, { success: true, code: "400ab001", body: { result: RESULT } })],
    ["without success", reply(200, { code: "400ab001", body: { result: RESULT } })],
    ["with success in words", reply(200, { success: "true", code: "400ab001", body: { result: RESULT } })],
    ["cut off", { ...recorded(), text: recorded().text.slice(0, -9) }],
    [
      "cut off, under an HTTP status that says no",
      { ...failure("400ab107"), text: failure("400ab107").text.slice(0, -1) },
    ],
    ["on a page", page(200)],
    ["that is empty", reply(200, undefined)],
    ["in a list", reply(200, [recorded()])],
    ["on a prototype", { ...recorded(), text: '{"__proto__": {"success": true}}' }],
  ])("%s is unreadable", async (_, answer) => {
    const read = await query(answer);
    expect(read).toMatchObject({ ok: false, failure: { kind: "unreadable", httpStatus: answer.status } });
    expect(read.ok || (read.failure.kind === "unreadable" && read.failure.text)).toBe(answer.text ?? "");
  });

  test("that is nested without end is unreadable, and not a crash", async () => {
    const deep = `{"success": false, "x": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(await query({ status: 400, text: deep, headers: {} })).toMatchObject({ ok: false });
  });
});

describe("a failure", () => {
  const fail = async (answer: Reply) => {
    const read = await scene([answer]).client.queryTransaction("c-1");
    if (read.ok) throw new Error("a failure was read as a value");
    return read.failure;
  };

  test("is known by the code, reason, status and retry that the service gives it", () => {
    const served = (Object.keys(FAILURES) as FailureReason[]).map((reason) => {
      const { code, status, retry } = FAILURES[reason];
      return [code, { httpStatus: status, reason, retry }];
    });
    expect(KNOWN_FAILURES).toEqual(Object.fromEntries(served));
  });

  test("of topupd is typed", async () => {
    const fields = [{ field: "cuid", problem: "is required" }];
    const answer = failure("400ad002", { fields }, { "retry-after": "3", "x-request-id": "r-9" });
    expect(await fail(answer)).toEqual({
      kind: "refused",
      operation: "txn-status",
      httpStatus: 400,
      headers: { "content-type": "application/json", "retry-after": "3", "x-request-id": "r-9" },
      requestId: "r-9",
      retryAfterMs: 3_000,
      message: "This is invalid_field.",
      code: "400ad002",
      reason: "invalid_field",
      retry: "fix_request",
      fields,
    });
  });

  test("may say another retry than its table: a top-up that found no service is to be asked about", async () => {
    expect(await fail(failure("400ae002", { retry: "query_status" }))).toMatchObject({ retry: "query_status" });
    expect(await fail(failure("400ae002", { retry: "wait_and_see" }))).toMatchObject({ retry: "same_request" });
  });

  test.each([
    ["another reason", failure("400ab108", { reason: "gone" })],
    ["another HTTP status", { ...failure("400ab108"), status: 404 }],
    ["no reason", reply(410, { success: false, code: "400ab108", body: {} })],
    ["no body", reply(410, { success: false, code: "400ab108" })],
  ])("with a code of topupd but %s is another deployment's", async (_, answer) => {
    expect(await fail(answer)).toMatchObject({
      kind: "refused_otherwise",
      code: "400ab108",
      body: JSON.parse(answer.text),
    });
  });

  test("of another shape is kept whole", async () => {
    expect(await fail(otherFailure(400))).toMatchObject({
      kind: "refused_otherwise",
      httpStatus: 400,
      code: "E-17",
      retry: undefined,
      body: { success: false, code: "E-17", error: "Something is not right" },
    });
    expect(await fail(otherFailure(200))).toMatchObject({ kind: "refused_otherwise", httpStatus: 200 });
    expect(await fail(reply(422, ["no"]))).toMatchObject({ kind: "refused_otherwise", code: undefined, body: ["no"] });
    expect(await fail(page(503))).toMatchObject({ kind: "refused_otherwise", body: "<html>Bad gateway</html>" });
  });

  test("of a later topupd keeps its code and its retry", async () => {
    const answer = reply(409, {
      success: false,
      code: "400ab199",
      body: { reason: "new", retry: "query_status", message: "Hm." },
    });
    expect(await fail(answer)).toMatchObject({
      kind: "refused_otherwise",
      code: "400ab199",
      retry: "query_status",
      message: "Hm.",
    });
  });

  test.each([
    ["7", 7_000],
    ["Fri, 20 Nov 2026 09:00:05 GMT", 5_000],
    ["Fri, 20 Nov 2026 08:00:00 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["soon", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["2026-11-20", undefined],
  ])("with Retry-After %s asks to wait %s ms", async (value, ms) => {
    expect(new Date(START).toUTCString()).toBe("Fri, 20 Nov 2026 09:00:00 GMT");
    expect(await fail(page(503, { "retry-after": value }))).toMatchObject({ retryAfterMs: ms });
  });

  test("keeps no more than a little of a long page", async () => {
    const text = "x".repeat(100_000);
    expect(await fail({ ...page(200), text })).toMatchObject({ text: "x".repeat(4_000) });
    expect(await fail({ ...page(404), text })).toMatchObject({ body: "x".repeat(4_000) });
  });
});
