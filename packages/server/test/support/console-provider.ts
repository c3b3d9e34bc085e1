import { fileURLToPath } from "node:url";
import { prepareTopUp } from "./open-service.ts";
import { CATALOGUE } from "./provider-files.ts";
import type { StaffApi } from "./staff-api.ts";

/** As the package has it: `npm test` builds it before. */
export const CONSOLE_FOLDER = fileURLToPath(new URL("../../dist/console/", import.meta.url));
export const COUNTER_FOLDER = fileURLToPath(new URL("../../dist/counter/", import.meta.url));

/** Who works there, by their roles. */
export const STAFF = { admin: "Asha", support: "Bina", finance: "Chandra", viewer: "Dipa" } as const;

/** What would run in a page that takes a text for markup. */
export const MARKUP = `<img src=x onerror=alert(1)>`;
export const SCRIPT = `<script>alert(2)</script>`;

/** Every page but those of a single top-up or import, with its parts. */
export const PAGES = `
  / /customers /customers/2000001 /transactions /refused-calls /bulk /partners /partners/wallet
  /partners/wallet?tab=month /partners/wallet?tab=account /partners/wallet?tab=practice /partners/Blue%20Wallet?tab=attempts /catalogue /catalogue?tab=revisions /catalogue?tab=upload /imports
  /imports?tab=held-back /imports?tab=upload /settlement?lines=bouquet /settlement /reconciliation /targets
  /targets/billing /audit /staff /health /account /none
`
  .trim()
  .split(/\s+/);

/** A second base plan of the internet. */
const FIBER_60 = { service: "internet", code: "F60-1M", name: "Fiber 60 Mbps (MONTHLY)", price: 900 };

const DAY_MS = 24 * 60 * 60 * 1000;

const run = (code: string, enddate: string) => ({ code, startdate: "2026-06-10 10:00:00", enddate });
const net = (username: string, end: string, segment?: string) => ({
  internet: [{ username, status: "active", ...(segment && { segment }), subscriptions: [run("NET-1M", end)] }],
});
const row = (cuid: string, first: string, last: string, connections: object, mobile?: string) => ({
  ...{ cuid, first_name: first, last_name: last, status: "active", connections, ...(mobile && { mobile }) },
});

const SITA = {
  ...row(
    ...(["2000001", "Sita", "Rai"] as const),
    {
      ...net("sita", "2026-12-10 10:00:00", "north"),
      tv: [{ stb: "000100000000001", status: "active", subscriptions: [run("TV-1M", "2026-12-05 10:00:00")] }],
    },
    "9800000101",
  ),
  area: "Patan",
};
const CUSTOMERS = [
  SITA,
  row("2000002", "Ram", "Thapa", net("ram", "2026-12-01 10:00:00", "north"), "9800000102"),
  row("2000003", "Gita", "Karki", net("gita", "2026-11-25 10:00:00"), "9800000103"),
  row("2000004", MARKUP, SCRIPT, net("img", "2026-12-01 10:00:00")),
];

export interface ConsoleProvider {
  readonly origin: string;
  /** Of Sita's top-up: by the wallet, for her internet connection. */
  readonly txnId: string;
  readonly checkoutId: string;
}

/** Fills a staff API with a provider: customers, two partners with top-ups on three days, a refused call, staff, a target. */
export async function fillProvider(api: StaffApi): Promise<ConsoleProvider> {
  const { service } = api;
  await service.importCatalogue([...CATALOGUE, FIBER_60]);
  await service.importCustomers(CUSTOMERS);
  for (const [role, name] of Object.entries(STAFF)) await api.addPerson(name, role as keyof typeof STAFF);
  const blue = await service.addPartner("Blue Wallet");
  const blueToken = await service.issue(blue, "production");

  service.now += 60_000;
  const bought = await topUp(api, { cuid: "2000001", service: "internet", reqId: "sita" }, { udf1: "counter 7" });
  await topUp(api, { cuid: "2000002", service: "internet", reqId: "ram" }, {}, blueToken);
  await api.call("POST /taxes", { body: { name: "VAT", service: "tv", share: "13", from: "2026-11-21" } });
  service.now += DAY_MS;
  await topUp(api, { cuid: "2000001", service: "tv", reqId: "000100000000001" }, {}, blueToken);
  await topUp(api, { cuid: "2000004", service: "internet", reqId: "img" }, { udf1: MARKUP, udf2: SCRIPT });
  service.now += DAY_MS;
  await topUp(api, { cuid: "2000003", service: "internet", reqId: "gita" }, {});
  await service.store.recordRefusedCalls([
    {
      ...{ at: service.now, partnerId: blue.id, environment: "production", operation: "subscription-package-topup" },
      ...{ reason: "connection_blocked", code: "2000001", requestId: "refused-1" },
    },
  ]);
  await api.call("POST /targets", { body: { name: "billing", webhook: { url: "http://127.0.0.1:9/events" } } });
  service.now += 60_000;
  const origin = await api.app.listen({ host: "127.0.0.1", port: 0 });
  return { origin, ...bought };
}

/** Where the base subscription of a customer's internet connection ends. */
export async function endOf(api: StaffApi, cuid: string): Promise<string | undefined> {
  const { connections } = (await api.call(`GET /customers/${cuid}`)).json as CustomerAnswer;
  return connections.find(({ service }) => service === "internet")?.plans[0]?.run?.end;
}

interface CustomerAnswer {
  readonly connections: readonly {
    readonly service: string;
    readonly plans: readonly { readonly run: { readonly end: string } | null }[];
  }[];
}

/** Tops up by the wallet unless a token is given. */
export async function topUp(
  { service }: StaffApi,
  connection: { readonly cuid: string; readonly service: string; readonly reqId: string },
  more: object,
  token = service.liveToken,
): Promise<{ readonly txnId: string; readonly checkoutId: string }> {
  const request = await prepareTopUp(service, connection, undefined, { token });
  const { json } = await service.call("subscription-package-topup", { ...request, ...more }, { token });
  return { txnId: json.body.result.txnId, checkoutId: String(request["checkoutId"]) };
}
