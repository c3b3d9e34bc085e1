import { describe, expect, test } from "vitest";
import type { Client } from "../src/index.ts";
import { scene } from "./support/scripted.ts";
import { failure, PURCHASE, page, reply } from "./support/wire.ts";

const PROFILE = { cuid: PURCHASE.cuid, first_name: "Asha", last_name: "Trial", status: "active" };
const TV = { stb: PURCHASE.reqId, status: "active" };
const success = (body: object) => reply(200, { success: true, code: "400aa010", body });
const busy = failure("400ae002", {}, { "retry-after": "2" });

const LOOK_UP = {
  call: (client: Client, signal?: AbortSignal): Promise<object> =>
    client.lookUpCustomer("1000003", { signal, timeoutMs: 10_000 }),
  answer: success({ customer: { ...PROFILE, connections: { tv: [TV], internet: [], iptv: [] } } }),
};
const LISTING = {
  call: (client: Client, signal?: AbortSignal): Promise<object> =>
    client.listPackages(PURCHASE, { signal, timeoutMs: 10_000 }),
  answer: success({
    checkoutId: PURCHASE.checkoutId,
    customer: PROFILE,
    tv: { connection: TV, subscriptions: [], bouquets: [] },
  }),
};

describe.each([
  ["a look-up", LOOK_UP],
  ["a listing", LISTING],
])("%s that is put off with 503", (_, { call, answer }) => {
  test.each([
    ["topupd", busy],
    ["a proxy", page(503, { "retry-after": "2" })],
  ])("by %s is asked for once more, after as long as Retry-After says", async (__, putOff) => {
    const { client, clock, times, bodies } = scene([putOff, answer]);
    expect(await clock.run(call(client))).toMatchObject({ ok: true });
    expect(times).toEqual([0, 2_000]);
    expect(bodies[1]).toEqual(bodies[0]);
  });

  test("twice is not asked for a third time", async () => {
    const { client, clock, times } = scene([busy]);
    expect(await clock.run(call(client))).toMatchObject({ ok: false, failure: { reason: "unavailable" } });
    expect(times).toEqual([0, 2_000]);
  });

  test("is answered so where the time limit leaves no time for the wait", async () => {
    const { client, clock, times } = scene([failure("400ae002", {}, { "retry-after": "10" }), answer]);
    expect(await clock.run(call(client))).toMatchObject({ ok: false, failure: { retryAfterMs: 10_000 } });
    expect(times).toEqual([0]);
  });

  test("has the one time limit for both answers", async () => {
    const { client, clock } = scene([busy, "hang"]);
    const start = clock.now();
    expect(await clock.run(call(client))).toMatchObject({ ok: false, failure: { why: "timeout" } });
    expect(clock.now() - start).toBe(10_000);
  });

  test("is answered so where the caller breaks off the wait", async () => {
    const controller = new AbortController();
    const { client, clock, times } = scene([busy, answer]);
    const aborted = clock.sleep(1_000).then(() => controller.abort());
    expect(await clock.run(call(client, controller.signal))).toMatchObject({ failure: { reason: "unavailable" } });
    await aborted;
    expect(times).toEqual([0]);
  });

  test.each([
    ["503 without Retry-After", failure("400ae002")],
    ["429", failure("400ac006", {}, { "retry-after": "2" })],
    ["500", failure("400ae001", {}, { "retry-after": "2" })],
  ])("is not asked for again after %s", async (__, other) => {
    const { client, clock, times } = scene([other, answer]);
    expect(await clock.run(call(client))).toMatchObject({ ok: false });
    expect(times).toEqual([0]);
  });
});

test("a query is left to its caller after 503", async () => {
  const { client, clock, sent } = scene([busy]);
  expect(await clock.run(client.queryTransaction(PURCHASE.checkoutId))).toMatchObject({ ok: false });
  expect(sent).toEqual(["txn-status"]);
});
