import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { PartnerFileFormat } from "../../../csv/partner-file.ts";
import type { Environment } from "../../../domain/customer.ts";
import {
  RECONCILIATION_KEYS,
  type ReconciliationKey,
  type TheirStatus,
  type Verdict,
} from "../../../domain/reconciliation.ts";
import { count, prunedLine, table } from "../../../office/text.ts";
import { prunedBefore } from "../../../office/transactions/pruned.ts";
import {
  readDelimiter,
  readStatuses,
  readWords,
  reconcile,
  showDifference,
  showTotals,
  USUAL_WORDS,
} from "../../../services/staff/reconciliation.ts";
import { addStoreCommand, type Session } from "../command.ts";
import { flags, readDays, readPartner } from "../options.ts";
import { FoundWrong, type Runtime, WrongUsage, withFile } from "../runtime.ts";
import { tellIfOpen } from "./report.ts";

interface ReconcileFlags extends Omit<PartnerFileFormat, "keyColumn" | "statuses" | "currencyExponent"> {
  readonly partner: string;
  readonly from: string;
  readonly to: string;
  readonly environment: Environment;
  readonly key: ReconciliationKey;
  readonly keyColumn?: string;
  readonly successValues: readonly string[];
  readonly reversedValues: readonly string[];
  readonly failedValues: readonly string[];
}

/** `topupd reconcile ...`: a partner's book against what is on record. */
export function addReconcileCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<ReconcileFlags>(program, runtime, {
    name: "reconcile",
    description: "compare a partner's own list of top-ups with what is on record (exit code 3: they differ)",
    arguments: [new Argument("<FILE>", "a CSV file whose first line names the columns")],
    options: [
      new Option("--partner <NAME>", "whose file it is").makeOptionMandatory(),
      ...flags.period(),
      flags.environment(),
      new Option("--key <KEY>", "what tells top-ups apart in the file")
        .choices(RECONCILIATION_KEYS)
        .default("checkoutId"),
      new Option("--key-column <NAME>", "the column of the key (default: as the key)"),
      new Option("--amount-column <NAME>", "the column of the amount").default("amount"),
      new Option("--status-column <NAME>", "the column of the status (default: none)"),
      wordsOption("--success-values <WORDS>", "statuses of what was paid", USUAL_WORDS.success),
      wordsOption("--reversed-values <WORDS>", "of what was given back", USUAL_WORDS.reversed),
      wordsOption("--failed-values <WORDS>", "of what was not made", USUAL_WORDS.failed),
      new Option("--delimiter <CHARACTER>", "between two cells, or the word tab").argParser(delimiterOf).default(","),
    ],
    examples: [
      'topupd reconcile wallet.csv --partner "Blue Wallet" \\\n    --from 2026-11-01 --to 2026-11-30 --key-column orderId --amount-column amt',
    ],
    run: compare,
  });
}

function wordsOption(flag: string, description: string, usual: string): Option {
  return new Option(flag, description).argParser(readWords).default(readWords(usual), usual);
}

function delimiterOf(text: string): string {
  const delimiter = readDelimiter(text);
  if (delimiter !== undefined) return delimiter;
  throw new InvalidArgumentError("It must be one character such as ; or the word tab.");
}

async function compare(session: Session, [file = ""]: readonly string[], given: ReconcileFlags): Promise<void> {
  const { runtime, store } = session;
  const { environment, key, to } = given;
  const { provider } = store;
  runtime.lowerPriority();
  const partnerId = (await readPartner(store, given.partner)) as number;
  const days = readDays(given, store) as { readonly from: number; readonly until: number };
  const { keyColumn = key, amountColumn, statusColumn, delimiter } = given;
  const { currencyExponent } = provider;
  const format = { keyColumn, amountColumn, statusColumn, delimiter, statuses: statusesOf(given), currencyExponent };
  // What reads CSV is loaded only where it is used: every command would take longer to begin.
  const { readPartnerFile } = await import("../../../csv/partner-file.ts");
  const rows = readPartnerFile(runtime.openFile(file), format);
  const request = { environment, partnerId, ...days, key };
  const reconciled = await withFile(file, "be read", () => reconcile({ store }, request, rows));
  const { differences } = reconciled;
  const answers = differences.map((answer) => showDifference(answer, provider));
  const words = () => (answers.length === 0 ? "" : table(COLUMNS, answers.map(tableRow), 2));
  session.showRows(answers, words);
  runtime.stderr(summaryWords(showTotals(reconciled, provider)));
  runtime.stderr(prunedLine(await prunedBefore(session, days.from)));
  tellIfOpen(session, to);
  if (differences.length > 0) throw new FoundWrong(`the two books differ in ${count(differences.length, "row")}`);
}

function statusesOf({ successValues, reversedValues, failedValues }: ReconcileFlags): ReadonlyMap<string, TheirStatus> {
  const statuses = readStatuses({ success: successValues, reversed: reversedValues, failed: failedValues });
  if (typeof statuses === "string") throw new WrongUsage(statuses);
  return statuses;
}

const COLUMNS = ["verdict", "line", "key", "theirs", "ours"];

/** An amount has its status before it where it is not owed. */
function tableRow(row: ReturnType<typeof showDifference>) {
  const { verdict, line, key, problem, txnId, theirAmount, theirStatus, ourAmount, ourStatus } = row;
  const cell = (amount: string | null, status: string | null) =>
    amount === null || status === "success" ? amount : `${status} ${amount}`;
  return {
    ...{ verdict: verdictWords(verdict), line },
    key: problem === null ? (key ?? txnId) : `${key ?? ""} (${problem})`.trim(),
    ...{ theirs: cell(theirAmount, theirStatus), ours: cell(ourAmount, ourStatus) },
  };
}

/** For whoever reads it, not for programs. */
function summaryWords({ verdicts, total }: ReturnType<typeof showTotals>): string {
  const rows = verdicts.map((row) => ({ ...row, verdict: verdictWords(row.verdict) }));
  const sums = table(["verdict", "rows", "theirs", "ours", "difference"], [...rows, { verdict: "TOTAL", ...total }], 4);
  const advice = verdicts.filter((row) => row.advice !== null);
  return `${sums}${advice.map((row) => `\n${verdictWords(row.verdict)}: ${row.advice}\n`).join("")}`;
}

function verdictWords(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}
