import { expect, vi } from "vitest";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { topUp } from "./console-provider.ts";
import { deskOf, run } from "./desk.ts";
import type { StaffApi } from "./staff-api.ts";

/* A provider whose names and amounts are as long as real ones can be. */

/** Names of 40 letters. */
const PARTNER = "Kathmandu Valley Digital Payment Network";
const ADMIN = "Ramchandra Prasad Koirala Bhattarai Rana";
const BOUQUET = "Fiber Unlimited Business 1Gbps (MONTHLY)";
const [FIRST_NAME, LAST_NAME] = ["Chandrakumari Devi", "Shrestha Bhattacharya"];
const CODE = "FIBER-BUSINESS-1GBP-1M";
/** Four top-ups are NPR 11,30,00,000.00. */
const PRICE = "28250000";
const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60_000;
const END = "2026-12-10 10:00:00";
const BUYERS = ["2000001", "2000002", "2000003", "2000004"];
const UNCLEAR = "2000005";
const GIVEN = "2000006";

export interface LongProvider {
  readonly origin: string;
  /** Somebody who may do everything. */
  readonly admin: string;
}

/** The internet connection of a customer: a user name of 40 letters. */
const connectionOf = (cuid: string) => ({
  cuid,
  service: "internet",
  reqId: `chandrakumari.shrestha.bhaktapur.${cuid}`,
});

function rowOf(cuid: string, enddate = END, more: object = {}) {
  const subscriptions = [{ code: CODE, startdate: "2026-06-10 10:00:00", enddate }];
  return {
    ...{ cuid, first_name: FIRST_NAME, last_name: LAST_NAME, mobile: `980${cuid}`, status: "active" },
    connections: { internet: [{ username: connectionOf(cuid).reqId, status: "active", subscriptions }] },
    ...more,
  };
}

/** Fills a staff API: top-ups of today and a week ago, reversals, refusals, a reversal that waits, held-back rows. */
export async function fillLongProvider(api: StaffApi): Promise<LongProvider> {
  const { service } = api;
  await service.importCatalogue([{ service: "internet", code: CODE, name: BOUQUET, price: PRICE }]);
  await service.importCustomers([...BUYERS, UNCLEAR, GIVEN].map((cuid) => rowOf(cuid)));
  await api.addPerson(ADMIN, "admin");
  const partner = await service.addPartner(PARTNER);
  const token = await service.issue(partner, "production");
  const topUpAll = async () => {
    const txnIds: string[] = [];
    for (const cuid of BUYERS) txnIds.push((await topUp(api, connectionOf(cuid), {}, token)).txnId);
    return txnIds;
  };
  const reverse = (id = "") => run(deskOf(service.ports), reverseTransaction, { id, reason: "paid twice by mistake" });

  await topUpAll();
  service.now += DAY_MS;
  const [aWeekAgo] = await topUpAll();
  await reverse(aWeekAgo);
  service.now += 6 * DAY_MS;
  await topUpAll();
  service.now += DAY_MS;
  for (const cuid of [UNCLEAR, GIVEN]) {
    const { service, reqId } = connectionOf(cuid);
    const body = { service, reqId, days: 30, reason: "outage" };
    expect((await api.call(`POST /customers/${cuid}/goodwill`, { body })).status).toBe(200);
  }
  const [, waiting, ...others] = await topUpAll();
  const asOf = new Date(service.now + MINUTE_MS).toISOString();
  service.now += 2 * MINUTE_MS;
  for (const txnId of others) await reverse(txnId);
  const reason = "the shop chose the wrong customer and asked for it";
  await api.call(`POST /transactions/${waiting}/reversal`, { as: "support", body: { reason } });
  await recordRefusals(api, partner.id);
  await holdBack(api, asOf);
  service.now += MINUTE_MS;
  return { origin: await api.app.listen({ host: "127.0.0.1", port: 0 }), admin: ADMIN };
}

/** A refusal by the partner's limit, and a refused call. */
async function recordRefusals({ service: { store, now } }: StaffApi, partnerId: number): Promise<void> {
  const holder = { partnerId, environment: "production", at: now } as const;
  const refused = { amount: 11_300_000_000, reason: "limit_reached", limitName: "day_amount" } as const;
  const rows = [{ ...holder, ...refused, checkoutId: "refused" }];
  await store.engine.transact((tx) => tx.insertInto("retiredCheckout").values(rows).execute());
  const call = { operation: "subscription-package-topup", reason: "connection_blocked", requestId: "refused" };
  await store.recordRefusedCalls([{ ...call, ...holder, code: "2000001" }]);
}

/** Imports a file that is held back because of a top-up, of one reversed later, of goodwill, and of unclear goodwill. */
async function holdBack(api: StaffApi, asOf: string): Promise<void> {
  const rows = [
    ...BUYERS.map((cuid) => rowOf(cuid)),
    rowOf(UNCLEAR, "2027-12-10 10:00:00"),
    rowOf(GIVEN, END, { goodwill: "held" }),
  ];
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const headers = { "content-type": "application/x-ndjson" };
  const { json } = await api.call(`POST /imports?name=billing.ndjson&run=true&asOf=${asOf}`, { body, headers });
  const read = async () => (await api.call(`GET /imports/${json.id}`)).json.state;
  await vi.waitFor(async () => expect(await read()).toBe("done"), 30_000);
  const kinds = (await api.call("GET /held-back")).json.totals.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(["goodwill", "goodwill_unclear", "reversed", "top_up"]);
}
