import { describe, expect, test } from "vitest";
import { FAULTS, PRACTICE_CUID, type TrialCall } from "../../src/domain/practice.ts";
import { resetTrial } from "../../src/faces/cli/demo/trial.ts";
import { listAudit } from "../../src/office/audit/operations.ts";
import { reversePractised } from "../../src/office/practice/reversals.ts";
import { setWebhook } from "../../src/office/targets/webhook.ts";
import { deskOf, run } from "../support/desk.ts";
import { PREFIX, startTestService, type TestService } from "../support/service.ts";

const TOP_UP = "subscription-package-topup";
const BUSY = { status: 503, retryAfter: "2", became: "unavailable" };
const SUCCESS = { status: 200, became: "success" };
const REPLAYED = { status: 200, became: "replayed" };
const NOTHING = { status: 0, became: "no answer" };
const ask = (status: number, became: string) => ({ ask: { status, became } });

/** Answers to top-ups with one checkoutId and to txn-status (`ask`), and milliseconds that pass. */
const EXPECTED: Readonly<Record<string, readonly object[]>> = {
  "lost-before": [NOTHING, ask(404, "not_topped_up"), SUCCESS, ask(200, "success"), REPLAYED],
  "lost-after": [NOTHING, ask(200, "success"), REPLAYED, REPLAYED],
  "half-answer": [{ status: 200, became: "half" }, REPLAYED],
  slow: [SUCCESS, REPLAYED],
  "busy-before": [BUSY, BUSY, SUCCESS, REPLAYED],
  "busy-after": [BUSY, REPLAYED],
  "proxy-error": [{ status: 502, became: "a page" }, REPLAYED],
  limited: [{ status: 429, retryAfter: "2", became: "rate_limited" }, SUCCESS, REPLAYED],
  "ask-fails": [NOTHING, { ask: BUSY }, { passes: 9_999 }, { ask: BUSY }, { passes: 1 }, ask(200, "success")],
  expired: [{ status: 410, became: "checkout_expired" }, ask(410, "never_topped_up")],
  undecided: [
    NOTHING,
    ask(404, "not_topped_up"),
    { status: 410, became: "checkout_expired" },
    { passes: 60_000 },
    ask(410, "never_topped_up"),
  ],
  withdrawn: [
    { status: 422, became: "bouquet_unavailable" },
    ask(404, "not_topped_up"),
    { status: 422, became: "bouquet_unavailable" },
  ],
  short: refusedForGood(402, "insufficient_balance"),
  "day-limit": refusedForGood(403, "limit_reached"),
  reversed: [SUCCESS, REPLAYED],
};

function refusedForGood(status: number, became: string): readonly object[] {
  return [{ status, became }, ask(410, "never_topped_up"), { status, became }];
}

interface Client {
  readonly service: TestService;
  readonly url: string;
  readonly version: string;
  readonly token: string;
}

async function startClient(version: string, hasFastDoor = true, lateMs = 40): Promise<Client & { calls: TrialCall[] }> {
  const calls: TrialCall[] = [];
  const service = await startTestService({ hasFastDoor, lateMs, trialCalls: { note: (each) => calls.push(each) } });
  const url = await service.app.listen({ host: "127.0.0.1", port: 0 });
  return { service, url, version, token: service.trialToken, calls };
}

/** Calls over a real socket. @returns status 0 if no answer came. */
async function send({ url, version, token }: Client, operation: string, body: object) {
  const request = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(`${url}${PREFIX}/${version}/${operation}`, request).catch(() => undefined);
  if (answer === undefined) return { ...NOTHING, json: undefined };
  const retryAfter = answer.headers.get("retry-after") ?? undefined;
  const text = await answer.text().catch(() => "");
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  const json: any = text.startsWith("{") ? JSON.parse(text) : undefined;
  const replayed = answer.headers.get("idempotent-replayed") === "true" ? "replayed" : "success";
  const became = json === undefined ? (text === "" ? "half" : "a page") : (json.body.reason ?? replayed);
  return { status: answer.status, became, ...(retryAfter !== undefined && { retryAfter }), json };
}

async function list(client: Client, reqId: string) {
  const connection = { cuid: PRACTICE_CUID, service: "internet", reqId };
  const { json } = await send({ ...client, version: "v1.0.1" }, "get-subscription-package", connection);
  const [bouquet] = json.body.internet.bouquets;
  return { ...connection, checkoutId: json.body.checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price) };
}

/** Makes the calls of one fault. */
async function play(client: Client, name: string, steps: readonly object[] = []) {
  const request = await list(client, name);
  const seen: object[] = [];
  for (const step of steps) {
    if ("passes" in step) {
      client.service.now += step.passes as number;
      seen.push(step);
      continue;
    }
    const isQuery = "ask" in step;
    const { json: _, ...answer } = await send(client, isQuery ? "txn-status" : TOP_UP, request);
    seen.push(isQuery ? { ask: answer } : answer);
  }
  return { request, seen };
}

describe.each([
  ["v1.0.1", "the fast door", true],
  ["v1.0.1", "node:http", false],
  ["v1.0.0", "the fast door", true],
])("in %s, through %s", (version, _, hasFastDoor) => {
  test("every fault happens once for each checkoutId, and a repetition gets the real answer", async () => {
    const client = await startClient(version, hasFastDoor);
    for (const { name } of FAULTS) {
      const { seen } = await play(client, name, EXPECTED[name]);
      expect([name, ...seen]).toEqual([name, ...(EXPECTED[name] as readonly object[])]);
      // A new checkoutId meets the fault again.
      const [first] = EXPECTED[name] as readonly object[];
      if (name !== "reversed") expect((await play(client, name, [first as object])).seen).toEqual([first]);
    }
    expect(client.service.app.fastCalls() > 0).toBe(hasFastDoor);
  });
});

