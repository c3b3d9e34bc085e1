import { type Command, Option } from "commander";
import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import {
  addTotals,
  NOTHING_SETTLED,
  netOf,
  SETTLEMENT_DETAILS,
  type SettlementDetail,
  type SettlementLine,
  type SettlementTotal,
} from "../../domain/settlement.ts";
import { countDays, isDayOpen, MAX_SETTLED_DAYS, reportSettlement } from "../../services/staff/settlement.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { flags, readDays, readPartner } from "../options.ts";
import { count, type ReportOptions, type Row, showReport, table } from "../output/text.ts";
import { partnerName, type Showing, showingOf, tellOfPruning } from "../output/transactions.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";

interface SettlementFlags extends ReportOptions {
  readonly environment: Environment;
  readonly partner?: string;
  readonly from: string;
  readonly to: string;
  readonly by: SettlementDetail;
}

/** `topupd report ...`: what is told to others in numbers. */
export function addReportCommands(program: Command, runtime: Runtime): void {
  addStoreCommand<SettlementFlags>(addGroup(program, "report", "report what partners owe"), runtime, {
    name: "settlement",
    description: "report top-ups and reversals by day, service and bouquet",
    options: [
      ...flags.period(),
      new Option("--partner <NAME>", "of this partner alone (default: of each)"),
      flags.environment(),
      new Option("--by <DETAIL>", "how fine the lines are").choices(SETTLEMENT_DETAILS).default("bouquet"),
      flags.csv(),
    ],
    examples: [
      "topupd report settlement --from 2026-11-01 --to 2026-11-30",
      'topupd report settlement --from 2026-11-01 --to 2026-11-30 \\\n    --partner "Blue Wallet" --csv',
    ],
    async run(session, _, given) {
      const { environment, from, to, by: detail } = given;
      const { store } = session;
      runtime.lowerPriority();
      const days = readDays(given, store);
      if (countDays(from, to) > MAX_SETTLED_DAYS)
        throw new WrongUsage(`--from and --to may span ${MAX_SETTLED_DAYS} days: ask for each year by itself`);
      const request = { environment, partnerId: await readPartner(store, given.partner), from, to, detail };
      const lines: SettlementLine[] = [];
      for await (const day of reportSettlement({ store }, request)) lines.push(...day);
      print(runtime, lines, await showingOf(store, environment), given);
      await tellOfPruning(runtime, store, days.from);
      tellIfOpen(session, to);
    },
  });
}

export function tellIfOpen(session: Session, day: string): void {
  if (isDayOpen(session, { day })) session.runtime.stderr(`${day} is not over yet: these numbers may still grow\n`);
}

const LABELS = ["day", "partner", "service", "bouquetId"];
const AMOUNTS = ["topUps", "gross", "reversals", "reversed", "net"];

/** Only a table has a line of the total, so that no program adds it to the rest; for the others it is said on stderr. */
function print(runtime: Runtime, lines: readonly SettlementLine[], showing: Showing, given: SettlementFlags): void {
  const rows = lines.map((line) => lineRow(line, showing));
  const total = amountsOf(lines.reduce<SettlementTotal>(addTotals, NOTHING_SETTLED), showing);
  const labels = LABELS.filter((name) => name === "day" || rows.some((row) => row[name] !== undefined));
  const shown = given.partner === undefined ? labels : labels.filter((name) => name !== "partner");
  const totalRow = { day: "TOTAL", partner: "", service: "", bouquetId: "", ...total };
  const words = () => table([...shown, ...AMOUNTS], [...rows, totalRow], AMOUNTS.length);
  showReport(runtime, given, rows, words, [...LABELS, ...AMOUNTS]);
  if (given.csv !== true && given.json !== true) return;
  const { topUps, gross, reversals, reversed, net } = total;
  runtime.stderr(
    `${count(topUps, "top-up")} of ${gross}, ${count(reversals, "reversal")} of ${reversed}: ${net} net\n`,
  );
}

function lineRow(line: SettlementLine, showing: Showing): Row {
  const { day, service, bouquetCode } = line;
  return {
    ...{ day, partner: partnerName(line, showing) },
    ...(service === undefined ? {} : { service }),
    ...(bouquetCode === undefined ? {} : { bouquetId: bouquetCode }),
    ...amountsOf(line, showing),
  };
}

/** Amounts are decimals in strings, so that nobody rounds them. */
function amountsOf(total: SettlementTotal, { currencyExponent }: Showing) {
  const { topUps, gross, reversals, reversed } = total;
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  return { topUps, gross: inFull(gross), reversals, reversed: inFull(reversed), net: inFull(netOf(total)) };
}
