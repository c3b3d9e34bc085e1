import { type Command, Option } from "commander";
import type { CatalogueRow } from "../../domain/catalogue-row.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { exportCatalogue } from "../../operations/export-catalogue.ts";
import { exportCustomers } from "../../operations/export-customers.ts";
import { exportTransactions } from "../../operations/export-transactions.ts";
import type { Store } from "../../store/store.ts";
import { exportedTransaction, TRANSACTIONS_HEADER, transactionLine } from "../csv/exported-transaction.ts";
import { CATALOGUE_HEADER, CUSTOMERS_HEADER, catalogueLine, customerLines } from "../csv/writing.ts";
import { type FileFormat, formatOf, formatOption } from "../file-format.ts";
import { examples } from "../help.ts";
import { isFileError, STDIO } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { stopSignal, untilStopped } from "../stopping.ts";
import { type FilterFlags, filterOptions, readDays, readFilter } from "../transaction-flags.ts";
import { progressLine } from "../words/progress-line.ts";
import { showingOf } from "../words/transaction-output.ts";

interface ExportFlags {
  readonly environment: Environment;
  readonly format?: FileFormat;
  readonly output?: string;
}

/** How rows of one kind are written. */
interface Form<Row> {
  readonly header: readonly string[];
  readonly toLines: (row: Row) => readonly (readonly string[])[];
}

type Pages<Row> = AsyncIterable<readonly Row[]>;

/** `topupd export ...`: what an import reads, and the history of top-ups. */
export function addExportCommands(program: Command, runtime: Runtime): void {
  const parent = program
    .command("export")
    .description("write catalogue, customers or transactions into a file")
    .helpCommand(false);
  const catalogue = addExport(parent, "catalogue", "what is sold, and what customers may still have");
  catalogue.action(async (flags: ExportFlags) =>
    run<CatalogueRow>(catalogue, runtime, flags, {
      form: { header: CATALOGUE_HEADER, toLines: (row) => [catalogueLine(row)] },
      pages: async function* (store) {
        yield await exportCatalogue({ store }, flags.environment);
      },
    }),
  );
  examples(catalogue, ["topupd export catalogue --output catalogue.csv"]);

  const customers = addExport(parent, "customers", "all customers, in the form that import customers reads");
  customers.action(async (flags: ExportFlags) =>
    run(customers, runtime, flags, {
      form: { header: CUSTOMERS_HEADER, toLines: customerLines },
      pages: (store) => exportCustomers({ store }, flags.environment),
    }),
  );
  examples(customers, ["topupd export customers --output customers.ndjson"]);

  const transactions = addExport(parent, "transactions", "all top-ups, or those that all flags fit, newest first");
  for (const option of filterOptions()) transactions.addOption(option);
  transactions.action(async (flags: ExportFlags & FilterFlags) => {
    // Checked first: whether a date exists does not depend on the zone.
    readDays(flags);
    await run<ReturnType<typeof exportedTransaction>>(transactions, runtime, flags, {
      form: { header: TRANSACTIONS_HEADER, toLines: (row) => [transactionLine(row)] },
      pages: async function* (store) {
        const [filter, showing] = [await readFilter(store, flags), await showingOf(store)];
        for await (const page of exportTransactions({ store }, filter))
          yield page.map((each) => exportedTransaction(each, showing));
      },
    });
  });
  examples(transactions, ["topupd export transactions --from 2026-11-01 --output november.csv"]);
}

function addExport(parent: Command, what: string, description: string): Command {
  const command = parent
    .command(what)
    .description(description)
    .addOption(
      new Option("--environment <ENVIRONMENT>", "of which customers").choices(ENVIRONMENTS).default("production"),
    )
    .option("--output <FILE>", "a new file, for its owner alone; if left out, or -, stdout")
    .addOption(formatOption("as the name of --output ends, else ndjson"));
  return addSettings(command, STORE_SETTINGS);
}

async function run<Row>(
  command: Command,
  runtime: Runtime,
  { format, output: named }: ExportFlags,
  { form, pages }: { readonly form: Form<Row>; readonly pages: (store: Store) => Pages<Row> },
): Promise<void> {
  const output = named === STDIO ? undefined : named;
  const progress = progressLine(runtime);
  let count = 0;
  let isWhole = true;
  const counted = async function* (rows: Pages<Row>): Pages<Row> {
    for await (const page of rows) {
      yield page;
      count += page.length;
      progress.show(`exporting ... ${count}`);
    }
  };
  let stop: AbortSignal | undefined;
  try {
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const rows = counted(pages(store));
      const pieces = formatOf(format, output) === "csv" ? csvPieces(rows, form) : ndjsonPieces(rows);
      if (output === undefined) {
        isWhole = await runtime.streamOut(pieces);
        return;
      }
      // Only now is there something that would be left behind.
      stop = stopSignal(runtime);
      await runtime.writeFile(output, untilStopped(pieces, stop), { overwrite: false });
    });
  } catch (error) {
    progress.end();
    if (stop?.aborted === true) throw new CommandFailed(`stopped by ${String(stop.reason)}: ${output} was not made`);
    if (output === undefined || !isFileError(error)) throw error;
    if (error.code === "EEXIST") throw new CommandFailed(`${output} is there already: name another file`);
    throw new CommandFailed(`${output} cannot be written: ${error.message}`);
  }
  progress.end();
  if (isWhole) runtime.stderr(`${count} exported\n`);
}

async function* csvPieces<Row>(pages: Pages<Row>, { header, toLines }: Form<Row>): AsyncGenerator<Uint8Array> {
  const { csvText } = await import("../csv/text.ts");
  yield Buffer.from(csvText([header]));
  for await (const page of pages) yield Buffer.from(csvText(page.flatMap(toLines)));
}

async function* ndjsonPieces(pages: Pages<unknown>): AsyncGenerator<Uint8Array> {
  for await (const page of pages) yield Buffer.from(page.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
