import { type Command, Option } from "commander";
import type { Calendar } from "../../domain/calendar.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import type { TopUpsInFile } from "../../domain/restatement.ts";
import { importCatalogue } from "../../operations/import-catalogue.ts";
import { importCustomers } from "../../operations/import-customers.ts";
import { ClockInDoubt, FileChanged, type ImportOptions, type ImportReport } from "../../operations/import-report.ts";
import { importTransactions } from "../../operations/import-transactions.ts";
import type { StaffPorts } from "../../operations/ports.ts";
import { type ReadRows, readNdjson } from "../../operations/source-rows.ts";
import { type FileFormat, formatOf, formatOption } from "../file-format.ts";
import { examples } from "../help.ts";
import { isFileError, jsonOption } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import { clockDoubtWords } from "../words/clock-words.ts";
import { type ImportFlags, importOutput } from "../words/import-output.ts";

interface CliOptions extends ImportFlags, StaffOptions {
  readonly environment: Environment;
  readonly format?: FileFormat;
  readonly topUps?: TopUpsInFile;
  readonly clockIsRight?: boolean;
  readonly ownReversals?: boolean;
}

type Import = (
  runtime: Runtime,
  ports: StaffPorts,
  file: string,
  options: CliOptions,
  hooks: ImportOptions,
) => Promise<ImportReport>;

// What reads CSV is loaded only where it is used: every command would take longer to begin.
const readCatalogueCsv: ReadRows = async function* (pieces) {
  yield* (await import("../csv/catalogue.ts")).readCatalogueCsv(pieces);
};
const readCustomersCsv: ReadRows = async function* (pieces) {
  yield* (await import("../csv/customers.ts")).readCustomersCsv(pieces);
};
const readTransactionsCsv: ReadRows = async function* (pieces) {
  yield* (await import("../csv/transactions.ts")).readTransactionsCsv(pieces);
};

/** `topupd import ...`: the provider's catalogue and customers, and former top-ups, from NDJSON or CSV files. */
export function addImportCommands(program: Command, runtime: Runtime): void {
  const parent = program
    .command("import")
    .description("import a catalogue, customers or transactions from an NDJSON or CSV file")
    .helpCommand(false);
  const catalogue = addImport(
    parent,
    runtime,
    "catalogue",
    "publish a file as the next catalogue revision: all of it, or nothing",
    readCatalogueCsv,
    ({ openFile }, ports, file, { environment }, hooks) => importCatalogue(ports, environment, openFile(file), hooks),
  );
  examples(catalogue, [
    "topupd import catalogue catalogue.ndjson",
    "topupd import catalogue catalogue.ndjson --dry-run",
  ]);
  const customers = addImport(
    parent,
    runtime,
    "customers",
    "add customers, and bring those that are there up to date, by cuid",
    readCustomersCsv,
    ({ openFile }, ports, file, { environment, topUps = "unsaid", clockIsRight = false }, hooks) =>
      importCustomers(ports, environment, () => openFile(file), topUps, { ...hooks, isClockRight: clockIsRight }),
  )
    .addOption(
      new Option("--top-ups <WHERE>", "whether the file's subscriptions hold the top-ups made here").choices([
        "included",
        "apart",
      ]),
    )
    .option("--clock-is-right", "go by the clock although what is on record speaks against it");
  examples(customers, [
    "topupd import customers customers.ndjson",
    "topupd import customers customers.csv --dry-run",
    "topupd import customers customers.ndjson --skip-invalid --top-ups included",
  ]);
  const transactions = addImport(
    parent,
    runtime,
    "transactions",
    "put top-ups on record that another topupd has exported; they move no subscription",
    readTransactionsCsv,
    ({ openFile }, ports, file, { environment, ownReversals = false }, hooks) =>
      importTransactions(ports, environment, () => openFile(file), { ...hooks, ownReversals }),
  ).option("--own-reversals", "after a restore: take back what was made here, too, as of the file's time");
  examples(transactions, [
    "topupd import transactions transactions.ndjson",
    "topupd import transactions transactions.csv --dry-run",
    "topupd import transactions lost.ndjson --own-reversals",
  ]);
}

function addImport(
  parent: Command,
  runtime: Runtime,
  what: string,
  description: string,
  readCsv: ReadRows,
  run: Import,
): Command {
  const command = parent
    .command(what)
    .description(description)
    .argument("<FILE>", "the file to import")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "which kind of customers it is for")
        .choices(ENVIRONMENTS)
        .default("production"),
    )
    .addOption(formatOption("as its name ends, else ndjson"))
    .option("--skip-invalid", "write the good lines although others are bad")
    .option("--dry-run", "say what would change, and write nothing")
    .addOption(asOption())
    .addOption(jsonOption());
  return addSettings(command, STORE_SETTINGS).action(async (file: string, options: CliOptions) => {
    const readRows = formatOf(options.format, file) === "csv" ? readCsv : readNdjson;
    const output = importOutput(runtime, options, readRows);
    // A dry run makes no database either.
    const mustExist = options.dryRun === true;
    try {
      const report = await withStore(command, runtime, { mustExist }, async (store) => {
        try {
          return await run(runtime, staffPorts(runtime, store, options), file, options, output.hooks);
        } catch (error) {
          throw error instanceof ClockInDoubt ? clockFailure(error, store.provider.calendar) : error;
        }
      });
      output.conclude(report);
    } catch (error) {
      output.fail();
      if (error instanceof FileChanged) throw new CommandFailed(error.message);
      throw isFileError(error) ? new CommandFailed(`${file} cannot be read: ${error.message}`) : error;
    }
  });
}

function clockFailure({ doubt }: ClockInDoubt, calendar: Calendar): CommandFailed {
  const taken = "By that clock, this import would take back what was paid for, and nothing brings it back.";
  return new CommandFailed(`${clockDoubtWords(doubt, calendar)} ${taken}`);
}
