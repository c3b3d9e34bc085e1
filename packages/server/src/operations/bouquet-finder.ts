import { type Bouquet, bouquetKey } from "../domain/bouquet.ts";
import type { RowContext } from "../domain/customer-row.ts";

/** Finds a bouquet by service and code. */
export function bouquetFinder(bouquets: readonly Bouquet[]): RowContext["findBouquet"] {
  const byKey = new Map(bouquets.map((bouquet) => [bouquetKey(bouquet), bouquet]));
  return (service, code) => byKey.get(bouquetKey({ service, code }));
}
