import { describe, expect, test } from "vitest";
import { findCustomer } from "../../src/store/customers.ts";
import { CATALOGUE, customer, DAY_MS, iso, MINUTE_MS } from "../services/world.ts";
import { prepareTopUp } from "../support/service.ts";
import { type StaffApi, startStaffApi } from "../support/staff-api.ts";

const NET_1 = { cuid: "1", service: "internet", reqId: "net-1" };
const STATED = "2026-12-10 10:00:00";
const DAY = "2026-11-20";

/** A provider with one customer whose month was topped up, and then a day later. */
async function toppedUp(): Promise<StaffApi & { readonly txnId: string }> {
  const api = await startStaffApi();
  const { service } = api;
  await service.importCatalogue(CATALOGUE);
  await service.importCustomers([customer("1", { end: STATED })]);
  const options = { token: service.liveToken };
  const request = await prepareTopUp(service, NET_1, "NET-1M", options);
  const { json } = await service.call("subscription-package-topup", request, options);
  service.now += DAY_MS;
  return { ...api, txnId: json.body.result.txnId };
}

const csv = (...lines: readonly string[]) => ({
  body: lines.map((line) => `${line}\n`).join(""),
  headers: { "content-type": "text/csv" },
});

describe("the staff API", () => {
  test("takes a customers file: checks it, writes it, and asks about what it would end though it was paid for", async () => {
    const api = await toppedUp();
    const asOf = iso(api.service.now - MINUTE_MS);
    const columns = "cuid,first_name,last_name,status,service,connection,connection_status,code,startdate,enddate";
    const row = `1,Sita,Rai,active,internet,net-1,active,NET-1M,2026-01-10 10:00:00,${STATED}`;
    const file = csv(columns, row, "2,Ram,Rai,active,,,,,,");
    const sent = await api.call(`POST /imports?name=night.csv&asOf=${asOf}`, file);
    expect([sent.status, sent.json]).toMatchObject([
      202,
      { environment: "production", file: "night.csv", author: "key admin" },
    ]);
    const upload = async () => (await api.call(`GET /imports/${sent.json.id}`, { as: "viewer" })).json;
    await expect.poll(async () => (await upload()).state).toBe("checked");
    const held = { line: 2, cuid: "1", service: "internet", reqId: "net-1", plan: "Fiber 100", bouquetId: "NET-1M" };
    const ends = {
      keptEnd: "2027-01-10 10:00:00",
      statedEnd: STATED,
      txnId: api.txnId,
      goodwillDays: null,
      goodwill: null,
    };
    expect(await upload()).toMatchObject({
      ...{ report: { added: 1, unchanged: 1, heldBack: 1 }, heldBack: [{ ...held, ...ends }], problem: null },
      changes: [
        {
          line: 3,
          cuid: "2",
          kind: "added",
          changes: expect.arrayContaining([{ field: "first_name", from: null, to: "Ram" }]),
        },
      ],
    });
    expect((await api.call("GET /held-back")).json).toEqual({ items: [], cursor: null });

    expect((await api.call(`POST /imports/${sent.json.id}/run`, { body: {} })).status).toBe(202);
    await expect.poll(async () => (await upload()).state).toBe("done");
    const [run] = (await api.call("GET /imports")).json.items;
    expect(run).toMatchObject({ kind: "customers", file: "night.csv", asOf, outcome: "done", report: { heldBack: 1 } });
    const [record, ...others] = (await api.call("GET /held-back?limit=1")).json.items;
    expect([record, others]).toEqual([{ id: expect.any(Number), ...held, ...ends }, []]);
    expect((await api.call("GET /attention")).json.items).toContainEqual({
      kind: "held_back",
      count: 1,
      subject: null,
      at: null,
    });
    const decide = (decision: string, as: "admin" | "finance" = "admin") =>
      api.call(`POST /held-back/${record.id}`, { as, body: { decision } });
    expect([(await decide("shorten", "finance")).status, (await decide("maybe")).status]).toEqual([403, 422]);
    expect([(await decide("shorten")).status, (await decide("shorten")).status]).toEqual([204, 404]);
    const [connection] = (await findCustomer(api.service.store.engine.db, "production", "1"))?.connections ?? [];
    expect(connection?.ledgers[0]?.subscription?.end).toBe(STATED);
    expect((await api.call(`POST /imports/${sent.json.id}/run`, { body: {} })).json.code).toBe("conflict");
  });

  test("asks whether a file's records hold goodwill if its rows need that, before or after it is written", async () => {
    const api = await toppedUp();
    const goodwill = { service: "internet", reqId: "net-1", days: 3, reason: "outage" };
    await api.call("POST /customers/1/goodwill", { body: goodwill });
    api.service.now += 2 * MINUTE_MS;
    const row = { ...customer("1", { end: "2027-02-10 10:00:00" }), asOf: iso(api.service.now - MINUTE_MS) };
    const file = { body: `${JSON.stringify(row)}\n`, headers: { "content-type": "application/x-ndjson" } };
    const checked = async (query: string) => {
      const { json } = await api.call(`POST /imports?name=night.ndjson${query}`, file);
      const upload = async () => (await api.call(`GET /imports/${json.id}`)).json;
      await expect.poll(async () => (await upload()).state).not.toMatch(/ing$/);
      return upload();
    };
    const unclear = { keptEnd: "2027-01-13 10:00:00", txnId: null, goodwill: { days: 3, at: "2026-11-21 09:00:00" } };
    const found = { report: { heldBack: 1, goodwillUnclear: 1 }, heldBack: [unclear] };
    const said = { report: { changed: 1, heldBack: 0, goodwillUnclear: 0 } };
    expect(await checked("")).toMatchObject(found);
    expect(await checked("&goodwill=held")).toMatchObject(said);
    expect(await checked("&run=true")).toMatchObject({ ...found, state: "done" });
    const [record] = (await api.call("GET /held-back")).json.items;
    expect(record).toMatchObject(unclear);
    const take = (more: object) => api.call(`POST /held-back/${record.id}`, { body: { decision: "shorten", ...more } });
    expect((await take({})).json).toMatchObject({ code: "conflict", detail: expect.stringContaining("hold goodwill") });
    expect((await take({ goodwill: "lacking" })).status).toBe(204);
    expect((await api.call("GET /held-back")).json.items).toEqual([]);
    const { plans } = (await api.call("GET /customers/1/ledgers")).json;
    expect(plans[0].entries.at(-1)).toMatchObject({ goodwill: "lacking", after: { end: "2027-02-13 10:00:00" } });
  });

  test("writes a file with the answer that was given after its check", async () => {
    const api = await toppedUp();
    const goodwill = { service: "internet", reqId: "net-1", days: 3, reason: "outage" };
    await api.call("POST /customers/1/goodwill", { body: goodwill });
    api.service.now += 2 * MINUTE_MS;
    const row = { ...customer("1", { end: "2027-02-10 10:00:00" }), asOf: iso(api.service.now - MINUTE_MS) };
    const file = { body: `${JSON.stringify(row)}\n`, headers: { "content-type": "application/x-ndjson" } };
    const { json } = await api.call("POST /imports?name=night.ndjson", file);
    const upload = async () => (await api.call(`GET /imports/${json.id}`)).json;
    await expect.poll(async () => (await upload()).state).toBe("checked");
    expect((await api.call(`POST /imports/${json.id}/run`, { body: { goodwill: "held" } })).status).toBe(202);
    await expect.poll(async () => (await upload()).state).toBe("done");
    const { plans } = (await api.call("GET /customers/1/ledgers")).json;
    expect(plans[0].entries.at(-1)).toMatchObject({ goodwill: "held", after: { end: "2027-02-10 10:00:00" } });
  });

  test("tells what partners owe, in CSV too, and holds a partner's book against it", async () => {
    const api = await toppedUp();
    const period = `from=${DAY}&to=${DAY}`;
    const as = "finance" as const;
    const report = await api.call(`GET /settlement?${period}`, { as });
    expect(report.json).toMatchObject({ lines: [{ day: DAY, bouquetId: "NET-1M", net: "1130.00" }], open: false });
    const inCsv = await api.call(`GET /settlement.csv?${period}&detail=day`, { as });
    expect(inCsv.text).toBe(
      `day,partner,service,bouquetId,topUps,gross,reversals,reversed,net\r\n${DAY},wallet,,,1,1130.00,0,0.00,1130.00\r\n`,
    );
    const compare = (query: string, ...lines: readonly string[]) =>
      api.call(`POST /reconciliations?partner=wallet&${period}&key=txnId${query}`, { as, ...csv(...lines) });
    const compared = await compare("&keyColumn=ref", "ref,amount", `${api.txnId},1130`, "other,450");
    expect(compared.json).toMatchObject({ differences: [{ verdict: "theirs_only", line: 3, key: "other" }] });
    expect((await compare("", "ref,amount", "1,2")).json.fields).toMatchObject([{ field: "keyColumn" }]);
  });

  test("sums up today and the last 30 days", async () => {
    const api = await toppedUp();
    const sum = { topUps: 1, amount: "1130.00" };
    const told = async (query = "") => (await api.call(`GET /statistics${query}`, { as: "viewer" })).json;
    await expect.poll(async () => (await told()).complete).toBe(true);
    const { days, ...all } = await told("?partner=wallet");
    expect(days.at(-2)).toEqual({ day: DAY, ...sum, reversals: 0, reversed: "0.00" });
    expect(all).toMatchObject({
      ...{ until: iso(api.service.now), failures: [] },
      byService: [{ name: "internet", ...sum }],
      byPartner: [{ name: "wallet", ...sum }],
      byBouquet: [{ name: "Fiber 100 (MONTHLY) (NET-1M)", ...sum }],
    });
    expect(all.hours).toHaveLength(24);
    expect((await told("?environment=trial")).byPartner).toEqual([]);
  });
});
