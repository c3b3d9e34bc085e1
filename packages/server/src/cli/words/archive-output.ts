import { type CurrencyExponent, formatMoney } from "../../domain/money.ts";
import type { CopyProgress } from "../../operations/copy-store.ts";
import type { ArchiveProgress } from "../../operations/watch-archive.ts";
import type { ArchiveTotals, Store } from "../../store/store.ts";
import { type OutputOptions, printJson, printTable } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { printable } from "./text.ts";

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
  { json }: OutputOptions,
  facts: object = {},
): void {
  const money = totals.money.map(({ partnerId, environment, service, status, topUps, amount }) => ({
    partner: partners.get(partnerId) ?? String(partnerId),
    ...{ environment, service, status, topUps, amount: formatMoney(amount, currencyExponent) },
  }));
  if (json === true) {
    printJson(runtime, { ...facts, rows: totals.rows, money });
    return;
  }
  const rows = Object.entries(totals.rows).map(([table, count]) => [table, String(count)]);
  printTable(runtime, ["TABLE", "ROWS"], rows);
  if (money.length === 0) return;
  runtime.stdout("\n");
  const cells = money.map((total) => Object.values(total).map((value) => printable(String(value))));
  printTable(runtime, ["PARTNER", "ENVIRONMENT", "SERVICE", "STATUS", "TOP-UPS", "AMOUNT"], cells);
}

/** The names of a store's partners, by their numbers. */
export async function partnerNames(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await store.listPartners()).map(({ id, name }) => [id, name]));
}

/** `copying ... 3000 of 8000 rows (customer)`. */
export function describeProgress(verb: string, { rows, of, table }: ArchiveProgress): string {
  return `${verb} ... ${rows} of ${of} rows (${table})`;
}

/** The same for a store that is filled, and reads all again at its end. */
export function describeFilling(verb: string, progress: CopyProgress): string {
  return progress.step === "verifying" ? "verifying ..." : describeProgress(verb, progress);
}
