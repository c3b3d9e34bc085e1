import { type Command, Option } from "commander";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { countDays } from "../../domain/day-range.ts";
import { SETTLEMENT_DETAILS, type SettlementDetail } from "../../domain/settlement.ts";
import { MAX_SETTLED_DAYS, reportSettlement } from "../../operations/report-settlement.ts";
import { examples } from "../help.ts";
import { type CsvOptions, csvOption, jsonOption } from "../output.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { readDays, readPartner } from "../transaction-flags.ts";
import { unfinishedAt } from "../unfinished-day.ts";
import { printSettlement } from "../words/settlement-output.ts";
import { showingOf } from "../words/transaction-output.ts";
import { tellOfPruning } from "./prune.ts";

interface SettlementFlags extends CsvOptions {
  readonly environment: Environment;
  readonly partner?: string;
  readonly from: string;
  readonly to: string;
  readonly by: SettlementDetail;
}

/** `topupd report ...`: what is told to others in numbers. */
export function addReportCommands(program: Command, runtime: Runtime): void {
  const report = program.command("report").description("report what partners owe").helpCommand(false);
  addSettlementCommand(report, runtime);
}

function addSettlementCommand(parent: Command, runtime: Runtime): void {
  const settlement = parent
    .command("settlement")
    .description("report top-ups and reversals by day, service and bouquet")
    .requiredOption("--from <DAY>", "the first day, YYYY-MM-DD in the provider's zone")
    .requiredOption("--to <DAY>", "the last day, which is included")
    .option("--partner <NAME>", "of this partner alone (default: of each)")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "of which customers").choices(ENVIRONMENTS).default("production"),
    )
    .addOption(new Option("--by <DETAIL>", "how fine the lines are").choices(SETTLEMENT_DETAILS).default("bouquet"))
    .addOption(csvOption())
    .addOption(jsonOption());
  examples(settlement, [
    "topupd report settlement --from 2026-11-01 --to 2026-11-30",
    'topupd report settlement --from 2026-11-01 --to 2026-11-30 \\\n    --partner "Blue Wallet" --csv',
  ]);
  addSettings(settlement, STORE_SETTINGS).action(async (flags: SettlementFlags) => {
    const { environment, from, to, by: detail } = flags;
    runtime.giveWay();
    // Checked first: whether a date exists does not depend on the zone.
    readDays(flags);
    if (countDays(from, to) > MAX_SETTLED_DAYS)
      throw new WrongUsage(`--from and --to may span ${MAX_SETTLED_DAYS} days: ask for each year by itself`);
    await withStore(settlement, runtime, { mustExist: true }, async (store) => {
      const partnerId = await readPartner(store, flags.partner);
      const { from: start, until } = readDays(flags, store.provider.calendar);
      const request = { environment, partnerId, from, to, detail };
      const showing = { ...(await showingOf(store)), ofOnePartner: partnerId !== undefined };
      const tellIfUnfinished = until === undefined ? () => {} : await unfinishedAt(runtime, store, to, until);
      await printSettlement(runtime, reportSettlement({ store }, request), showing, flags);
      await tellOfPruning(runtime, store, start);
      tellIfUnfinished();
    });
  });
}
