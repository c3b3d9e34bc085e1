import { describe, expect, test } from "vitest";
import { portionsOf } from "../../src/domain/portions.ts";
import type { TrialCall } from "../../src/domain/practice.ts";
import { firstTransactionId } from "../../src/domain/top-up.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import type { RefusedCall } from "../../src/store/store.ts";
import type { TopUpRow } from "../../src/store/tables.ts";
import { by } from "../support/by.ts";
import { expectInContract } from "../support/contract.ts";
import { deskOf, run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { openSocket } from "../support/raw-socket.ts";
import { PREFIX, prepareTopUp, START, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;
const DAY = 86_400_000;
/** A minute before midnight. */
const LATE = Date.UTC(2026, 10, 20, 23, 59);

type Query = Readonly<Record<string, string>> | string;

async function ask(service: TestService, query: Query = "", token = service.trialToken, name = "partner/top-ups") {
  const text = typeof query === "string" ? query : `?${new URLSearchParams(query).toString()}`;
  const response = await service.inject({
    method: "GET",
    url: `${PREFIX}/${name}${text}`,
    headers: { authorization: `Bearer ${token}` },
  });
  const { statusCode: status, headers } = response;
  expectInContract("v1.0.1", name, status, response.json(), headers);
  return { status, headers, json: response.json() };
}

/** The items of all pages, and the number of pages. */
async function askAll(service: TestService, query: Readonly<Record<string, string>>, token?: string) {
  const items: Record<string, unknown>[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages += 1) {
    const { status, json } = await ask(service, cursor === "" ? query : { cursor }, token);
    expect(status).toBe(200);
    items.push(...json.body.items);
    cursor = json.body.next;
  }
  return { items, pages };
}

async function topUp(service: TestService, token = service.trialToken, more: object = {}) {
  const request = { ...(await prepareTopUp(service, FIBER, "TRIAL-NET-1M", { token })), ...more };
  const { json } = await service.call("subscription-package-topup", request, { token });
  return json.body.result as { txnId: string; orderId: string; txnDate: string };
}

/** Writes top-ups of a partner straight into the table, a millisecond apart from each other. */
async function fill({ store }: TestService, partnerId: number, from: number, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index): TopUpRow => {
    const at = from + index;
    const txnId = `${firstTransactionId(at)}${String(partnerId).padStart(8, "0")}${String(index).padStart(8, "0")}`;
    return {
      ...{
        checkoutId: `filled-${txnId}`,
        txnId,
        partnerId,
        environment: "trial",
        ...FIBER,
      },
      ...{ bouquetCode: "TRIAL-NET-1M", amount: 113_000, commission: 0, at, status: "success" },
      ...{ txnDate: new Date(at).toISOString().slice(0, 19).replace("T", " "), udf1: null, udf2: null },
    };
  });
  await store.engine.transact(async (tx) => {
    for (const some of portionsOf(rows, 2_000)) await tx.insertInto("topUp").values(some).execute();
  });
  return rows.map(({ txnId }) => txnId);
}

