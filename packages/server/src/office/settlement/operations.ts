import type { Static } from "typebox";
import type { AccountKey } from "../../domain/account.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "../../domain/money.ts";
import { THEIR_STATUSES, type TheirStatus, type Verdict } from "../../domain/reconciliation.ts";
import { Refused } from "../../domain/refused.ts";
import {
  addSettled,
  keptOf,
  NOTHING_SETTLED,
  netOf,
  type SettledSums,
  type SettlementLine,
  settlementNumber,
} from "../../domain/settlement.ts";
import { taxesText } from "../../domain/tax.ts";
import { RECORDING_DEADLINE_MS } from "../../domain/top-up.ts";
import { DAY_MS, wallMsBetween } from "../../domain/wall-time.ts";
import type { OwnDays } from "../../store/own-pages.ts";
import { isKept } from "../accounts/sql.ts";
import { daysOf, environmentOf, periodOf } from "../common.ts";
import { csvOf, type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { partnerIdOf } from "../partners/meant.ts";
import { partnerNamesOf } from "../partners/sql.ts";
import { splitData } from "../taxes/lines.ts";
import { count, prunedLine, table } from "../text.ts";
import { prunedBefore } from "../transactions/sql.ts";
import { type Days, settleDays } from "./days.ts";
import { differenceData, readCustomers, reconcile, totalsData } from "./reconcile.ts";
import {
  type DifferenceSchema,
  ReconciliationInputSchema,
  ReconciliationSchema,
  SettlementInputSchema,
  SettlementLineSchema,
  SettlementSchema,
  USUAL_WORDS,
} from "./schemas.ts";

const LABELS = ["day", "partner", "service", "bouquetId"] as const;
const AMOUNTS = ["topUps", "gross", "reversals", "reversed", "commission", "net"];

export function settlementTable(settlement: Settlement): Shown {
  const { lines, total } = settlement;
  const labels = LABELS.filter((name) => name === "day" || lines.some((line) => line[name] !== null));
  const totalLine = { day: "TOTAL", partner: "", service: "", bouquetId: "", ...total };
  const columns = total.taxes.length === 0 ? AMOUNTS : [...AMOUNTS, "base", "taxes"];
  const rows = [...lines, totalLine].map((line) => ({ ...line, taxes: taxesText(line.taxes) }));
  const out = table([...labels, ...columns], rows, columns.length);
  const charged = "The net is charged to the account: topupd partner statement says who owes whom.\n";
  return { out, note: `${openLine(settlement)}${settlement.settledBy === "account" ? charged : ""}` };
}

function openLine({ open }: { readonly open: boolean }): string {
  return open ? "The last day is not over yet: these numbers may still grow.\n" : "";
}

export function reconciliationLines(reconciliation: Static<typeof ReconciliationSchema>): Shown {
  const { verdicts, total, differing, differences } = reconciliation;
  const out = differences.length === 0 ? "" : table(DIFFERENCE_COLUMNS, differences.map(differenceRow), 2);
  const rows = verdicts.map((row) => ({ ...row, verdict: verdictWords(row.verdict) }));
  const sums = table(["verdict", "rows", "theirs", "ours", "difference"], [...rows, { verdict: "TOTAL", ...total }], 4);
  const advice = verdicts.filter((row) => row.advice !== null);
  const todo = advice.map((row) => `\n${verdictWords(row.verdict)}: ${row.advice}\n`).join("");
  return {
    out,
    note: `${sums}${todo}${prunedLine(reconciliation.prunedBefore)}${openLine(reconciliation)}`,
    wrong: differing === 0 ? undefined : `the two books differ in ${count(differing, "row")}`,
  };
}

const DIFFERENCE_COLUMNS = ["verdict", "line", "key", "theirs", "ours"];

/** The status stands before an amount that is not owed. */
function differenceRow(row: Static<typeof DifferenceSchema>) {
  const { verdict, line, key, problem, txnId, theirAmount, theirStatus, ourAmount, ourStatus } = row;
  const cell = (amount: string | null, status: string | null) =>
    amount === null || status === "success" ? amount : `${status} ${amount}`;
  return {
    verdict: verdictWords(verdict),
    line,
    key: problem === null ? (key ?? txnId) : `${key ?? ""} (${problem})`.trim(),
    theirs: cell(theirAmount, theirStatus),
    ours: cell(ourAmount, ourStatus),
  };
}

function verdictWords(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}

const AS = { tag: "Settlement", permission: "settle" } as const;
/** The days of a leap year. */
const MOST_DAYS = 366;
const MOST_LINES = 20_000;
const MOST_DIFFERENCES = 10_000;

export const reportSettlement = operation({
  ...AS,
  http: "GET /settlement",
  isReport: true,
  summary: "Report top-ups and reversals by day, partner, service and bouquet",
  input: SettlementInputSchema,
  answer: SettlementSchema,
  cli: [
    {
      words: "report settlement",
      show: settlementTable,
      examples: ["topupd report settlement --from 2026-11-01 --to 2026-11-30 --detail day"],
    },
  ],
  async run(office, input) {
    office.giveWay();
    const { currencyExponent } = office.store.provider;
    const { from, to } = periodOf(office, input);
    const days = await settledDays(office, { ...input, from, to });
    const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
    const number = partnerId === undefined ? null : settlementNumber({ from, to, partnerId, environment });
    const lines: Line[] = [];
    let total = NOTHING_SETTLED;
    const sums = new Map<number, SettledSums>();
    for await (const settled of days) {
      lines.push(...(await linesOf(office, settled)));
      total = settled.reduce(addSettled, total);
      for (const line of settled)
        sums.set(line.partnerId, addSettled(sums.get(line.partnerId) ?? NOTHING_SETTLED, line));
      if (lines.length > MOST_LINES)
        throw new Refused(
          "invalid",
          `there are more than ${MOST_LINES} lines: ask for fewer days, or by service or day`,
        );
    }
    const names = await partnerNamesOf(office.store);
    return {
      ...{ number, from, to, open: isOpen(office, { from, to }) },
      settledBy: partnerId === undefined ? null : await settledBy(office, { environment, partnerId }),
      byPartner: [...sums]
        .sort(([a], [b]) => a - b)
        .map(([id, own]) => {
          return { partner: names.get(id) ?? String(id), ...amountsOf(own, currencyExponent) };
        }),
      ...{ lines, total: amountsOf(total, currencyExponent) },
    };
  },
});

async function settledBy({ store }: Office, key: AccountKey): Promise<Settlement["settledBy"]> {
  if (key.environment === "trial") return null;
  return (await isKept(store.engine.db, key)) ? "account" : "invoice";
}

export const exportSettlement = operation({
  ...AS,
  http: "GET /settlement.csv",
  isReport: true,
  summary: "Export a settlement, with any number of lines",
  input: SettlementInputSchema,
  answer: rowsOf(SettlementLineSchema, csvOf(SettlementLineSchema)),
  cli: [
    {
      words: "export settlement",
      examples: ["topupd export settlement --from 2026-11-01 --to 2026-11-30 \\\n    --output november.csv"],
    },
  ],
  async run(office, input) {
    office.giveWay();
    return exported(office, await settledDays(office, { ...input, ...periodOf(office, input) }));
  },
});

async function* exported(office: Office, days: Days): Rows<Line> {
  for await (const settled of days) yield await linesOf(office, settled);
  return undefined;
}

type Settlement = Static<typeof SettlementSchema>;
type Line = Static<typeof SettlementLineSchema>;

type SettledPeriod = Static<typeof SettlementInputSchema> & OwnDays;

/** @throws Refused if there are too many days. */
async function settledDays(office: Office, input: SettledPeriod): Promise<Days> {
  const { from, to } = input;
  if (wallMsBetween(`${from} 00:00:00`, `${to} 00:00:00`) / DAY_MS + 1 > MOST_DAYS)
    throw Refused.field("to", `may be ${MOST_DAYS - 1} days after from at most: ask for each year by itself`);
  const of = { environment: await environmentOf(office, input), partnerId: await partnerIdOf(office, input) };
  return settleDays(office.store, of, input);
}

async function linesOf({ store }: Office, lines: readonly SettlementLine[]): Promise<Line[]> {
  const names = await partnerNamesOf(store);
  return lines.map((line) => {
    const { day, partnerId, service = null, bouquetCode: bouquetId = null } = line;
    const partner = names.get(partnerId) ?? String(partnerId);
    return { day, partner, service, bouquetId, ...amountsOf(line, store.provider.currencyExponent) };
  });
}

function amountsOf(total: SettledSums, currencyExponent: CurrencyExponent) {
  const { topUps, gross, reversals, reversed, split } = total;
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  const money = {
    commission: inFull(keptOf(total)),
    net: inFull(netOf(total)),
    ...splitData(split, currencyExponent),
  };
  return { topUps, gross: inFull(gross), reversals, reversed: inFull(reversed), ...money };
}

/** A day is open until the last top-up of the day must be on record. */
function isOpen(office: Office, input: { readonly from: string; readonly to: string }): boolean {
  return office.clock() < daysOf(office, input).until + RECORDING_DEADLINE_MS;
}

export const reconcilePartner = operation({
  ...AS,
  http: "POST /reconciliations",
  isReport: true,
  changesNothing: true,
  refuses: ["conflict"],
  summary: "Compare a partner's own list of top-ups, in CSV, with the records",
  input: ReconciliationInputSchema,
  answer: ReconciliationSchema,
  cli: [
    {
      words: "reconcile",
      arguments: ["file"],
      show: reconciliationLines,
      summary: "compare a partner's own list of top-ups with the records (exit code 3: they differ)",
      examples: [
        'topupd reconcile wallet.csv --partner "Blue Wallet" \\\n    --from 2026-11-01 --to 2026-11-30 --key-column orderId --amount-column amt',
      ],
    },
  ],
  async run(office, input) {
    office.giveWay();
    const { provider } = office.store;
    const { key = "checkoutId", keyColumn = key, amountColumn = "amount", statusColumn } = input;
    const delimiter = input.delimiter === "tab" ? "\t" : (input.delimiter ?? ",");
    if (!/^[^"\r\n]$/u.test(delimiter))
      throw Refused.field("delimiter", "must be one character such as ; or the word tab");
    const { currencyExponent } = provider;
    const format = { delimiter, keyColumn, amountColumn, statusColumn, statuses: statusesOf(input), currencyExponent };
    const days = periodOf(office, input);
    const period = daysOf(office, days);
    const partnerId = (await partnerIdOf(office, input)) as number;
    const request = { environment: await environmentOf(office, input), partnerId, ...period, key };
    // The CSV reader is loaded only if it is needed.
    const { readPartnerFile } = await import("../../csv/reading.ts");
    // A standby may lack the last top-ups and reversals of the period.
    await office.store.engine.awaitCommits();
    const reconciled = await reconcile(office, request, readPartnerFile(input.file.open(), format));
    const differences = reconciled.differences.slice(0, MOST_DIFFERENCES);
    const customers = await readCustomers(office.store.engine.db, request.environment, differences);
    return {
      ...days,
      open: isOpen(office, days),
      prunedBefore: await prunedBefore(office, period.from),
      ...totalsData(reconciled, provider),
      differing: reconciled.differences.length,
      differences: differences.map((answer) => differenceData(answer, customers, provider)),
    };
  },
});

type Values = Pick<Static<typeof ReconciliationInputSchema>, `${TheirStatus}Values`>;

/** Maps the partner's words, in lower case, to statuses. @throws Refused if one word means two. */
function statusesOf(input: Values): ReadonlyMap<string, TheirStatus> {
  const statuses = new Map<string, TheirStatus>();
  for (const status of THEIR_STATUSES)
    for (const text of (input[`${status}Values`] ?? USUAL_WORDS[status]).split(",")) {
      const word = text.trim().toLowerCase();
      const other = statuses.get(word);
      if (other !== undefined && other !== status)
        throw Refused.field(`${status}Values`, `cannot hold ${JSON.stringify(word)}, which means ${other}`);
      if (word !== "") statuses.set(word, status);
    }
  return statuses;
}

export const operations: readonly Operation[] = [reportSettlement, exportSettlement, reconcilePartner];
