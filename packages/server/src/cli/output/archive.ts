import { type CurrencyExponent, formatMoney } from "../../domain/money.ts";
import type { ArchiveProgress } from "../../services/staff/archive.ts";
import { listPartners } from "../../services/staff/partners.ts";
import type { ArchiveTotals, Store } from "../../store/store.ts";
import type { Runtime } from "../runtime.ts";
import { ProgressLine } from "./progress.ts";
import { type OutputOptions, show, table } from "./text.ts";

export interface ArchiveOutput {
  readonly totals: ArchiveTotals;
  /** Names by the partners' numbers. */
  readonly partners: ReadonlyMap<number, string>;
  readonly currencyExponent: CurrencyExponent;
}

/** How many rows each table has, and what the top-ups come to. @param facts come first in JSON, and only there. */
export function printArchive(
  runtime: Runtime,
  { totals, partners, currencyExponent }: ArchiveOutput,
  options: OutputOptions,
  facts: object = {},
): void {
  const money = totals.money.map(({ partnerId, environment, service, status, topUps, amount }) => ({
    partner: partners.get(partnerId) ?? String(partnerId),
    ...{ environment, service, status, topUps, amount: formatMoney(amount, currencyExponent) },
  }));
  const counts = Object.entries(totals.rows).map(([name, rows]) => ({ table: name, rows }));
  const sums = table(["partner", "environment", "service", "status", "topUps", "amount"], money, 2);
  const words = `${table(["table", "rows"], counts, 1)}${money.length === 0 ? "" : `\n${sums}`}`;
  show(runtime, options, { ...facts, rows: totals.rows, money }, words);
}

/** The names of a store's partners, by their numbers. */
export async function partnerNames(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await listPartners({ store })).map(({ id, name }) => [id, name]));
}

/** Shows how far work with an archive is: `copying ... 3000 of 8000 rows (customer)`. */
export async function withProgress<Result>(
  runtime: Runtime,
  verb: string,
  work: (onProgress: (progress: ArchiveProgress) => void) => Promise<Result>,
): Promise<Result> {
  const line = new ProgressLine(runtime);
  const onProgress = (progress: ArchiveProgress) =>
    line.show(
      progress.step === "verifying"
        ? "verifying ..."
        : `${verb} ... ${progress.rows} of ${progress.of} rows (${progress.table})`,
    );
  return work(onProgress).finally(() => line.end());
}