describe.each(["SQLite", "PostgreSQL"])("on %s", (engine) => {
  const openStore = () => (engine === "SQLite" ? {} : { openStore: makePostgresDatabase().open });

  test("a partner lists its own top-ups of its token's environment, with their reversals", async () => {
    const service = await startTestService({ now: LATE, ...openStore() });
    const other = await service.issue(await service.addPartner("other"), "trial");
    const reversed = await topUp(service, undefined, { udf1: "INV-1" });
    const theirs = await topUp(service, other);
    service.now = LATE + 60_000;
    const second = await topUp(service);
    await run(deskOf(service.ports), reverseTransaction, { id: reversed.txnId, reason: "twice" });
    const first = {
      ...{ txnId: reversed.txnId, orderId: reversed.orderId, ...FIBER, bouquetId: "TRIAL-NET-1M", amt: 1130 },
      ...{
        txnDate: "2026-11-20 23:59:00",
        status: "reversed",
        reversedAt: "2026-11-21 00:00:00",
        udf1: "INV-1",
        udf2: null,
      },
    };
    const yesterday = { from: "2026-11-20", to: "2026-11-20" };
    const { headers, json } = await ask(service, yesterday);
    expect(json).toEqual({ success: true, code: "400ac010", body: { ...yesterday, items: [first], next: null } });
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^[0-9a-f]{18}$/),
    });
    const ids = async (query: Query, token?: string) =>
      (await ask(service, query, token)).json.body.items.map(({ txnId }: { txnId: string }) => txnId);
    expect(await ids("")).toEqual([second.txnId]);
    expect(await ids({ from: "2026-11-20" })).toEqual([reversed.txnId, second.txnId]);
    expect(await ids({ to: "2026-11-20" })).toEqual([reversed.txnId]);
    expect(await ids({ from: "2026-11-20" }, other)).toEqual([theirs.txnId]);
    expect(await ids({ from: "2026-11-20" }, service.liveToken)).toEqual([]);
    expect(await ids({ from: "2026-11-22", to: "2027-11-22" })).toEqual([]);
  });

  test("a rare partner pages through many top-ups of others with bounded work, and learns nothing of them", async () => {
    const service = await startTestService(openStore());
    const [rare, busy] = [await service.addPartner("rare"), await service.addPartner("busy")];
    const token = await service.issue(rare, "trial");
    await fill(service, busy.id, START, 12_000);
    const own = [...(await fill(service, rare.id, START, 1)), ...(await fill(service, rare.id, START + 11_999, 1))];
    const { items, pages } = await askAll(service, { from: "2026-11-20", to: "2026-11-20" }, token);
    expect(items.map(({ txnId }) => txnId)).toEqual(own);
    expect(pages).toBe(3);
    // The page in between has none, and its cursor only a time.
    const { cursor } = { cursor: (await ask(service, "", token)).json.body.next as string };
    const between = (await ask(service, { cursor }, token)).json.body;
    expect(between.items).toEqual([]);
    expect(Buffer.from(between.next, "base64url").toString()).toMatch(/^2026-11-20 2026-11-20 [0-9A-Z]{10}$/);
    // With the cursor of another partner, each still gets only its own.
    const all = await askAll(service, { cursor }, await service.issue(busy, "trial"));
    expect(all.items.every(({ txnId }) => String(txnId).slice(10, 18) === String(busy.id).padStart(8, "0"))).toBe(true);
    expect(all.items.length).toBeGreaterThan(6_000);
  });

  test("pages have 200 top-ups, each once", async () => {
    const service = await startTestService(openStore());
    const wallet = await service.addPartner("many");
    const token = await service.issue(wallet, "trial");
    const ids = await fill(service, wallet.id, START, 401);
    const { items, pages } = await askAll(service, {}, token);
    expect([items.map(({ txnId }) => txnId), pages]).toEqual([ids, 3]);
    // A page that follows on the next day keeps its days.
    const { next } = (await ask(service, "", token)).json.body;
    service.now += DAY;
    expect((await ask(service, { cursor: next }, token)).json.body).toMatchObject({
      from: "2026-11-20",
      to: "2026-11-20",
    });
  });
});

test("a bad query is refused with its fields, and never fails", async () => {
  const service = await startTestService();
  const cursorOf = (text: string) => Buffer.from(text).toString("base64url");
  const bad: [query: string, ...fields: string[]][] = [
    ["?from=yesterday", "from"],
    ["?from=2026-02-30", "from"],
    ["?from=", "from"],
    ["?from=2026-11-20T00:00:00", "from"],
    ["?from=%00", "from"],
    ["?from=%FF%FE", "from"],
    ["?from=0000-00-00", "from"],
    ["?to=9999-12-31", "to"],
    ["?from=2026-11-20&from=2026-11-20", "from"],
    ["?from=2026-11-20&to=2026-11-19", "to"],
    ["?from=2026-11-21", "to"],
    ["?to=x&cursor=x&from=y", "cursor", "to", "from"],
    ["?cursor=", "cursor"],
    ["?cursor=a&cursor=b", "cursor"],
    [`?cursor=${"A".repeat(5_000)}`, "cursor"],
    [`?cursor=${cursorOf("2026-11-20 2026-11-20 ")}`, "cursor"],
    [`?cursor=${cursorOf("2026-11-20 2026-11-20 01M7W2Z\u0000G0")}`, "cursor"],
    [`?cursor=${cursorOf("2026-99-20 2026-11-20 01M7W2ZDG0")}`, "cursor"],
    [`?cursor=${cursorOf("2026-11-20 2026-11-20 01M7W2ZDG0")}&from=2026-11-19`, "from"],
  ];
  for (const [query, ...fields] of bad) {
    const { status, json } = await ask(service, query);
    expect([status, json.code, json.body.fields?.map(({ field }: { field: string }) => field)], query).toEqual([
      400,
      "400ad002",
      fields,
    ]);
  }
  // Forged places only move the page.
  await topUp(service);
  for (const place of ["0000000000", "ZZZZZZZZZZ", "01M7W2ZDG0PF6EHMJAC5TBSWNM"])
    expect((await ask(service, `?cursor=${cursorOf(`2026-11-20 2026-11-20 ${place}`)}`)).status).toBe(200);
  expect((await ask(service, "?other=1&from=2026-11-20#x")).status).toBe(200);
  await moveHorizon(service, START - 1);
  expect((await ask(service, "?from=2026-11-20")).json.body.fields).toEqual([
    { field: "from", problem: "must be after 2026-11-20: older history was deleted" },
  ]);
  expect((await ask(service, "?from=2026-11-21&to=2026-11-21")).status).toBe(200);
});

