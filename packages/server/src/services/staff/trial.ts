import { type Bouquet, bouquetFinder } from "../../domain/bouquet.ts";
import { CatalogueRows, readCatalogueRow } from "../../domain/catalogue.ts";
import { readCustomerRow, type StatedCustomer } from "../../domain/customer-row.ts";
import type { Reading } from "../../domain/fields.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import type { CurrencyExponent } from "../../domain/money.ts";
import { DAY_MS, type Instant, plus } from "../../domain/wall-time.ts";
import type { Zone } from "../../domain/zone.ts";
import { publishBouquets } from "../../office/catalogue/publish.ts";
import { type Actor, attributionAt, momentOf, type Ports } from "../ports.ts";

/** [service, code, name, price in major units] */
const CATALOGUE = [
  ["tv", "TRIAL-TV-1M", "Trial Family (MONTHLY)", "450"],
  ["tv", "TRIAL-TV-3M", "Trial Family (QUARTERLY)", "1290"],
  ["tv", "TRIAL-TV-12M", "Trial Family (YEARLY)", "4950"],
  ["tv", "TRIAL-KIDS-1M", "Trial Kids [AddOn] (MONTHLY)", "100"],
  ["internet", "TRIAL-NET-1M", "Trial Fiber 100 Mbps (MONTHLY)", "1130"],
  ["internet", "TRIAL-NET-3M", "Trial Fiber 100 Mbps (QUARTERLY)", "3220"],
  ["internet", "TRIAL-NET-12M", "Trial Fiber 100 Mbps (YEARLY)", "11520"],
  ["internet", "TRIAL-IP-1M", "Trial Static IP [AddOn] (MONTHLY)", "500"],
  ["iptv", "TRIAL-ITV-1M", "Trial IPTV (MONTHLY)", "300"],
  ["iptv", "TRIAL-ITV-6M", "Trial IPTV (HALF YEARLY)", "1620"],
] as const;

/** Source: decisions, "Environments and access tokens". */
export const TRIAL_CUIDS = ["1000001", "1000002", "1000003", "1000004", "1000005"] as const;

/**
 * Puts the trial environment into its first state: its catalogue, and its five customers with nothing
 * topped up. Their dates are laid around now, so that what is lapsed and what runs is always the same.
 * Source: decisions, "Environments and access tokens".
 */
export async function resetTrial(ports: Ports, actor: Actor): Promise<void> {
  const { store } = ports;
  const now = momentOf(ports);
  const by = attributionAt(now.instant, actor);
  const { zone, currencyExponent } = store.provider;
  const bouquets = trialCatalogue(currencyExponent);
  const current = await store.currentCatalogue("trial");
  if (current === undefined || !isSame(current.bouquets, bouquets))
    await publishBouquets({ ...ports, by, isPreview: false }, { environment: "trial", bouquets });
  const rows = trialCustomers(bouquets, zone, now.instant).map((stated) => ({ stated, asOf: now }));
  await store.importCustomers("trial", rows, by, { now, mode: "reset", toleranceDays: 1, allowShorter: new Set() });
}

/** What the trial environment sells, at the same number of major units in every currency. */
export function trialCatalogue(exponent: CurrencyExponent): readonly Bouquet[] {
  const rows = new CatalogueRows();
  for (const [service, code, name, price] of CATALOGUE) {
    rows.add(expectGood(readCatalogueRow(asRow({ service, code, name, price }), exponent)));
  }
  return rows.bouquets;
}

function trialCustomers(bouquets: readonly Bouquet[], zone: Zone, now: Instant): StatedCustomer[] {
  const context = { findBouquet: bouquetFinder(bouquets) };
  return trialRows(zone, now).map((row) => expectGood(readCustomerRow(asRow(row), context)));
}

function trialRows(zone: Zone, now: Instant): object[] {
  /** A one-month subscription that began so many days ago: 10 still runs, 40 has lapsed. */
  const bought = (code: string, daysAgo: number) => {
    const start = zone.wallTime(now - daysAgo * DAY_MS);
    return { code, startdate: start, enddate: plus(start, { months: 1, days: 0 }) };
  };
  const customer = (index: number, firstName: string, status: string, connections: object) => ({
    ...{ cuid: TRIAL_CUIDS[index], first_name: firstName, last_name: "Trial" },
    ...{ mobile: `980000000${index + 1}`, status, connections },
  });
  const internet = (username: string, status: string, daysAgo: number) => [
    { username, status, subscriptions: [bought("TRIAL-NET-1M", daysAgo)] },
  ];
  return [
    customer(0, "Asha", "active", {
      tv: [
        { stb: "000100000000001", status: "active", subscriptions: [bought("TRIAL-TV-1M", 10)] },
        { stb: "000100000000002", status: "inactive", subscriptions: [bought("TRIAL-TV-1M", 40)] },
      ],
      internet: internet("trial1", "active", 10),
    }),
    customer(1, "Bikash", "active", { internet: internet("trial2", "inactive", 40) }),
    customer(2, "Chandra", "active", {
      tv: [
        {
          ...{ stb: "000100000000003", status: "active" },
          subscriptions: [bought("TRIAL-TV-1M", 10), bought("TRIAL-KIDS-1M", 5)],
        },
      ],
    }),
    customer(3, "Deepa", "active", {
      internet: internet("trial4", "active", 10),
      iptv: [{ username: "trial4-iptv", status: "active", subscriptions: [bought("TRIAL-ITV-1M", 10)] }],
    }),
    customer(4, "Esha", "inactive", { internet: internet("trial5", "inactive", 40) }),
  ];
}

/** Through the same reader as a provider's own file. */
function asRow(row: object): JsonObject {
  return readJson(JSON.stringify(row)) as JsonObject;
}

function expectGood<Value>(reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new Error(`the trial data is wrong: ${JSON.stringify(reading.problems)}`);
}

function isSame(a: readonly Bouquet[], b: readonly Bouquet[]): boolean {
  const text = (bouquets: readonly Bouquet[]) =>
    JSON.stringify(bouquets, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  return text(a) === text(b);
}
