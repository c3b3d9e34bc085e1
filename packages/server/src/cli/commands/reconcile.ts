import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Environment } from "../../domain/customer.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "../../domain/money.ts";
import {
  type Answer,
  isUnreadable,
  NO_TALLY,
  RECONCILIATION_KEYS,
  type ReconciliationKey,
  type Tally,
  THEIR_STATUSES,
  type TheirStatus,
  VERDICTS,
  type Verdict,
} from "../../domain/reconciliation.ts";
import { type Reconciled, reconcile } from "../../services/staff/settlement.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { addStoreCommand, type Session } from "../command.ts";
import type { PartnerFileFormat } from "../csv/partner-file.ts";
import { flags, readDays, readPartner } from "../options.ts";
import { count, isoTime, table } from "../output/text.ts";
import { tellOfPruning } from "../output/transactions.ts";
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
      wordsOption("--success-values <WORDS>", "statuses of what was paid", "success,successful,paid,ok,completed"),
      wordsOption("--reversed-values <WORDS>", "of what was given back", "reversed,refunded"),
      wordsOption("--failed-values <WORDS>", "of what was not made", "failed,failure,declined,cancelled"),
      new Option("--delimiter <CHARACTER>", "between two cells, or the word tab").argParser(readDelimiter).default(","),
    ],
    examples: [
      'topupd reconcile wallet.csv --partner "Blue Wallet" \\\n    --from 2026-11-01 --to 2026-11-30 --key-column orderId --amount-column amt',
    ],
    run: compare,
  });
}

/** Words are compared without regard to capital letters. */
function wordsOption(flag: string, description: string, usual: string): Option {
  const words = (text: string) => text.split(",").map((word) => word.trim().toLowerCase());
  return new Option(flag, description).argParser(words).default(words(usual), usual);
}

function readDelimiter(text: string): string {
  const delimiter = text === "tab" ? "\t" : text;
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter;
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
  const { readPartnerFile } = await import("../csv/partner-file.ts");
  const rows = readPartnerFile(runtime.openFile(file), format);
  const request = { environment, partnerId, ...days, key };
  const reconciled = await withFile(file, "be read", () => reconcile({ store }, request, rows));
  const { differences } = reconciled;
  const answers = differences.map((answer) => answerRow(answer, provider));
  const words = () => (answers.length === 0 ? "" : table(COLUMNS, answers.map(tableRow), 2));
  session.showRows(answers, words);
  runtime.stderr(summaryWords(reconciled, currencyExponent));
  await tellOfPruning(session, days.from);
  tellIfOpen(session, to);
  if (differences.length > 0) throw new FoundWrong(`the two books differ in ${count(differences.length, "row")}`);
}

function statusesOf({ successValues, reversedValues, failedValues }: ReconcileFlags): Map<string, TheirStatus> {
  const statuses = new Map<string, TheirStatus>();
  const words = { success: successValues, reversed: reversedValues, failed: failedValues };
  for (const status of THEIR_STATUSES)
    for (const word of words[status]) {
      if (statuses.has(word) && statuses.get(word) !== status)
        throw new WrongUsage(`${JSON.stringify(word)} cannot mean both ${statuses.get(word)} and ${status}`);
      if (word !== "") statuses.set(word, status);
    }
  return statuses;
}

/** What there is none of is null. Amounts are decimals in strings, so that nobody rounds them. */
function answerRow({ verdict, theirs, ours }: Answer, { zone, currencyExponent }: ProviderSettings) {
  const read = theirs !== undefined && !isUnreadable(theirs) ? theirs : undefined;
  const inFull = (row: { amount: Money } | undefined) =>
    row === undefined ? null : formatMoneyInFull(row.amount, currencyExponent);
  return {
    verdict,
    ...{ line: theirs?.line ?? null, key: theirs?.key ?? ours?.key ?? null },
    ...{ theirAmount: inFull(read), theirStatus: read?.status ?? null },
    ...{ ourAmount: inFull(ours), ourStatus: ours?.status ?? null },
    ...{ txnId: ours?.txnId ?? null, checkoutId: ours?.checkoutId ?? null },
    txnDate: ours === undefined ? null : zone.wallTime(ours.at),
    at: ours === undefined ? null : isoTime(ours.at),
    problem: theirs !== undefined && isUnreadable(theirs) ? theirs.problem : null,
  };
}

const COLUMNS = ["verdict", "line", "key", "theirs", "ours"];

/** An amount has its status before it where it is not owed. */
function tableRow(row: ReturnType<typeof answerRow>) {
  const { verdict, line, key, problem, txnId, theirAmount, theirStatus, ourAmount, ourStatus } = row;
  const cell = (amount: string | null, status: string | null) =>
    amount === null || status === "success" ? amount : `${status} ${amount}`;
  return {
    ...{ verdict: verdictWords(verdict), line },
    key: problem === null ? (key ?? txnId) : `${key ?? ""} (${problem})`.trim(),
    ...{ theirs: cell(theirAmount, theirStatus), ours: cell(ourAmount, ourStatus) },
  };
}

/** What the two books come to, by what was found, and what is to be done: for whoever reads it, not for programs. */
function summaryWords({ verdicts, total }: Reconciled, currencyExponent: CurrencyExponent): string {
  const found = (Object.keys(VERDICTS) as Verdict[]).filter((verdict) => verdicts.has(verdict));
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  const row = (verdict: string, { answers: rows, theirs, ours }: Tally) => {
    return { verdict, rows, theirs: inFull(theirs), ours: inFull(ours), difference: inFull(theirs - ours) };
  };
  const rows = found.map((verdict) => row(verdictWords(verdict), verdicts.get(verdict) ?? NO_TALLY));
  const toDo = found.filter((verdict) => verdict !== "matched");
  const advice = toDo.map((verdict) => `\n${verdictWords(verdict)}: ${VERDICTS[verdict]}\n`);
  return `${table(["verdict", "rows", "theirs", "ours", "difference"], [...rows, row("TOTAL", total)], 4)}${advice.join("")}`;
}

function verdictWords(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}
