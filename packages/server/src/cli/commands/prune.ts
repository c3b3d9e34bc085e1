import type { Command } from "commander";
import { formatMoney } from "../../domain/money.ts";
import { readRetentionAge, SHORTEST_RETENTION_DAYS, startOfRetention } from "../../domain/pruning.ts";
import { findPrunedBefore, pruneHistory } from "../../operations/prune-history.ts";
import type { Pruned } from "../../store/retention.ts";
import type { Store } from "../../store/store.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson, printTable } from "../output.ts";
import { readReason } from "../reason.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import { clockDoubtWords } from "../words/clock-words.ts";
import { printable, printFields } from "../words/text.ts";
import { type Showing, showingOf } from "../words/transaction-output.ts";

interface PruneOptions extends OutputOptions, StaffOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
  readonly clockIsRight?: boolean;
  readonly reason?: string;
}

/** `topupd prune`: lets history go that nothing needs any more. */
export function addPruneCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("prune")
    .description("let old history go, for good, as far as no subscription needs it")
    .requiredOption("--older-than <AGE>", "what is older than so many years, months or days: 7y, 18m or 400d")
    .option("--dry-run", "say what would go, and change nothing")
    .option("--clock-is-right", "go by the clock although what is on record speaks against it")
    .option("--reason <TEXT>", "why, in a few words: it stays in the audit trail")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(command, [
    "topupd prune --older-than 7y --dry-run",
    'topupd prune --older-than 7y --reason "books of 2019"',
  ]);
  addSettings(command, STORE_SETTINGS).action(async (options: PruneOptions) => {
    const age = readRetentionAge(options.olderThan);
    if (age === undefined) throw new WrongUsage(`--older-than must be an age such as 7y, 18m or 400d${butIs(options)}`);
    runtime.giveWay();
    const reason = options.reason === undefined ? undefined : readReason({ reason: options.reason });
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const before = startOfRetention(age, runtime.clock(), store.provider.calendar);
      if (before === undefined)
        throw new WrongUsage(`--older-than must be at least ${SHORTEST_RETENTION_DAYS} days${butIs(options)}`);
      const [dryRun, isClockRight] = [options.dryRun === true, options.clockIsRight === true];
      const request = { before, dryRun, reason, isClockRight };
      // Before anything is done: what fails after that reads as though it had not been.
      const showing = await showingOf(store);
      const outcome = await pruneHistory(staffPorts(runtime, store, options), request);
      if (outcome.kind === "clock_in_doubt")
        throw new CommandFailed(
          `${clockDoubtWords(outcome.doubt, store.provider.calendar)} Nothing was changed: what is let go never comes back.`,
        );
      const { pruned } = outcome;
      if (options.json === true) printJson(runtime, prunedJson(pruned, before, dryRun, showing));
      else print(runtime, pruned, before, dryRun, showing);
      runtime.stderr(
        dryRun
          ? "Nothing was changed. Without --dry-run, this goes for good.\n"
          : "Backups and exports that were made before still hold what has gone.\n",
      );
    });
  });
}

/** Where a list reaches back so far that something may be missing in it, says so. */
export async function tellOfPruning(runtime: Runtime, store: Store, from: number | undefined): Promise<void> {
  const horizon = await findPrunedBefore({ store }, from);
  if (horizon === undefined) return;
  const day = store.provider.calendar.format(horizon).slice(0, 10);
  runtime.stderr(`History from before ${day} was let go (topupd prune): what is shown of it is not all there was.\n`);
}

function butIs({ olderThan }: PruneOptions): string {
  return `, but is ${JSON.stringify(olderThan)}`;
}

function print(runtime: Runtime, pruned: Pruned, before: number, dryRun: boolean, showing: Showing): void {
  const { grants, retiredCheckouts, topUps } = pruned;
  const { calendar } = showing;
  printFields(runtime, [
    [dryRun ? "would go" : "gone", `what may go from before ${calendar.format(before)} (${calendar.timeZone})`],
    ["ledger entries", String(grants)],
    ["top-ups", String(topUps.reduce((sum, each) => sum + each.topUps, 0))],
    ["retired checkouts", String(retiredCheckouts)],
  ]);
  if (topUps.length === 0) return;
  runtime.stdout("\n");
  const rows = sumsOf(pruned, showing).map((each) => Object.values(each).map((value) => printable(String(value))));
  printTable(runtime, ["YEAR", "PARTNER", "ENVIRONMENT", "STATUS", "TOP-UPS", "AMOUNT"], rows);
}

function sumsOf({ topUps }: Pruned, { partnerNames, currencyExponent }: Showing) {
  return topUps.map(({ year, partnerId, environment, status, topUps: count, amount }) => {
    const partner = partnerNames.get(partnerId) ?? String(partnerId);
    return { year, partner, environment, status, topUps: count, amount: formatMoney(amount, currencyExponent) };
  });
}

function prunedJson(pruned: Pruned, before: number, dryRun: boolean, showing: Showing) {
  const { grants, retiredCheckouts } = pruned;
  return { before: isoTime(before), dryRun, ledgerEntries: grants, retiredCheckouts, topUps: sumsOf(pruned, showing) };
}
