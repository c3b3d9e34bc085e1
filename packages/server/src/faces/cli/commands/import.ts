import { basename } from "node:path";
import { Argument, type Command, Option } from "commander";
import { GOODWILL_READINGS } from "../../../domain/ledger.ts";
import {
  type CustomersHooks,
  type CustomersImport,
  type CustomersImported,
  importCustomers,
} from "../../../office/imports/customers.ts";
import { countsOf } from "../../../office/imports/words.ts";
import { officeOf } from "../../../office/office.ts";
import { count } from "../../../office/text.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { flags, isCsv, STDIO } from "../options.ts";
import { customerWords, heldBackWords, ImportOutput, warningWords } from "../output/import.ts";
import { FoundWrong, type Runtime, withFile } from "../runtime.ts";

type Flags = Omit<CustomersImport, "file"> & { readonly preview?: boolean };

const EXIT_CODES = `
Exit codes: 0 all lines were taken; 1 nothing was written; 2 wrongly called;
3 it is done, but lines were rejected or subscriptions held back.`;

/** `topupd import customers`: says lines while it reads the file. */
export function addImportCustomers(program: Command, runtime: Runtime): void {
  addStoreCommand<Flags>(groupNamed(program, "import"), runtime, {
    name: "customers",
    description: "add customers, and bring those that are there up to date, by cuid",
    arguments: [
      new Argument("<FILE>", "the file to import: CSV if it ends in .csv, else NDJSON; - reads NDJSON from stdin"),
    ],
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
      flags.environment("which kind of customers it is for"),
      new Option("--skip-invalid", "write the good lines although others are bad"),
      new Option(
        "--allow-large-change",
        "take a file that would change too much, such as one in which a column is missing",
      ),
      new Option("--preview", "show what would be done, and do nothing"),
      flags.list("--allow-shorter <CUID>", "let the file end what this customer has paid for", "nobody"),
      flags.number(
        "--tolerance-days <N>",
        "keep the later end if records end less than N days earlier (default: 1)",
        31,
      ),
    ],
    examples: [
      'topupd import customers customers.ndjson --as-of "2026-11-23 02:00:00"',
      "topupd import customers customers.csv --as-of 2026-11-23T02:00:00Z --preview",
    ],
    changes: true,
    makesDatabase: ({ preview }) => preview !== true,
    async run(session, [path = ""], given) {
      const { preview = false, ...request } = given;
      const output = new ImportOutput(session, preview);
      const hooks: CustomersHooks = {
        ...output.hooks,
        onChange: (change) => output.change(change, () => customerWords(change)),
        onHeldBack: (held) => output.say("held back", heldBackWords(held)),
        onWarning: (warning) => output.say("warnings", warningWords(warning)),
      };
      const office = officeOf(session, { preview });
      const work = withFileAt(runtime, path, (file) => importCustomers(office, { ...request, file }, hooks));
      const imported = await withFile(path, "be read", () => output.progress.until(work)).catch((error: unknown) => {
        output.fail(error);
        throw error;
      });
      conclude(output, imported);
    },
  }).addHelpText("after", EXIT_CODES);
}

/** Opens a file, or a copy of stdin, since a large file is read twice. */
async function withFileAt<Result>(
  { openFile, openStdin, createTemporaryFile }: Runtime,
  path: string,
  work: (file: CustomersImport["file"]) => Promise<Result>,
): Promise<Result> {
  if (path !== STDIO) return work({ name: basename(path), isCsv: isCsv(path), open: () => openFile(path) });
  const copy = createTemporaryFile();
  try {
    await copy.write(openStdin());
    return await work({ name: "stdin", isCsv: false, open: copy.open });
  } finally {
    await copy.remove();
  }
}

function conclude(output: ImportOutput, { report }: CustomersImported): void {
  const { accepted, rejected, added, changed, unchanged, heldBack, goodwillUnclear, stale } = report;
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
