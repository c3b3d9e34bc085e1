import type { Bouquet, Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import { type RowContext, readCustomerRow, type StatedCustomer } from "../domain/customer-row.ts";
import type { TopUpsInFile } from "../domain/restatement.ts";
import { FileChanged, type ImportOptions, type ImportReport, readRow } from "./import-report.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";
import { readLines } from "./read-lines.ts";

/** Customers per transaction: few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_PER_TRANSACTION = 500;

const CHANGED = "the file was changed while it was being imported: import it again";

/**
 * Lays a file of customers over those stored, by cuid. The file is read twice: first all of it is
 * checked, then it is written, so that nothing is written of a file with a bad line, and memory stays
 * flat for a file of any size. Imported again after an interruption, it comes to the same.
 * @param open opens the file from its beginning.
 * @param topUps whether the file's subscriptions hold the top-ups that were made here.
 */
export async function importCustomers(
  ports: StaffPorts,
  environment: Environment,
  open: () => AsyncIterable<Uint8Array>,
  topUps: TopUpsInFile,
  { skipInvalid, onRejected, onProgress }: ImportOptions,
): Promise<ImportReport> {
  const { store } = ports;
  const context = {
    calendar: store.provider.calendar,
    findBouquet: bouquetFinder(await store.knownBouquets(environment)),
  };

  let good = 0;
  let rejected = 0;
  for await (const lines of readLines(open())) {
    for (const line of lines) {
      onProgress({ step: "checking", lines: line.number });
      const reading = readRow(line, (row) => readCustomerRow(row, context));
      if (reading.ok) {
        good += 1;
        continue;
      }
      rejected += 1;
      onRejected({ line: line.number, problems: reading.problems });
    }
  }
  if (rejected > 0 && !skipInvalid) return { accepted: 0, rejected };

  let accepted = 0;
  for await (const { customers, lines, invalid } of readChunks(open(), context)) {
    if (invalid > rejected) throw new FileChanged(CHANGED);
    await store.importCustomers(environment, customers, attributionOf(ports), topUps);
    accepted += customers.length;
    onProgress({ step: "writing", lines });
  }
  if (accepted !== good) throw new FileChanged(CHANGED);
  return { accepted, rejected };
}

async function* readChunks(
  chunks: AsyncIterable<Uint8Array>,
  context: RowContext,
): AsyncGenerator<{ readonly customers: readonly StatedCustomer[]; readonly lines: number; readonly invalid: number }> {
  let customers: StatedCustomer[] = [];
  let lines = 0;
  let invalid = 0;
  for await (const read of readLines(chunks)) {
    for (const line of read) {
      lines = line.number;
      const reading = readRow(line, (row) => readCustomerRow(row, context));
      if (reading.ok) customers.push(reading.value);
      else invalid += 1;
      if (customers.length < CUSTOMERS_PER_TRANSACTION) continue;
      yield { customers, lines, invalid };
      customers = [];
    }
  }
  if (customers.length > 0) yield { customers, lines, invalid };
}

function bouquetFinder(bouquets: readonly Bouquet[]): RowContext["findBouquet"] {
  const key = (service: Service, code: string) => `${service}:${code}`;
  const byKey = new Map(bouquets.map((bouquet) => [key(bouquet.service, bouquet.code), bouquet]));
  return (service, code) => byKey.get(key(service, code));
}
