import type { Bouquet } from "../domain/bouquet.ts";
import { CatalogueRows, readCatalogueRow } from "../domain/catalogue-row.ts";
import type { Environment } from "../domain/customer.ts";
import type { Reading } from "../domain/fields.ts";
import { type ImportOptions, type ImportReport, readRow } from "./import-report.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";
import { type Line, readLines } from "./read-lines.ts";

/** Publishes a file as the next catalogue revision: all of it, or nothing. */
export async function importCatalogue(
  ports: StaffPorts,
  environment: Environment,
  chunks: AsyncIterable<Uint8Array>,
  { skipInvalid, onRejected, onProgress }: ImportOptions,
): Promise<ImportReport> {
  const { store } = ports;
  const rows = new CatalogueRows();
  let rejected = 0;
  const read = (line: Line): Reading<Bouquet> => {
    const reading = readRow(line, (row) => readCatalogueRow(row, store.provider.currencyExponent));
    return reading.ok ? rows.add(reading.value) : reading;
  };
  for await (const lines of readLines(chunks)) {
    for (const line of lines) {
      const reading = read(line);
      onProgress({ step: "checking", lines: line.number });
      if (reading.ok) continue;
      rejected += 1;
      onRejected({ line: line.number, problems: reading.problems });
    }
  }
  // A catalogue without bouquets would stop all sales: that is a mistake in the file, never a wish.
  if (rows.bouquets.length === 0 || (rejected > 0 && !skipInvalid)) return { accepted: 0, rejected };
  const { revision } = await store.publishCatalogue(environment, rows.bouquets, attributionOf(ports));
  return { accepted: rows.bouquets.length, rejected, revision };
}
