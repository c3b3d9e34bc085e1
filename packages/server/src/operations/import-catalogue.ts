import type { Bouquet } from "../domain/bouquet.ts";
import { CatalogueRows, isRetired, readCatalogueRow } from "../domain/catalogue-row.ts";
import type { Environment } from "../domain/customer.ts";
import type { Reading } from "../domain/fields.ts";
import { type BouquetEffect, type CatalogueEffect, compareCatalogues } from "../domain/import-effect.ts";
import { type ImportOptions, type ImportReport, refusal } from "./import-report.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";
import { readNdjson, readRow, rejectedLines, type SourceRow } from "./source-rows.ts";

/**
 * Publishes a file as the next catalogue revision: all of it, or nothing. What it changes is told beside the
 * revision before it.
 */
export async function importCatalogue(
  ports: StaffPorts,
  environment: Environment,
  chunks: AsyncIterable<Uint8Array>,
  { skipInvalid, dryRun = false, readRows = readNdjson, onRejected, onProgress, onChange }: ImportOptions,
): Promise<ImportReport> {
  const { store } = ports;
  const rows = new CatalogueRows();
  let rejected = 0;
  const read = (row: SourceRow): Reading<Bouquet> => {
    let retired = false;
    const reading = readRow(row, (object) => {
      retired = isRetired(object);
      return readCatalogueRow(object, store.provider.currencyExponent);
    });
    return reading.ok ? rows.add(reading.value, retired) : reading;
  };
  for await (const some of readRows(chunks)) {
    for (const row of some) {
      const reading = read(row);
      onProgress({ step: "checking", lines: row.line });
      if (reading.ok) continue;
      rejected += 1;
      for (const line of rejectedLines(row, reading.problems)) onRejected(line);
    }
  }
  // A catalogue without bouquets would stop all sales: that is a mistake in the file, never a wish.
  if (rows.bouquets.length === 0 || (rejected > 0 && !skipInvalid)) return refusal(rejected);
  const before = (await store.currentCatalogue(environment))?.bouquets ?? [];
  const effect = compareCatalogues(before, rows.bouquets, store.provider.currencyExponent);
  for (const bouquet of effect.bouquets) onChange?.({ what: "bouquet", ...bouquet });
  const report = { accepted: rows.bouquets.length + rows.retired.length, rejected, ...countsOf(effect) };
  if (dryRun) return report;
  const { revision } = await store.publishCatalogue(environment, rows.bouquets, attributionOf(ports), rows.retired);
  return { ...report, revision };
}

function countsOf({ bouquets, unchanged, reorders }: CatalogueEffect) {
  const count = (kind: BouquetEffect["kind"]) => bouquets.filter((bouquet) => bouquet.kind === kind).length;
  return { added: count("added"), changed: count("changed"), unchanged, removed: count("removed"), reorders };
}
