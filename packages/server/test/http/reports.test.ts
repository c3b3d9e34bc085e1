import { describe, expect, test } from "vitest";
import type { TrialCall } from "../../src/domain/practice.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { rotateCheckoutSecret } from "../../src/office/maintenance/operations.ts";
import type { RefusedCall } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { deskOf, run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { openSocket } from "../support/raw-socket.ts";
import { ask, askAll, FIBER, fill, type ReportName, topUp } from "../support/reports.ts";
import { PREFIX, START, startTestService, type TestService } from "../support/service.ts";

const DAY = 86_400_000;
/** A minute before midnight. */
const LATE = Date.UTC(2026, 10, 20, 23, 59);

const NAMES: readonly ReportName[] = ["partner/account", "partner/account/entries", "partner/top-ups"];

interface Named {
  readonly field: string;
}

const list = (service: TestService, query: Readonly<Record<string, string>> | string = "", token?: string) =>
  ask(service, "partner/top-ups", query, token);

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
      ...{
        txnId: reversed.txnId,
        orderId: reversed.orderId,
        ...FIBER,
        bouquetId: "TRIAL-NET-1M",
        amt: 1130,
        commission: 0,
      },
      ...{
        txnDate: "2026-11-20 23:59:00",
        status: "reversed",
        reversedAt: "2026-11-21 00:00:00",
        udf1: "INV-1",
        udf2: null,
      },
    };
    const yesterday = { from: "2026-11-20", to: "2026-11-20" };
    const { headers, json } = await list(service, yesterday);
    expect(json).toEqual({ success: true, code: "400ac010", body: { ...yesterday, items: [first], next: null } });
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^[0-9a-f]{18}$/),
    });
    const ids = async (query: string | Readonly<Record<string, string>>, token?: string) =>
      (await askAll(service, "partner/top-ups", query, token)).items.map(({ txnId }) => txnId);
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
    own.push(...(await fill(service, rare.id, START + 40 * DAY, 1)));
    // The number of pages depends on the own top-ups alone: days without any cost no call.
    const { items, pages } = await askAll(service, "partner/top-ups", { from: "2026-02-01", to: "2027-01-31" }, token);
    expect([items.map(({ txnId }) => txnId), pages]).toEqual([own, 1]);
  });

  test("a partner finds its top-ups of any day by its own reference, page by page", async () => {
    const service = await startTestService(openStore());
    const [wallet, busy] = [await service.addPartner("many"), await service.addPartner("busy")];
    const token = await service.issue(wallet, "trial");
    const other = await service.issue(busy, "trial");
    const reference = { udf1: " चालान 1+1" };
    const one = await topUp(service, token, reference);
    const theirs = await topUp(service, other, reference);
    await topUp(service, token, { udf1: "INV-2" });
    service.now += 6 * DAY;
    await run(deskOf(service.ports), reverseTransaction, { id: one.txnId, reason: "twice" });
    const { json } = await list(service, reference, token);
    const found = [{ txnId: one.txnId, ...reference, status: "reversed", txnDate: "2026-11-20 09:00:00" }];
    expect(json.body).toMatchObject({ from: null, to: null, items: found, next: null });
    expect((await list(service, reference, other)).json.body.items).toMatchObject([{ txnId: theirs.txnId }]);
    expect((await list(service, { udf1: "INV-3" }, token)).json.body).toMatchObject({ items: [], next: null });
    const same = await fill(service, wallet.id, START, 401, "app");
    const { items, pages } = await askAll(service, "partner/top-ups", { udf1: "app" }, token);
    expect([items.map(({ txnId }) => txnId), pages]).toEqual([same, 3]);
    const { next } = (await list(service, { udf1: "app" }, token)).json.body;
    const fields = async (query: Readonly<Record<string, string>>) =>
      (await list(service, { cursor: next, ...query }, token)).json.body.fields?.map(({ field }: Named) => field);
    expect(await fields({ udf1: "app" })).toBeUndefined();
    expect(await fields({ udf1: "INV-2" })).toEqual(["udf1"]);
    expect(await fields({ from: "2026-11-20" })).toContain("from");
  });

  test("pages have 200 top-ups, each once", async () => {
    const service = await startTestService(openStore());
    const wallet = await service.addPartner("many");
    const token = await service.issue(wallet, "trial");
    const ids = await fill(service, wallet.id, START, 401);
    const { items, pages } = await askAll(service, "partner/top-ups", {}, token);
    expect([items.map(({ txnId }) => txnId), pages]).toEqual([ids, 3]);
    // A page that follows on the next day keeps its days.
    const { next } = (await list(service, "", token)).json.body;
    service.now += DAY;
    expect((await list(service, { cursor: next }, token)).json.body).toMatchObject({
      from: "2026-11-20",
      to: "2026-11-20",
    });
  });
});

