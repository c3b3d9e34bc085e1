import type { Bouquet, Service } from "../domain/bouquet.ts";
import type { RowContext } from "../domain/customer-row.ts";

/** Finds a bouquet by service and code. */
export function bouquetFinder(bouquets: readonly Bouquet[]): RowContext["findBouquet"] {
  const key = (service: Service, code: string) => `${service}:${code}`;
  const byKey = new Map(bouquets.map((bouquet) => [key(bouquet.service, bouquet.code), bouquet]));
  return (service, code) => byKey.get(key(service, code));
}
