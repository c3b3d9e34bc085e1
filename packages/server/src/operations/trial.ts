import type { Bouquet } from "../domain/bouquet.ts";
import { type Calendar, DAY_MS, type Instant } from "../domain/calendar.ts";
import { CatalogueRows, readCatalogueRow } from "../domain/catalogue-row.ts";
import { readCustomerRow, type StatedCustomer } from "../domain/customer-row.ts";
import type { Reading } from "../domain/fields.ts";
import { type JsonObject, readJson } from "../domain/json.ts";
import type { CurrencyExponent } from "../domain/money.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";

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
 * topped up. Their dates are laid around `now`, so that what is lapsed and what runs is always the same.
 * Source: decisions, "Environments and access tokens".
 */
export async function resetTrial(ports: StaffPorts): Promise<void> {
  const { store } = ports;
  const by = attributionOf(ports);
  const { calendar, currencyExponent } = store.provider;
  const bouquets = trialCatalogue(currencyExponent);
  const current = await store.currentCatalogue("trial");
  if (current === undefined || !isSame(current.bouquets, bouquets)) await store.publishCatalogue("trial", bouquets, by);
  await store.importCustomers("trial", trialCustomers(bouquets, calendar, by.at), by, "reset");
}

/** What the trial environment sells, at the same number of major units in every currency. */
export function trialCatalogue(exponent: CurrencyExponent): readonly Bouquet[] {
  const rows = new CatalogueRows();
  for (const [service, code, name, price] of CATALOGUE) {
    rows.add(expectGood(readCatalogueRow(asRow({ service, code, name, price }), exponent)));
  }
  return rows.bouquets;
}

function trialCustomers(bouquets: readonly Bouquet[], calendar: Calendar, now: Instant): StatedCustomer[] {
  const context = {
    calendar,
    findBouquet: (service: string, code: string) =>
      bouquets.find((bouquet) => bouquet.service === service && bouquet.code === code),
  };
  return trialRows(calendar, now).map((row) => expectGood(readCustomerRow(asRow(row), context)));
}

function trialRows(calendar: Calendar, now: Instant): object[] {
  /** A one-month subscription that began so many days ago: 10 still runs, 40 has lapsed. */
  const bought = (code: string, daysAgo: number) => {
    const start = now - daysAgo * DAY_MS;
    const end = calendar.add(start, { months: 1, days: 0, seconds: 0 });
    return { code, startdate: calendar.format(start), enddate: calendar.format(end) };
  };
  return [
    {
      cuid: TRIAL_CUIDS[0],
      first_name: "Asha",
      last_name: "Trial",
      mobile: "9800000001",
      status: "active",
      connections: {
        tv: [
          { stb: "000100000000001", status: "active", subscriptions: [bought("TRIAL-TV-1M", 10)] },
          { stb: "000100000000002", status: "inactive", subscriptions: [bought("TRIAL-TV-1M", 40)] },
        ],
        internet: [{ username: "trial1", status: "active", subscriptions: [bought("TRIAL-NET-1M", 10)] }],
      },
    },
    {
      cuid: TRIAL_CUIDS[1],
      first_name: "Bikash",
      last_name: "Trial",
      mobile: "9800000002",
      status: "active",
      connections: {
        internet: [{ username: "trial2", status: "inactive", subscriptions: [bought("TRIAL-NET-1M", 40)] }],
      },
    },
    {
      cuid: TRIAL_CUIDS[2],
      first_name: "Chandra",
      last_name: "Trial",
      mobile: "9800000003",
      status: "active",
      connections: {
        tv: [
          {
            stb: "000100000000003",
            status: "active",
            subscriptions: [bought("TRIAL-TV-1M", 10), bought("TRIAL-KIDS-1M", 5)],
          },
        ],
      },
    },
    {
      cuid: TRIAL_CUIDS[3],
      first_name: "Deepa",
      last_name: "Trial",
      mobile: "9800000004",
      status: "active",
      connections: {
        internet: [{ username: "trial4", status: "active", subscriptions: [bought("TRIAL-NET-1M", 10)] }],
        iptv: [{ username: "trial4-iptv", status: "active", subscriptions: [bought("TRIAL-ITV-1M", 10)] }],
      },
    },
    {
      cuid: TRIAL_CUIDS[4],
      first_name: "Esha",
      last_name: "Trial",
      mobile: "9800000005",
      status: "inactive",
      connections: {
        internet: [{ username: "trial5", status: "inactive", subscriptions: [bought("TRIAL-NET-1M", 40)] }],
      },
    },
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