test.each(NAMES.slice(1))("a bad query of %s is refused with its fields, and never fails", async (name) => {
  const service = await startTestService();
  const send = (query: string) => ask(service, name, query);
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
  ];
  for (const [query, ...fields] of bad) {
    const { status, json } = await send(query);
    expect([status, json.code, json.body.fields?.map(({ field }: Named) => field)], query).toEqual([
      400,
      "400ad002",
      fields,
    ]);
  }
  expect((await send("?other=1&from=2026-11-20#x")).status).toBe(200);
  await moveHorizon(service, START - 1);
  expect((await send("?from=2026-11-20")).json.body.fields).toEqual([
    { field: "from", problem: "must be after 2026-11-20: older history was deleted" },
  ]);
  expect((await send("?from=2026-11-21&to=2026-11-21")).status).toBe(200);
});

test.each([
  ["?udf1=", "udf1"],
  ["?udf1=a&udf1=b", "udf1"],
  [`?udf1=${"x".repeat(31)}`, "udf1"],
  ["?udf1=%00", "udf1"],
  ["?udf1=a&from=2026-11-20", "udf1"],
  ["?udf1=a&to=2026-11-20", "udf1"],
])("the query %s is refused with its field", async (query, field) => {
  const service = await startTestService();
  const { status, json } = await list(service, query);
  expect([status, json.code, json.body.fields]).toMatchObject([400, "400ad002", [{ field }]]);
});

test("the cursor of another partner, environment or list is as good as none", async () => {
  const service = await startTestService();
  const wallet = (await partnersOf(service.store).find("wallet"))?.id ?? 0;
  const other = await service.issue(await service.addPartner("other"), "trial");
  const txnIds = await fill(service, wallet, START, 201);
  const said = async (name: ReportName, cursor: string, token?: string) => {
    const { status, json } = await ask(service, name, { cursor }, token);
    const { requestId: _, ...body } = json.body;
    return [status, json.code, body];
  };
  for (const name of NAMES.slice(1)) {
    const otherName = NAMES.find((each) => each !== name && each !== "partner/account") as ReportName;
    const { next } = (await ask(service, name)).json.body;
    expect((await ask(service, name, { cursor: next })).json.body.items).toMatchObject([{ txnId: txnIds.at(-1) }]);
    const garbage = [400, "400ad002", { reason: "invalid_field", fields: [{ field: "cursor" }] }];
    const refused = await said(name, "garbage", other);
    expect(refused).toMatchObject(garbage);
    expect(await said(name, next, other)).toEqual(refused);
    expect(await said(name, next, service.liveToken)).toEqual(refused);
    expect(await said(otherName, next)).toEqual(refused);
    for (const id of txnIds.slice(0, 5)) expect(await said(name, id, other)).toEqual(refused);
    const bodies = [
      (await ask(service, name, "", other)).json.body,
      (await ask(service, name, "", service.liveToken)).json.body,
    ];
    for (const body of bodies) expect(body).toMatchObject({ items: [], next: null });
    expect((await ask(service, name, { cursor: next, from: "2026-11-19" })).json.body.fields).toMatchObject([
      { field: "from" },
    ]);
  }
  await run(deskOf(service.ports), rotateCheckoutSecret, {});
  const { next } = (await list(service)).json.body;
  service.now += DAY;
  expect((await list(service, { cursor: next })).json.body).toMatchObject({ from: "2026-11-20", to: "2026-11-20" });
});

