import type { Environment } from "../domain/customer.ts";
import { type RowContext, readCustomerRow, type StatedCustomer } from "../domain/customer-row.ts";
import type { TopUpsInFile } from "../domain/restatement.ts";
import { bouquetFinder } from "./bouquet-finder.ts";
import { ImportClock } from "./import-clock.ts";
import { FileChanged, type ImportOptions, type ImportReport, refusal } from "./import-report.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";
import { type ReadRows, readNdjson, readRow, rejectedLines } from "./source-rows.ts";

/** Customers per transaction: few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_PER_TRANSACTION = 500;

const CHANGED = "the file was changed while it was being imported: import it again";

/**
 * Lays a file of customers over those stored, by cuid. The file is read twice: first all of it is
 * checked, then it is written, so that nothing is written of a file with a bad line, and memory stays
 * flat for a file of any size. Imported again after an interruption, it comes to the same.
 * A clock that is in doubt is held against all of the file before anything is written.
 * @param open opens the file from its beginning.
 * @throws ClockInDoubt
 * @param topUps whether the file's subscriptions hold the top-ups that were made here.
 */
export async function importCustomers(
  ports: StaffPorts,
  environment: Environment,
  open: () => AsyncIterable<Uint8Array>,
  topUps: TopUpsInFile,
  options: ImportOptions,
): Promise<ImportReport> {
  const { store } = ports;
  const {
    skipInvalid,
    dryRun = false,
    isClockRight = false,
    readRows = readNdjson,
    onRejected,
    onProgress,
    onChange,
    onPassedOver,
  } = options;
  const context = {
    calendar: store.provider.calendar,
    findBouquet: bouquetFinder(await store.knownBouquets(environment)),
  };

  let good = 0;
  let rejected = 0;
  for await (const rows of readRows(open())) {
    for (const row of rows) {
      onProgress({ step: "checking", lines: row.line });
      const reading = readRow(row, (object) => readCustomerRow(object, context));
      if (reading.ok) {
        good += 1;
        continue;
      }
      rejected += 1;
      for (const line of rejectedLines(row, reading.problems)) onRejected(line);
    }
  }
  if (rejected > 0 && !skipInvalid) return refusal(rejected);

  const clock = await ImportClock.begin(ports, (customers, at) =>
    store.previewCustomers(environment, customers, at, topUps),
  );
  if (!isClockRight && clock.isInDoubt)
    for await (const { customers, lines } of readChunks(readRows(open()), context)) {
      await clock.judge(customers);
      onProgress({ step: "comparing", lines });
    }

  const effects = { added: 0, changed: 0, unchanged: 0 };
  let accepted = 0;
  let [passed, laid] = [0, 0];
  for await (const { customers, numbers, lines, invalid } of readChunks(readRows(open()), context)) {
    if (invalid > rejected) throw new FileChanged(CHANGED);
    const by = attributionOf(ports);
    if (!isClockRight) await clock.goOn(by.at, customers);
    const done = dryRun
      ? await store.previewCustomers(environment, customers, by.at, topUps)
      : await store.importCustomers(environment, customers, by, topUps);
    for (const [index, { passedOver = [], laidOnTop = 0, takesUntil: _, ...effect }] of done.entries()) {
      effects[effect.kind] += 1;
      const [line, { cuid }] = [numbers[index] as number, customers[index] as StatedCustomer];
      passed += passedOver.length;
      laid += laidOnTop;
      for (const subscription of passedOver) onPassedOver?.({ line, cuid, ...subscription });
      if (effect.kind !== "unchanged") onChange?.({ what: "customer", line, cuid, ...effect });
    }
    accepted += customers.length;
    onProgress({ step: dryRun ? "comparing" : "writing", lines });
  }
  if (accepted !== good) throw new FileChanged(CHANGED);
  const unsaid = topUps === "unsaid" ? { laidOnTop: laid } : {};
  return { accepted, rejected, ...effects, passedOver: passed, ...unsaid };
}

interface Chunk {
  readonly customers: readonly StatedCustomer[];
  /** Of their lines. */
  readonly numbers: readonly number[];
  readonly lines: number;
  readonly invalid: number;
}

async function* readChunks(source: ReturnType<ReadRows>, context: RowContext): AsyncGenerator<Chunk> {
  let customers: StatedCustomer[] = [];
  let numbers: number[] = [];
  let lines = 0;
  let invalid = 0;
  for await (const rows of source) {
    for (const row of rows) {
      lines = row.line;
      const reading = readRow(row, (object) => readCustomerRow(object, context));
      if (reading.ok) {
        customers.push(reading.value);
        numbers.push(row.line);
      } else invalid += 1;
      if (customers.length < CUSTOMERS_PER_TRANSACTION) continue;
      yield { customers, numbers, lines, invalid };
      [customers, numbers] = [[], []];
    }
  }
  if (customers.length > 0) yield { customers, numbers, lines, invalid };
}
