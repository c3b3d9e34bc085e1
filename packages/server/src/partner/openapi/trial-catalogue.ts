import type { Bouquet } from "../../domain/bouquet.ts";
import { CatalogueRows, readCatalogueRow } from "../../domain/catalogue.ts";
import type { Reading } from "../../domain/fields.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import type { CurrencyExponent } from "../../domain/money.ts";

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

/** What the trial environment sells, at the same number of major units in every currency. */
export function trialCatalogue(exponent: CurrencyExponent): readonly Bouquet[] {
  const rows = new CatalogueRows();
  for (const [service, code, name, price] of CATALOGUE) {
    rows.add(expectGood(readCatalogueRow(asRow({ service, code, name, price }), exponent)));
  }
  return rows.bouquets;
}

/** Through the same reader as a provider's own file. */
export function asRow(row: object): JsonObject {
  return readJson(JSON.stringify(row)) as JsonObject;
}

export function expectGood<Value>(reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new Error(`the trial data is wrong: ${JSON.stringify(reading.problems)}`);
}
