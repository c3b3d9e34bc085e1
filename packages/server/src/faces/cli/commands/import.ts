import { Argument, type Command, Option } from "commander";
import { GOODWILL_READINGS } from "../../../domain/ledger.ts";
import { Refused } from "../../../domain/refused.ts";
import { type CustomersImport, type CustomersImported, importCustomers } from "../../../office/imports/customers.ts";
import { type ImportHooks, MOST_SAID } from "../../../office/imports/file.ts";
import type {
  ChangedCustomer,
  CustomersHooks,
  HeldBackSubscription,
  ImportWarning,
} from "../../../office/imports/findings.ts";
import { changeWords, countsOf, heldBackAdvice, rejectedWords } from "../../../office/imports/tally.ts";
import { officeOf } from "../../../office/office.ts";
import { count, printable } from "../../../office/text.ts";
import { addStoreCommand, flags, groupNamed, type Session } from "../command.ts";
import { FoundWrong, withFile } from "../failures.ts";
import { withFileAt } from "../files.ts";
import type { Runtime } from "../runtime.ts";
import { progressLine } from "../terminal.ts";

type Flags = Omit<CustomersImport, "file"> & { readonly preview?: boolean; readonly each?: boolean };

const EXIT_CODES = `
Exit codes: 0 all lines were imported; 1 nothing was written; 2 wrong usage;
3 imported, but lines were rejected or subscriptions held back.`;

