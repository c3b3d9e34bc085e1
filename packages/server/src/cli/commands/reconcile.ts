import { type Command, Option } from "commander";
import type { Environment } from "../../domain/customer.ts";
import {
  type Answer,
  RECONCILIATION_KEYS,
  type ReconciliationKey,
  type TheirStatus,
} from "../../domain/reconciliation.ts";
import { reconcile } from "../../services/staff/reconcile.ts";
import { addStoreCommand, type Session } from "../command.ts";
import type { PartnerFileFormat } from "../csv/partner-file.ts";
import { flags, readDays, readPartner } from "../options.ts";
import { printAnswers, summaryWords } from "../output/reconciliation.ts";
import { count, type ReportOptions } from "../output/text.ts";
import { tellOfPruning } from "../output/transactions.ts";
import { CommandFailed, FoundWrong, isFileError, type Runtime, WrongUsage } from "../runtime.ts";
import { tellIfOpen } from "./report.ts";

interface ReconcileFlags extends ReportOptions {
  readonly partner: string;
  readonly from: string;
  readonly to: string;
  readonly environment: Environment;
  readonly key: ReconciliationKey;
  readonly keyColumn?: string;
  readonly amountColumn: string;
  readonly statusColumn?: string;
  readonly dateColumn?: string;
  readonly successValues: string;
  readonly reversedValues: string;
  readonly failedValues: string;
  readonly delimiter: string;
  readonly all?: boolean;
}

/** `topupd reconcile ...`: a partner's book against what is on record. */
export function addReconcileCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<ReconcileFlags>(program, runtime, {
    name: "reconcile",
    description: "compare a partner's own list of top-ups with what is on record (exit code 3: they differ)",
    arguments: { "<FILE>": "a CSV file whose first line names the columns" },
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
      new Option("--date-column <NAME>", "a column to show with each row (default: none)"),
      new Option("--success-values <WORDS>", "statuses of what was paid").default(
        "success,successful,paid,ok,completed",
      ),
      new Option("--reversed-values <WORDS>", "of what was given back").default("reversed,refunded"),
      new Option("--failed-values <WORDS>", "of what was not made").default("failed,failure,declined,cancelled"),
      new Option("--delimiter <CHARACTER>", "between two cells, or the word tab").default(","),
      new Option("--all", "print what matches, too"),
      flags.csv(),
    ],
    examples: [
      'topupd reconcile wallet.csv --partner "Blue Wallet" \\\n    --from 2026-11-01 --to 2026-11-30 --key-column orderId --amount-column amt',
    ],
    run: compare,
  });
}

async function compare(session: Session, [file = ""]: readonly (string | undefined)[], given: ReconcileFlags) {
  const { runtime, store } = session;
  const { environment, key, to } = given;
  runtime.lowerPriority();
  const partnerId = (await readPartner(store, given.partner)) as number;
  const days = readDays(given, store) as { readonly from: number; readonly until: number };
  const { currencyExponent } = store.provider;
  const rows = readFile(runtime, file, { ...formatOf(given), currencyExponent });
  const answers: Answer[] = [];
  const request = { environment, partnerId, ...days, key, isAll: given.all === true };
  const reconciled = await reconcile({ store }, request, rows, (answer) => answers.push(answer));
  printAnswers(runtime, answers, store.provider, given);
  runtime.stderr(summaryWords(reconciled, currencyExponent));
  await tellOfPruning(runtime, store, days.from);
  tellIfOpen(session, to);
  const different = reconciled.total.answers - (reconciled.verdicts.get("matched")?.answers ?? 0);
  if (different > 0) throw new FoundWrong(`the two books differ in ${count(different, "row")}`);
}

async function* readFile(runtime: Runtime, file: string, format: PartnerFileFormat) {
  const { readPartnerFile } = await import("../csv/partner-file.ts");
  try {
    yield* readPartnerFile(runtime.openFile(file), format);
  } catch (error) {
    throw isFileError(error) ? new CommandFailed(`${file} cannot be read: ${error.message}`) : error;
  }
}

function formatOf(given: ReconcileFlags): Omit<PartnerFileFormat, "currencyExponent"> {
  const { key, keyColumn = key, amountColumn, statusColumn, dateColumn } = given;
  const delimiter = given.delimiter === "tab" ? "\t" : given.delimiter;
  if (!/^[^"\r\n]$/u.test(delimiter))
    throw new WrongUsage("--delimiter must be one character such as ; or the word tab");
  const columns = { key: keyColumn, amount: amountColumn, status: statusColumn, date: dateColumn };
  return { delimiter, columns, statuses: readStatuses(given) };
}

/** Words are compared without regard to capital letters. */
function readStatuses({ successValues, reversedValues, failedValues }: ReconcileFlags): Map<string, TheirStatus> {
  const statuses = new Map<string, TheirStatus>();
  const take = (words: string, status: TheirStatus) => {
    for (const word of words.split(",").map((each) => each.trim().toLowerCase())) {
      if ((statuses.get(word) ?? status) !== status)
        throw new WrongUsage(`${JSON.stringify(word)} cannot mean both ${statuses.get(word)} and ${status}`);
      if (word !== "") statuses.set(word, status);
    }
  };
  take(successValues, "success");
  take(reversedValues, "reversed");
  take(failedValues, "failed");
  return statuses;
}
