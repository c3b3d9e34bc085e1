import { type Command, Option } from "commander";
import { SETTLEMENT_HEADER, settlementCsv } from "../../../csv/settlement.ts";
import type { Environment } from "../../../domain/customer.ts";
import {
  addTotals,
  NOTHING_SETTLED,
  SETTLEMENT_DETAILS,
  type SettlementDetail,
  type SettlementLine,
  type SettlementTotal,
} from "../../../domain/settlement.ts";
import { count, prunedLine, table } from "../../../office/text.ts";
import { partnerNamesOf } from "../../../office/transactions/presenter.ts";
import { prunedBefore } from "../../../office/transactions/pruned.ts";
import {
  countDays,
  isDayOpen,
  MAX_SETTLED_DAYS,
  reportSettlement,
  type SettlementAmounts,
  type SettlementRow,
  settlementAmounts,
  settlementRows,
} from "../../../services/staff/settlement.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { flags, readDays, readPartner } from "../options.ts";
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
      await showLines(session, lines, given);
      session.runtime.stderr(prunedLine(await prunedBefore(session, days.from)));
      tellIfOpen(session, to);
    },
  });
}

export function tellIfOpen(session: Session, day: string): void {
  if (isDayOpen(session, { day })) session.runtime.stderr(`${day} is not over yet: these numbers may still grow\n`);
}

const LABELS = ["day", "partner", "service", "bouquetId"] as const;
const AMOUNTS = ["topUps", "gross", "reversals", "reversed", "net"];

/** Only a table has a line of the total, so that no program adds it to the rest; for the others it is said on stderr. */
async function showLines(session: Session, lines: readonly SettlementLine[], given: SettlementFlags): Promise<void> {
  const { currencyExponent } = session.store.provider;
  const rows = settlementRows(lines, await partnerNamesOf(session.store), currencyExponent);
  const total = settlementAmounts(lines.reduce<SettlementTotal>(addTotals, NOTHING_SETTLED), currencyExponent);
  const isCsv = given.csv === true;
  const bare = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
  session.showRows(bare, () => (isCsv ? SETTLEMENT_HEADER + settlementCsv(rows) : tableOf(rows, total, given)));
  if (!isCsv && !session.isJson) return;
  const { topUps, gross, reversals, reversed, net } = total;
  const sums = `${count(topUps, "top-up")} of ${gross}, ${count(reversals, "reversal")} of ${reversed}: ${net} net`;
  session.runtime.stderr(`${sums}\n`);
}

function tableOf(rows: readonly SettlementRow[], total: SettlementAmounts, { partner }: SettlementFlags): string {
  const labels = LABELS.filter((name) => name === "day" || rows.some((row) => row[name] !== null));
  const shown = partner === undefined ? labels : labels.filter((name) => name !== "partner");
  const totalRow = { day: "TOTAL", partner: "", service: "", bouquetId: "", ...total };
  return table([...shown, ...AMOUNTS], [...rows.map((row) => ({ ...row })), totalRow], AMOUNTS.length);
}
