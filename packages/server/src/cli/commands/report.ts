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
import { csvText, guardCell } from "../csv/writing.ts";
import { flags, readDays, readPartner } from "../options.ts";
import { count, printable, type Row, table } from "../output/text.ts";
import { partnerName, type Showing, showingOf, tellOfPruning } from "../output/transactions.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";

interface SettlementFlags {
  readonly environment: Environment;
  readonly partner?: string;
  readonly from: string;
  readonly to: string;
  readonly by: SettlementDetail;
  readonly csv?: boolean;
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
      new Option("--csv", "print the data as CSV").conflicts("json"),
    ],
    examples: ["topupd report settlement --from 2026-11-01 --to 2026-11-30 --csv"],
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
      showLines(session, lines, await showingOf(store, environment), given);
      await tellOfPruning(session, days.from);
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
function showLines(session: Session, lines: readonly SettlementLine[], showing: Showing, given: SettlementFlags): void {
  const rows = lines.map((line) => lineRow(line, showing));
  const total = amountsOf(lines.reduce<SettlementTotal>(addTotals, NOTHING_SETTLED), showing);
  const isCsv = given.csv === true;
  session.showRows(rows, () => (isCsv ? csvOf(rows) : tableOf(rows, total, given)));
  if (!isCsv && !session.isJson) return;
  const { topUps, gross, reversals, reversed, net } = total;
  const sums = `${count(topUps, "top-up")} of ${gross}, ${count(reversals, "reversal")} of ${reversed}: ${net} net`;
  session.runtime.stderr(`${sums}\n`);
}

function tableOf(rows: readonly Row[], total: ReturnType<typeof amountsOf>, { partner }: SettlementFlags): string {
  const labels = LABELS.filter((name) => name === "day" || rows.some((row) => row[name] !== undefined));
  const shown = partner === undefined ? labels : labels.filter((name) => name !== "partner");
  const totalRow = { day: "TOTAL", partner: "", service: "", bouquetId: "", ...total };
  return table([...shown, ...AMOUNTS], [...rows, totalRow], AMOUNTS.length);
}

/** Numbers go in as they are: a negative amount must stay one. */
function csvOf(rows: readonly Row[]): string {
  const header = [...LABELS, ...AMOUNTS];
  const cell = (value: Row[string] | undefined) => {
    const text = printable(String(value ?? ""));
    return /^-?[0-9.]+$/.test(text) ? text : guardCell(text);
  };
  return csvText([header, ...rows.map((row) => header.map((name) => cell(row[name])))]);
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
