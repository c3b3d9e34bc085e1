import { bouquetKey } from "../domain/bouquet.ts";
import { type CatalogueRow, catalogueRow } from "../domain/catalogue-row.ts";
import type { Environment } from "../domain/customer.ts";
import type { Ports } from "./ports.ts";

/**
 * The newest revision of a catalogue, in its order, and after it, as `retired`, the newest definition of every code
 * that only former revisions have: customers may still have them.
 */
export async function exportCatalogue(
  { store }: Pick<Ports, "store">,
  environment: Environment,
): Promise<readonly CatalogueRow[]> {
  const { currencyExponent } = store.provider;
  const current = (await store.currentCatalogue(environment))?.bouquets ?? [];
  const sold = new Set(current.map(bouquetKey));
  const known = await store.knownBouquets(environment);
  const retired = known.filter((bouquet) => !sold.has(bouquetKey(bouquet)));
  return [
    ...current.map((bouquet) => catalogueRow(bouquet, currencyExponent)),
    ...retired.map((bouquet) => ({ ...catalogueRow(bouquet, currencyExponent), retired: true as const })),
  ];
}
