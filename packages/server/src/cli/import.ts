import { type Command, Option } from "commander";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import type { TopUpsInFile } from "../domain/restatement.ts";
import { importCatalogue } from "../operations/import-catalogue.ts";
import { importCustomers } from "../operations/import-customers.ts";
import {
  FileChanged,
  type ImportOptions,
  type ImportProgress,
  type ImportReport,
  type RejectedLine,
} from "../operations/import-report.ts";
import type { StaffPorts } from "../operations/ports.ts";
import { examples } from "./help.ts";
import { isFileError, jsonOption, type OutputOptions, printJson } from "./output.ts";
import { progressLine } from "./progress-line.ts";
import { CommandFailed, type Runtime } from "./runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "./settings.ts";
import { asOption, type StaffOptions, staffPorts } from "./staff.ts";

interface CliOptions extends OutputOptions, StaffOptions {
  readonly environment: Environment;
  readonly skipInvalid?: boolean;
  readonly topUps?: TopUpsInFile;
}

type Import = (
  runtime: Runtime,
  ports: StaffPorts,
  file: string,
  options: CliOptions,
  hooks: ImportOptions,
) => Promise<ImportReport>;

/** Lines between two words of progress. */
const PROGRESS_LINES = 5_000;

/** `topupd import ...`: the provider's catalogue and customers, from NDJSON files. */
export function addImportCommands(program: Command, runtime: Runtime): void {
  const parent = program
    .command("import")
    .description("import a catalogue or customers from an NDJSON file")
    .helpCommand(false);
  const catalogue = addImport(
    parent,
    runtime,
    "catalogue",
    "publish a file as the next catalogue revision: all of it, or nothing",
    ({ openFile }, ports, file, { environment }, hooks) => importCatalogue(ports, environment, openFile(file), hooks),
  );
  examples(catalogue, ["topupd import catalogue catalogue.ndjson"]);
  const customers = addImport(
    parent,
    runtime,
    "customers",
    "add customers, and bring those that are there up to date, by cuid",
    ({ openFile }, ports, file, { environment, topUps = "unsaid" }, hooks) =>
      importCustomers(ports, environment, () => openFile(file), topUps, hooks),
  ).addOption(
    new Option("--top-ups <WHERE>", "whether the file's subscriptions hold the top-ups made here").choices([
      "included",
      "apart",
    ]),
  );
  examples(customers, [
    "topupd import customers customers.ndjson",
    "topupd import customers customers.ndjson --skip-invalid --top-ups included",
  ]);
}

function addImport(parent: Command, runtime: Runtime, what: string, description: string, run: Import): Command {
  const command = parent
    .command(what)
    .description(description)
    .argument("<FILE>", "an NDJSON file: one JSON object a line")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "which kind of customers it is for")
        .choices(ENVIRONMENTS)
        .default("production"),
    )
    .option("--skip-invalid", "write the good lines although others are bad")
    .addOption(asOption())
    .addOption(jsonOption());
  return addSettings(command, STORE_SETTINGS).action(async (file: string, options: CliOptions) => {
    const progress = progressLine(runtime);
    let hasWritten = false;
    const hooks = {
      skipInvalid: options.skipInvalid === true,
      onRejected: (rejected: RejectedLine) => progress.interrupt(describe(rejected)),
      onProgress: (seen: ImportProgress) => {
        hasWritten ||= seen.step === "writing";
        if (seen.step === "writing" || seen.lines % PROGRESS_LINES === 0)
          progress.show(`${seen.step} ... ${seen.lines} lines`);
      },
    };
    try {
      const report = await withStore(command, runtime, { mustExist: false }, (store) =>
        run(runtime, staffPorts(runtime, store, options), file, options, hooks),
      );
      progress.end();
      conclude(runtime, report, options);
    } catch (error) {
      progress.end();
      if (hasWritten)
        runtime.stderr("topupd: a part of the file was written before this; importing it again mends it\n");
      if (error instanceof FileChanged) throw new CommandFailed(error.message);
      throw isFileError(error) ? new CommandFailed(`${file} cannot be read: ${error.message}`) : error;
    }
  });
}

function conclude(runtime: Runtime, report: ImportReport, options: CliOptions): void {
  const { accepted, rejected, revision } = report;
  if (options.json === true) printJson(runtime, report);
  else {
    const asRevision = revision === undefined ? "" : `, as revision ${revision}`;
    runtime.stdout(`${accepted} accepted, ${rejected} rejected${asRevision}\n`);
  }
  if (rejected > 0 && options.skipInvalid !== true) {
    throw new CommandFailed("nothing was written: mend these lines, or give --skip-invalid to leave them out");
  }
  if (accepted === 0) throw new CommandFailed("nothing was written: the file holds no good line");
}

function describe({ line, problems }: RejectedLine): string {
  return problems.map(({ field, problem }) => `line ${line}: ${field} ${problem}\n`).join("");
}