test("an unavailable answer names the next step of its operation", async () => {
  const client = await startClient("v1.0.1");
  const busy = await send(client, TOP_UP, await list(client, "busy-before"));
  expect(busy.json.body.retry).toBe("query_status");
  const request = await list(client, "ask-fails");
  await send(client, TOP_UP, request);
  expect((await send(client, "txn-status", request)).json.body.retry).toBe("same_request");
});

test("the provider reverses the top-up of one connection after 10 seconds, once", async () => {
  const { service, ...client } = await startClient("v1.0.1");
  const desk = deskOf(service.ports, service.actor);
  const webhook = { name: "wallet", environment: "trial", url: "http://127.0.0.1:9/" } as const;
  await run(desk, setWebhook, webhook);
  const request = await list({ ...client, service }, "reversed");
  await send({ ...client, service }, TOP_UP, request);
  const ask = async () => (await send({ ...client, service }, "txn-status", request)).json.body.result.status;
  // The customers are restored between the top-up and its reversal.
  await resetTrial(service.ports, service.actor);
  const pass = async (ms: number) => {
    service.now += ms;
    await Promise.all([reversePractised(service.ports), reversePractised(service.ports)]);
    return ask();
  };
  expect(await pass(9_999)).toBe("success");
  expect(await pass(1)).toBe("reversed");
  await send({ ...client, service }, TOP_UP, request);
  expect(await pass(10_000)).toBe("reversed");
  const audit = await run(desk, listAudit, { action: "transaction.reverse" });
  expect(audit.items.map(({ author }) => author)).toEqual(["practice"]);
  const { db } = service.store.engine;
  const told = await db.selectFrom("due").select("kind").orderBy("subject").execute();
  expect(told.map(({ kind }) => kind)).toEqual(["topup.reversed", "topup.recorded"]);
});

test("all calls of the trial environment are noted, with what the caller got", async () => {
  const { calls, ...client } = await startClient("v1.0.1");
  const { request } = await play(client, "half-answer", EXPECTED["half-answer"]);
  await send({ ...client, token: client.service.liveToken }, "txn-status", request);
  await send(client, "txn-status", {});
  await play(client, "busy-after", [BUSY]);
  expect(calls.pop()).toMatchObject({ outcome: "unavailable", retryAfter: 2 });
  calls.pop();
  const { amt: amount, ...fields } = request;
  const of = {
    ...{ at: expect.any(Number), ms: expect.any(Number), partnerId: 1, requestId: expect.any(String) },
    ...{ version: "v1.0.1", retryAfter: undefined },
  };
  const none = { checkoutId: undefined, bouquetId: undefined, amount: undefined };
  const { cuid, service, reqId } = request;
  expect(calls).toEqual([
    { ...of, ...none, operation: "get-subscription-package", cuid, service, reqId, outcome: "success" },
    { ...of, ...fields, amount, operation: TOP_UP, outcome: "no_answer" },
    { ...of, ...fields, amount, operation: TOP_UP, outcome: "replayed" },
    {
      ...{ ...of, ...none, operation: "txn-status", outcome: "invalid_field" },
      ...{ cuid: undefined, service: undefined, reqId: undefined },
    },
  ]);
});

test("a late answer does not hold up other calls, and a caller that leaves gets none", async () => {
  const { calls, ...client } = await startClient("v1.0.1", true, 500);
  const request = await list(client, "slow");
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${client.token}`, "content-type": "application/json" };
  const late = fetch(`${client.url}${PREFIX}/v1.0.1/${TOP_UP}`, {
    ...{ method: "POST", headers, body: JSON.stringify(request), signal: leaving.signal },
  }).catch(() => "left");
  await expect.poll(async () => (await send(client, "txn-status", request)).became).toBe("success");
  leaving.abort();
  expect(await late).toBe("left");
  await expect.poll(() => calls.find(({ operation }) => operation === TOP_UP)?.outcome).toBe("no_answer");
});

test.each([true, false])("a late answer does not delay a shutdown (fast door: %s)", async (hasFastDoor) => {
  const client = await startClient("v1.0.1", hasFastDoor, 60_000);
  const request = await list(client, "slow");
  const late = send(client, TOP_UP, request);
  await expect.poll(async () => (await send(client, "txn-status", request)).became).toBe("success");
  await client.service.app.close();
  expect((await late).became).toBe("success");
});

test("a wrong request meets no fault that would record it", async () => {
  const client = await startClient("v1.0.1");
  const request = await list(client, "lost-after");
  expect((await send(client, TOP_UP, { ...request, amt: "1" })).became).toBe("amount_mismatch");
  expect((await send(client, TOP_UP, { ...request, checkoutId: "unknown" })).became).toBe("checkout_unknown");
  expect((await send(client, TOP_UP, request)).status).toBe(0);
});

test("a production customer with the same names is served normally", async () => {
  const { calls, ...client } = await startClient("v1.0.1");
  const { service } = client;
  const internet = FAULTS.map(({ name }) => ({ username: name, status: "active", subscriptions: [] }));
  await service.importCatalogue(
    [{ service: "internet", code: "NET", name: "Net (MONTHLY)", price: 100 }],
    "production",
  );
  await service.importCustomers([
    { cuid: PRACTICE_CUID, first_name: "A", last_name: "B", status: "active", connections: { internet } },
  ]);
  const live = { ...client, token: service.liveToken };
  for (const { name } of FAULTS)
    expect([name, ...(await play(live, name, [SUCCESS, REPLAYED])).seen]).toEqual([name, SUCCESS, REPLAYED]);
  expect(calls).toEqual([]);
});
