import { basename } from "node:path";
import { Argument, type Command, Option } from "commander";
import { GOODWILL_READINGS } from "../../../domain/ledger.ts";
import { AS_OF_PROBLEMS } from "../../../domain/ledger-import.ts";
import { type ReadRows, readNdjson, type SourceFile } from "../../../office/imports/file.ts";
import { countsOf } from "../../../office/imports/words.ts";
import { count } from "../../../office/text.ts";
import {
  type CustomersHooks,
  type CustomersImport,
  type CustomersImported,
  importCustomers,
} from "../../../services/staff/import-customers.ts";
import { NO_GOOD_LINE } from "../../../services/staff/import-runs.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { flags, isCsv } from "../options.ts";
import { customerWords, heldBackWords, ImportOutput, largeChangeWords, warningWords } from "../output/import.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage, withFile } from "../runtime.ts";

type CustomersFlags = Omit<CustomersImport, keyof SourceFile | "dryRun"> & { readonly preview?: boolean };

const EXIT_CODES = `
Exit codes: 0 all lines were taken; 1 nothing was written; 2 wrongly called;
3 it is done, but lines were rejected or subscriptions held back.`;

/** `topupd import ...`: the provider's catalogue and customers, from NDJSON or CSV files. */
export function addImportCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "import");
  addCustomersCommand(group, runtime);
  for (const command of group.commands) command.addHelpText("after", EXIT_CODES);
}

const FILE = [
  new Argument("<FILE>", "the file to import: CSV if it ends in .csv, else NDJSON; - reads NDJSON from stdin"),
];
// A preview makes no database either.
const makesDatabase = ({ preview }: CustomersFlags) => preview !== true;

function addCustomersCommand(parent: Command, runtime: Runtime): void {
  addStoreCommand<CustomersFlags>(parent, runtime, {
    name: "customers",
    description: "add customers, and bring those that are there up to date, by cuid",
    arguments: FILE,
    options: [
      new Option(
        "--as-of <TIME>",
        "the records hold every top-up and reversal up to then: UTC (2026-11-23T02:00:00Z) or the provider's zone " +
          "(2026-11-23 02:00:00); needed once anything was topped up",
      ),
      new Option(
        "--goodwill <READING>",
        "held: the records hold goodwill, since they keep the ends of topupd's events or export; lacking: they do not; " +
          "needed only for rows that topupd holds back as goodwill unclear",
      ).choices(GOODWILL_READINGS),
      new Option("--old-records", "take records of more than 35 days ago"),
      ...importOptions("take a file that would change too much, such as one in which a column is missing"),
      flags.list("--allow-shorter <CUID>", "let the file end what this customer has paid for", "nobody"),
      flags.number(
        "--tolerance-days <N>",
        "keep the later end where records end less than N days earlier (default: 1)",
        31,
      ),
    ],
    examples: [
      'topupd import customers customers.ndjson --as-of "2026-11-23 02:00:00"',
      "topupd import customers customers.csv --as-of 2026-11-23T02:00:00Z --preview",
    ],
    changes: true,
    makesDatabase,
    async run(session, [file = ""], given) {
      const output = new ImportOutput(session, given.preview === true);
      const hooks: CustomersHooks = {
        ...output.hooks,
        onChange: (change) => output.change(change, () => customerWords(change)),
        onHeldBack: (held) => output.say("held back", heldBackWords(held)),
        onWarning: (warning) => output.say("warnings", warningWords(warning)),
      };
      const { preview = false, ...request } = given;
      const run = (source: SourceFile) =>
        importCustomers(session, session.actor, { ...request, dryRun: preview, ...source }, hooks);
      concludeCustomers(output, await readThrough(output, runtime, file, readCustomersCsv, run));
    },
  });
}

function importOptions(largeChange: string): Option[] {
  return [
    flags.environment("which kind of customers it is for"),
    new Option("--skip-invalid", "write the good lines although others are bad"),
    new Option("--allow-large-change", largeChange),
    new Option("--preview", "tells what would be done, and does nothing"),
  ];
}

// What reads CSV is loaded only where it is used: every command would take longer to begin.
const readCustomersCsv: ReadRows = async function* (pieces) {
  yield* (await import("../../../csv/reading.ts")).readCustomersCsv(pieces);
};

/** Imports a file, or stdin: a copy of it, since a large file is read twice. */
async function withSource<Imported>(
  { openFile, openStdin, createTemporaryFile }: Runtime,
  file: string,
  readCsv: ReadRows,
  run: (source: SourceFile) => Promise<Imported>,
): Promise<Imported> {
  if (file !== "-")
    return run({ name: basename(file), open: () => openFile(file), readRows: isCsv(file) ? readCsv : readNdjson });
  const copy = createTemporaryFile();
  try {
    await copy.write(openStdin());
    return await run({ name: "stdin", open: copy.open });
  } finally {
    await copy.remove();
  }
}

async function readThrough<Imported>(
  output: ImportOutput,
  runtime: Runtime,
  file: string,
  readCsv: ReadRows,
  run: (source: SourceFile) => Promise<Imported>,
): Promise<Imported> {
  try {
    return await withFile(file, "be read", () => output.progress.until(withSource(runtime, file, readCsv, run)));
  } catch (error) {
    output.fail();
    throw error;
  }
}

function concludeCustomers(output: ImportOutput, imported: CustomersImported): void {
  if (imported.kind === "bad_lines") throw badLines(output, imported);
  if (imported.kind === "large_change") throw new CommandFailed(largeChangeWords(imported.changes));
  if (imported.kind === "as_of_refused")
    throw new WrongUsage(
      `--as-of ${AS_OF_PROBLEMS[imported.problem]}${imported.problem === "too_old" ? " with --old-records" : ""}`,
    );
  const { accepted, rejected, added, changed, unchanged, heldBack, goodwillUnclear, stale } = imported.report;
  const summary = countsOf({ accepted, rejected, added, changed, unchanged, "held back": heldBack });
  output.conclude({ accepted, rejected, added, changed, unchanged, heldBack, goodwillUnclear }, summary);
  const left = [
    ...(rejected > 0 ? [`${count(rejected, "line")} rejected`] : []),
    ...(heldBack > 0 ? [`${count(heldBack, "subscription")} held back`] : []),
    ...(goodwillUnclear > 0
      ? [`${goodwillUnclear} of these as goodwill unclear: give --goodwill held or lacking`]
      : []),
    ...(stale > 0 ? [`${count(stale, "row")} not taken: records of a later moment were imported before`] : []),
  ];
  if (left.length > 0) throw new FoundWrong(left.join(", "));
}

/** Nothing was written. */
function badLines(
  output: ImportOutput,
  { rejected, hasGood }: Extract<CustomersImported, { kind: "bad_lines" }>,
): CommandFailed {
  const report = { accepted: 0, rejected, added: 0, changed: 0, unchanged: 0, heldBack: 0, goodwillUnclear: 0 };
  output.conclude(report, countsOf({ accepted: 0, rejected }));
  const todo = hasGood ? "mend these lines, or give --skip-invalid to leave them out" : NO_GOOD_LINE;
  return new CommandFailed(`nothing was written: ${todo}`);
}