/** Adds `topupd import customers`, by hand: it prints lines while it reads the file. */
export function addImportCustomers(program: Command, runtime: Runtime): void {
  addStoreCommand<Flags>(groupNamed(program, "import"), runtime, {
    name: "customers",
    description: "add customers, and update existing ones, by cuid",
    arguments: [
      new Argument("<FILE>", "the file to import: CSV if it ends in .csv, else NDJSON; - reads NDJSON from stdin"),
    ],
    options: [
      new Option(
        "--as-of <TIME>",
        "time up to which billing has booked every top-up and reversal: UTC (2026-11-23T02:00:00Z) or the provider's " +
          "zone (2026-11-23 02:00:00); required once a top-up or goodwill exists",
      ),
      new Option(
        "--goodwill <READING>",
        "held: the records include goodwill, since they copy the ends of topupd's events or export; lacking: they do " +
          "not; needed only for rows that topupd holds back as goodwill unclear",
      ).choices(GOODWILL_READINGS),
      new Option("--old-records", "accept records that are more than 35 days old"),
      flags.environment("environment of the customers"),
      new Option("--skip-invalid", "import the good lines although others are bad"),
      new Option(
        "--allow-large-change",
        "accept a file that would change very many customers, as one with a missing column does",
      ),
      new Option("--preview", "count the changes without making them"),
      new Option("--each", "print each change (JSON: the first 1000)"),
      flags.list("--allow-shorter <CUID>", "let the file shorten this customer's paid time", "nobody"),
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
      const { preview = false, each = false, ...request } = given;
      const output = new ImportOutput(session, preview, each);
      const hooks: CustomersHooks = {
        ...output.hooks,
        ...(each && { onChange: (change: ChangedCustomer) => output.change(change) }),
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

function conclude(output: ImportOutput, { report }: CustomersImported): void {
  const { stale, ...counts } = report;
  const { accepted, rejected, added, changed, unchanged, heldBack, goodwillUnclear, endsRunning } = counts;
  const { mobilePlaceholders, mobilesUnreadable = 0 } = counts;
  const summary = countsOf({
    ...{ accepted, rejected, added, changed, unchanged, "held back": heldBack },
    ...{ "running subscriptions ended": endsRunning },
    ...(mobilePlaceholders > 0 && { "mobile numbers taken as none": mobilePlaceholders }),
    ...(mobilesUnreadable > 0 && { "mobile numbers that are no numbers": mobilesUnreadable }),
  });
  const advice = heldBackAdvice(report);
  output.conclude({ ...counts, ...(advice !== null && { advice }) }, summary, advice);
  const left = [
    ...(rejected > 0 ? [`${count(rejected, "line")} rejected`] : []),
    ...(heldBack > 0 ? [`${count(heldBack, "subscription")} held back`] : []),
    ...(goodwillUnclear > 0 ? [`${goodwillUnclear} of these as goodwill unclear: use --goodwill held or lacking`] : []),
    ...(stale > 0 ? [`${count(stale, "row")} skipped: newer records were imported before`] : []),
  ];
  if (left.length > 0) throw new FoundWrong(left.join(", "));
}

/** Shows an import: changes on stdout while it runs, problems on stderr at its end. */
class ImportOutput {
  readonly hooks: ImportHooks;
  readonly progress: ReturnType<typeof progressLine>;
  readonly #session: Session;
  readonly #isPreview: boolean;
  readonly #isEach: boolean;
  /** The first changes, for JSON. */
  readonly #changes: ChangedCustomer[] = [];
  readonly #said = new Map<string, number>();
  /** Lines for stderr: what is wrong with the whole file comes before them. */
  readonly #lines: string[] = [];
  #isWriting = false;

  constructor(session: Session, isPreview: boolean, isEach: boolean) {
    this.#session = session;
    this.#isPreview = isPreview;
    this.#isEach = isEach;
    this.progress = progressLine(session.runtime);
    this.hooks = {
      onRejected: (line) => this.say("rejected", rejectedWords(line)),
      onProgress: ({ step, lines }) => {
        this.#isWriting = step === "writing";
        this.progress.show(`${step} ... ${lines} lines`);
      },
    };
  }

  /** Keeps a line for stderr, if it is one of the first of its kind. */
  say(kind: string, words: string): void {
    const said = (this.#said.get(kind) ?? 0) + 1;
    this.#said.set(kind, said);
    if (said <= MOST_SAID) this.#lines.push(words);
  }

  change(change: ChangedCustomer): void {
    this.progress.clear();
    if (!this.#session.isJson) this.#session.runtime.stdout(customerWords(change));
    else if (this.#changes.length < MOST_SAID) this.#changes.push(change);
  }

  /** @param report the JSON. @param summary the same in words. @param advice printed first. */
  conclude(report: object, summary: string, advice: string | null): void {
    if (advice !== null) this.#session.runtime.stderr(`${advice}\n`);
    this.#printLines();
    const data = {
      ...report,
      ...(this.#isPreview && { preview: true }),
      ...(this.#isEach && { changes: this.#changes }),
    };
    this.#session.show(data, `${this.#isPreview ? "would be: " : ""}${summary}\n`);
  }

  fail(error: unknown): void {
    this.#printLines();
    const isRefused = error instanceof Refused && error.code === "invalid";
    if (this.#isWriting && !isRefused)
      this.#session.runtime.stderr("topupd: a part of the file may be imported: import it again\n");
  }

  #printLines(): void {
    for (const line of this.#lines) this.#session.runtime.stderr(line);
    for (const [kind, said] of this.#said)
      if (said > MOST_SAID) this.#session.runtime.stderr(`and ${said - MOST_SAID} more lines: ${kind}\n`);
  }
}

function customerWords({ line, cuid, kind, changes }: ChangedCustomer): string {
  return changeWords(`line ${line}: ${cuid} ${kind}`, changes);
}

/** Words that name the two ends and what to do. */
function heldBackWords(held: HeldBackSubscription): string {
  const { line, cuid, service, reqId, bouquetCode, keptEnd, statedEnd, txnId, rowEnd, goodwillDays, goodwill } = held;
  const which = `line ${line}: ${cuid} ${service} ${reqId} ${bouquetCode}`;
  if (goodwill !== undefined) {
    const given = `${count(goodwill.days, "day")} of goodwill, given ${goodwill.at.slice(0, 10)}`;
    const [ifHeld, ifLacking] = [statedEnd, goodwill.lackingEnd].map((end) => end ?? "at once");
    const file = `the file ends it ${ifHeld} if its records include that, ${ifLacking} if they lack it`;
    const here = keptEnd === undefined ? "" : `; here it runs to ${keptEnd}`;
    const todo = "Choose one with --goodwill held or lacking, or with the row's field goodwill";
    return `${printable(`${which} is held back, goodwill unclear (${given}): ${file}${here}. ${todo}`)}\n`;
  }
  const file = statedEnd === undefined ? "the file does not have it" : `the file ends it ${statedEnd}`;
  const isLost = `${which} is held back: ${file}`;
  if (goodwillDays !== undefined) {
    const todo = `If the records lack goodwill, use --goodwill lacking; otherwise fix the file (or --allow-shorter ${cuid})`;
    return `${printable(`${isLost}, ${count(goodwillDays, "day")} of goodwill run to ${keptEnd}. ${todo}`)}\n`;
  }
  const what = txnId === undefined ? "goodwill" : `top-up ${txnId}`;
  if (rowEnd !== undefined) {
    const ends = `the file ends it ${statedEnd ?? "at once"} (it states ${rowEnd}, minus ${what}, reversed after its as of)`;
    const todo = `The records hold less than their as of says: import newer records (or --allow-shorter ${cuid})`;
    return `${printable(`${which} is held back: ${ends}, here it runs to ${keptEnd}. ${todo}`)}\n`;
  }
  const todo = `Fix the file, or reverse the ${txnId === undefined ? "goodwill" : "top-up"} and import records from after that (or --allow-shorter ${cuid})`;
  return `${printable(`${isLost}, ${what} runs to ${keptEnd}. ${todo}`)}\n`;
}

function warningWords({ line, cuid, problem }: ImportWarning): string {
  return `${printable(`line ${line}: ${cuid} ${problem}`)}\n`;
}
