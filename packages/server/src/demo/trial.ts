import { type Bouquet, bouquetFinder } from "../domain/bouquet.ts";
import { readCustomerRow, type StatedCustomer } from "../domain/customer-row.ts";
import { DAY_MS, type Instant, plus } from "../domain/wall-time.ts";
import type { Zone } from "../domain/zone.ts";
import { publishBouquets } from "../office/catalogue/publish.ts";
import { type Actor, officeOf } from "../office/office.ts";
import { asRow, expectGood, trialCatalogue } from "../partner/openapi/trial-catalogue.ts";
import type { Ports } from "../store/ports.ts";

/** Source: decisions, "Environments and access tokens". */
export const TRIAL_CUIDS = ["1000001", "1000002", "1000003", "1000004", "1000005"] as const;

/**
 * Puts the trial environment into its first state: its catalogue, and its five customers with nothing
 * topped up. Their dates are laid around now, so that what is lapsed and what runs is always the same.
 * Source: decisions, "Environments and access tokens".
 */
export async function resetTrial(ports: Ports, actor: Actor): Promise<void> {
  const { store } = ports;
  const { zone, currencyExponent } = store.provider;
  const office = officeOf({ ...ports, actor });
  const now = zone.moment(office.by.at);
  const bouquets = trialCatalogue(currencyExponent);
  const current = await store.currentCatalogue("trial");
  if (current === undefined || !isSame(current.bouquets, bouquets))
    await publishBouquets(office, { environment: "trial", bouquets });
  const rows = trialCustomers(bouquets, zone, now.instant).map((stated) => ({ stated, asOf: now }));
  await store.importCustomers("trial", rows, office.by, {
    now,
    mode: "reset",
    toleranceDays: 1,
    allowShorter: new Set(),
  });
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

function isSame(a: readonly Bouquet[], b: readonly Bouquet[]): boolean {
  const text = (bouquets: readonly Bouquet[]) =>
    JSON.stringify(bouquets, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  return text(a) === text(b);
}