test("reports are GET and HEAD; other methods and unknown paths are refused as for operations", async () => {
  const service = await startTestService();
  const headers = { authorization: `Bearer ${service.trialToken}` };
  const send = (method: "GET" | "HEAD" | "POST" | "DELETE", path: string) =>
    service.inject({ method, url: `${PREFIX}/${path}`, headers });
  for (const method of ["POST", "DELETE"] as const) {
    const { statusCode, headers: sent, json } = await send(method, "v1.0.1/partner/top-ups");
    expect([statusCode, sent["allow"], json().code]).toEqual([405, "GET, HEAD", "400ad004"]);
  }
  const { statusCode, headers: sent } = await send("GET", "v1.0.1/txn-status");
  expect([statusCode, sent["allow"]]).toEqual([405, "POST"]);
  for (const path of ["v1.0.1/partner", "v1.0.1/partner/", "v1.0.1/partner/top-ups/", ...NAMES])
    expect((await send("GET", path)).json().code, path).toBe("400ad003");
});

test("reports share one connection with operations, and ignore a body", async () => {
  const service = await startTestService();
  const { socket, received } = await openSocket(service);
  const head = `Host: x\r\nAuthorization: Bearer ${service.trialToken}\r\n`;
  socket.write(`GET ${PREFIX}/v1.0.1/partner/top-ups HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`);
  socket.write(`GET ${PREFIX}/v1.0.1/partner/top-ups?from=x HTTP/1.1\r\n${head}\r\n`);
  socket.write(`HEAD ${PREFIX}/v1.0.1/partner/top-ups HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  await expect
    .poll(() => received().match(/HTTP\/1\.1 \d+/g))
    .toEqual(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"]);
  expect(received()).toMatch(/content-length: \d{2,}\r\n[^{]*\r\n\r\n$/);
  socket.destroy();
});

test.each(NAMES)("%s is admitted, limited, logged, counted and noted as an operation is", async (name) => {
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
  const code = async (token?: string) => (await ask(service, name, "?from=2026-11-20&to=2026-11-20", token)).json.code;
  const before = service.logs.length;
  expect([await code(), await code("x"), await code("")]).toEqual(["400ac010", "400ac002", "400ac001"]);
  const operation = { name, version: "v1.0.1" };
  expect(counted).toEqual([
    [operation, "wallet", "success"],
    [operation, undefined, "unknown_token"],
    [operation, undefined, "missing_token"],
  ]);
  expect(JSON.parse(service.logs[before] as string)).toMatchObject({ route: `${PREFIX}/v1.0.1/${name}`, status: 200 });
  expect(service.logs.join("")).not.toContain("from=");
  await partnersOf(service.store).setLimits("wallet", { rate: 1, burst: 1 }, by(service.now));
  time.ms += 10_000;
  const limited = [await code(), await code()];
  expect(limited).toEqual(["400ac010", "400ac006"]);
  await partnersOf(service.store).setStatus("wallet", "suspended", by(service.now));
  expect(await code()).toBe("400ac005");
  expect(refused.map(({ operation: called, reason, code: noted }) => [called, reason, noted])).toEqual([
    [name, "rate_limited", undefined],
    [name, "partner_suspended", undefined],
  ]);
  // Calls that were too fast are not kept for the practice report.
  expect(trials.map(({ operation: called, version, outcome }) => [called, version, outcome])).toEqual([
    [name, "v1.0.1", "success"],
    [name, "v1.0.1", "success"],
  ]);
});
