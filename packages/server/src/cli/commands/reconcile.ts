import { type Command, Option } from "commander";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { RECONCILIATION_KEYS, type ReconciliationKey, type TheirStatus } from "../../domain/reconciliation.ts";
import { reconcile } from "../../operations/reconcile.ts";
import { ScratchFailed } from "../../operations/scratch.ts";
import type { FileFormat } from "../csv/partner-file.ts";
import { examples } from "../help.ts";
import { type CsvOptions, csvOption, isFileError, jsonOption } from "../output.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { readDays, readPartner } from "../transaction-flags.ts";
import { unfinishedAt } from "../unfinished-day.ts";
import { answerPrinter, printSummary } from "../words/reconcile-output.ts";
import { showingOf } from "../words/transaction-output.ts";
import { tellOfPruning } from "./prune.ts";

interface ReconcileFlags extends CsvOptions {
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
  const command = program
    .command("reconcile")
    .description("compare a partner's own list of top-ups with what is on record (exit code 3: they differ)")
    .argument("<FILE>", "a CSV file whose first line names the columns")
    .requiredOption("--partner <NAME>", "whose file it is")
    .requiredOption("--from <DAY>", "the first day, YYYY-MM-DD in the provider's zone")
    .requiredOption("--to <DAY>", "the last day, which is included")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "of which customers").choices(ENVIRONMENTS).default("production"),
    )
    .addOption(
      new Option("--key <KEY>", "what the file tells top-ups apart by")
        .choices(RECONCILIATION_KEYS)
        .default("checkoutId"),
    )
    .option("--key-column <NAME>", "the column of the key (default: as the key)")
    .option("--amount-column <NAME>", "the column of the amount", "amount")
    .option("--status-column <NAME>", "the column of the status (default: none)")
    .option("--date-column <NAME>", "a column to show with each row (default: none)")
    .option("--success-values <WORDS>", "statuses of what was paid", "success,successful,paid,ok,completed")
    .option("--reversed-values <WORDS>", "of what was given back", "reversed,refunded")
    .option("--failed-values <WORDS>", "of what was not made", "failed,failure,declined,cancelled")
    .option("--delimiter <CHARACTER>", "between two cells, or the word tab", ",")
    .option("--all", "print what matches, too")
    .addOption(csvOption())
    .addOption(jsonOption());
  examples(command, [
    'topupd reconcile wallet.csv --partner "Blue Wallet" \\\n    --from 2026-11-01 --to 2026-11-30 --key-column orderId --amount-column amt',
  ]);
  addSettings(command, STORE_SETTINGS).action(async (file: string, flags: ReconcileFlags) => {
    const { environment, key, to } = flags;
    runtime.giveWay();
    // Checked first: whether a date exists does not depend on the zone.
    readDays(flags);
    const [delimiter, statuses] = [readDelimiter(flags.delimiter), readStatuses(flags)];
    const different = await withStore(command, runtime, { mustExist: true }, async (store) => {
      const partnerId = (await readPartner(store, flags.partner)) as number;
      const { from, until } = readDays(flags, store.provider.calendar) as { from: number; until: number };
      const { currencyExponent } = store.provider;
      const rows = readFile(runtime, file, { delimiter, statuses, columns: columnsOf(flags), currencyExponent });
      const period = { environment, partnerId, from, until };
      const request = { period, key, isAll: flags.all === true };
      const printer = await answerPrinter(runtime, await showingOf(store), flags);
      const { openScratch } = runtime;
      const tellIfUnfinished = await unfinishedAt(runtime, store, to, until);
      const reconciled = await reconcile({ store, openScratch }, request, rows, printer).catch(explain);
      printSummary(runtime, reconciled, { currencyExponent });
      await tellOfPruning(runtime, store, from);
      tellIfUnfinished();
      return reconciled.total.answers - (reconciled.verdicts.get("matched")?.answers ?? 0);
    });
    if (different > 0) throw new FoundWrong(`the two books differ in ${different} ${different === 1 ? "row" : "rows"}`);
  });
}

/** The file is opened before anything is asked of the store. */
async function* readFile(runtime: Runtime, file: string, format: FileFormat) {
  const { readPartnerFile } = await import("../csv/partner-file.ts");
  try {
    yield* readPartnerFile(runtime.openFile(file), format);
  } catch (error) {
    throw isFileError(error) ? new CommandFailed(`${file} cannot be read: ${error.message}`) : error;
  }
}

function explain(error: unknown): never {
  throw error instanceof ScratchFailed ? new CommandFailed(error.message) : error;
}

function columnsOf({ key, keyColumn = key, amountColumn, statusColumn, dateColumn }: ReconcileFlags) {
  return { key: keyColumn, amount: amountColumn, status: statusColumn, date: dateColumn };
}

function readDelimiter(text: string): string {
  const delimiter = text === "tab" ? "\t" : text;
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter;
  throw new WrongUsage(`--delimiter must be one character such as ; or the word tab, but is ${JSON.stringify(text)}`);
}

/** Words are compared without regard to capital letters. */
function readStatuses(flags: ReconcileFlags): Map<string, TheirStatus> {
  const statuses = new Map<string, TheirStatus>();
  const take = (flag: string, words: string, status: TheirStatus) => {
    for (const word of words.split(",").map((each) => each.trim().toLowerCase())) {
      if (statuses.has(word) && statuses.get(word) !== status)
        throw new WrongUsage(`${flag} names ${JSON.stringify(word)}, which has another meaning already`);
      if (word !== "") statuses.set(word, status);
    }
  };
  take("--success-values", flags.successValues, "success");
  take("--reversed-values", flags.reversedValues, "reversed");
  take("--failed-values", flags.failedValues, "failed");
  return statuses;
}