test("reports are GET and HEAD; other methods and unknown paths are refused as for operations", async () => {
  const service = await startTestService();
  const headers = { authorization: `Bearer ${service.trialToken}` };
  const send = (method: "GET" | "HEAD" | "POST" | "DELETE", path: string) =>
    service.inject({ method, url: `${PREFIX}/${path}`, headers });
  for (const method of ["POST", "DELETE"] as const) {
    const { statusCode, headers: sent, json } = await send(method, "partner/top-ups");
    expect([statusCode, sent["allow"], json().code]).toEqual([405, "GET, HEAD", "400ad004"]);
  }
  const { statusCode, headers: sent } = await send("GET", "v1.0.1/txn-status");
  expect([statusCode, sent["allow"]]).toEqual([405, "POST"]);
  for (const path of ["partner", "partner/", "partner/top-ups/", "v1.0.1/partner/top-ups"])
    expect((await send("GET", path)).json().code, path).toBe("400ad003");
});

test("reports share one connection with operations, and ignore a body", async () => {
  const service = await startTestService();
  const { socket, received } = await openSocket(service);
  const head = `Host: x\r\nAuthorization: Bearer ${service.trialToken}\r\n`;
  socket.write(`GET ${PREFIX}/partner/top-ups HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`);
  socket.write(`GET ${PREFIX}/partner/top-ups?from=x HTTP/1.1\r\n${head}\r\n`);
  socket.write(`HEAD ${PREFIX}/partner/top-ups HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  await expect
    .poll(() => received().match(/HTTP\/1\.1 \d+/g))
    .toEqual(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"]);
  expect(received()).toMatch(/content-length: \d{2,}\r\n[^{]*\r\n\r\n$/);
  socket.destroy();
});

test("a report is admitted, limited, logged, counted and noted as an operation is", async () => {
  const [time, refused, trials, counted] = [{ ms: 0 }, [] as RefusedCall[], [] as TrialCall[], [] as unknown[]];
  const service = await startTestService({
    stopwatch: () => time.ms,
    refusedCalls: { note: (call) => void refused.push(call) },
    trialCalls: { note: (call) => void trials.push(call) },
    observer: {
      requestAnswered: (operation, caller, outcome) => counted.push([operation, caller?.partnerName, outcome]),
      topUpRecorded: () => {},
      recordingChanged: () => {},
    },
  });
  const code = async (token?: string) => (await ask(service, "?from=2026-11-20&to=2026-11-20", token)).json.code;
  const before = service.logs.length;
  expect([await code(), await code("x"), await code("")]).toEqual(["400ac010", "400ac002", "400ac001"]);
  const operation = { name: "partner/top-ups", version: "" };
  expect(counted).toEqual([
    [operation, "wallet", "success"],
    [operation, undefined, "unknown_token"],
    [operation, undefined, "missing_token"],
  ]);
  expect(JSON.parse(service.logs[before] as string)).toMatchObject({ route: `${PREFIX}/partner/top-ups`, status: 200 });
  expect(service.logs.join("")).not.toContain("from=");
  await partnersOf(service.store).setLimits("wallet", { rate: 1, burst: 1 }, by(service.now));
  time.ms += 10_000;
  const limited = [await code(), await code()];
  expect(limited).toEqual(["400ac010", "400ac006"]);
  await partnersOf(service.store).setStatus("wallet", "suspended", by(service.now));
  expect(await code()).toBe("400ac005");
  expect(refused.map(({ operation: name, reason, code: noted }) => [name, reason, noted])).toEqual([
    ["partner/top-ups", "rate_limited", undefined],
    ["partner/top-ups", "partner_suspended", undefined],
  ]);
  expect(trials.map(({ operation: name, version, outcome }) => [name, version, outcome])).toEqual([
    ["partner/top-ups", "", "success"],
    ["partner/top-ups", "", "success"],
    ["partner/top-ups", "", "rate_limited"],
  ]);
});
