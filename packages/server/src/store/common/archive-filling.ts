import type { Calendar, Instant } from "../../domain/calendar.ts";
import { createChangingCalendar } from "../../domain/changing-calendar.ts";
import { StoreRefused, StoreUnavailable } from "../errors.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, CheckEvent, MoneyTotal, ProviderSettings } from "../store.ts";
import { ARCHIVE_TABLES, type ArchiveTable, all, digestOf, type Pages, readTable, readTotals } from "./archive.ts";
import { isProviderRow, type ProviderRow } from "./provider-settings.ts";
import { rulesOnRecord, ZONE_RULES, type ZoneRulesRow } from "./zone-rules.ts";

/** A write transaction of a store that is to be filled. */
export interface FillingTransaction {
  /** Reads what was written so far. */
  readonly pages: Pages;
  readonly execute: (sql: string) => Promise<void> | void;
  /** @param rows with a value for each column of the table. */
  readonly insert: (table: ArchiveTable, rows: readonly (readonly ArchiveValue[])[]) => Promise<void> | void;
  /** Whatever makes reading the many new rows quick. */
  readonly settle: () => Promise<void> | void;
  /** Holds the rows against the rules. */
  readonly check: (calendar: Calendar) => AsyncIterable<CheckEvent>;
}

/** What opening puts into a new database. */
const MADE_BY_OPENING = ["provider", "zone_rules", "checkout_secret"];

/** More of what is wrong than this says nothing new. */
const FINDINGS_NAMED = 5;

/**
 * Fills a database, and reads all of it again to see whether it holds what it should.
 * @param provider the settings with which the store was opened.
 * @param now from when on the database is used by the rules that this Node.js has of the zone.
 * @throws StoreRefused where the database is not empty, or what has come is not whole and in order. The
 *   transaction must be rolled back then, as after any other error.
 */
export async function fillFromArchive(
  transaction: FillingTransaction,
  chunks: AsyncIterable<ArchiveChunk>,
  provider: ProviderSettings,
  now: Instant,
): Promise<ArchiveTotals> {
  await refuseFilled(transaction.pages);
  for (const name of MADE_BY_OPENING) await transaction.execute(`DELETE FROM ${name}`);
  const { totals, digests } = await receive(transaction, chunks);
  await transaction.settle();
  refuse(await findDifferences(transaction.pages, totals, digests));
  await refuseOtherProvider(transaction.pages, provider);
  refuse(await findContradictions(transaction, await calendarOf(transaction.pages, provider, now)));
  return totals;
}

async function refuseFilled(pages: Pages): Promise<void> {
  for (const { name } of ARCHIVE_TABLES) {
    if (MADE_BY_OPENING.includes(name)) continue;
    const [row] = await all(pages, `SELECT 1 AS filled FROM ${name} LIMIT 1`);
    if (row !== undefined)
      throw new StoreRefused("the database to fill is not empty: give one to which nothing was added yet");
  }
}

interface Received {
  readonly totals: ArchiveTotals;
  readonly digests: ReadonlyMap<string, bigint>;
}

async function receive(transaction: FillingTransaction, chunks: AsyncIterable<ArchiveChunk>): Promise<Received> {
  let totals: ArchiveTotals | undefined;
  const digests = new Map<string, bigint>();
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") {
      totals = chunk.totals;
      continue;
    }
    const table = ARCHIVE_TABLES.find(({ name }) => name === chunk.table);
    if (table === undefined || chunk.rows.some((row) => row.length !== table.columns.length))
      throw new StoreRefused(`nothing was copied: ${chunk.table} is not a table as this topupd knows it`);
    await insert(transaction, table, chunk.rows);
    digests.set(table.name, BigInt.asUintN(64, (digests.get(table.name) ?? 0n) + chunk.digest));
  }
  if (totals === undefined) throw new StoreRefused("nothing was copied: nothing says what there was to copy");
  return { totals, digests };
}

async function insert(
  transaction: FillingTransaction,
  table: ArchiveTable,
  rows: readonly (readonly ArchiveValue[])[],
) {
  try {
    await transaction.insert(table, rows);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreUnavailable || error instanceof StoreRefused) throw error;
    throw new StoreRefused(`nothing was copied: the database refuses a row of ${table.name}: ${error.message}`, {
      cause: error,
    });
  }
}

/** Reads back what was stored, and counts it as the database does by itself. */
async function findDifferences(
  pages: Pages,
  expected: ArchiveTotals,
  digests: ReadonlyMap<string, bigint>,
): Promise<string[]> {
  const stored = await readTotals(pages);
  const differences: string[] = [];
  for (const table of ARCHIVE_TABLES) {
    const [came, wanted] = [stored.rows[table.name], expected.rows[table.name]];
    if (came !== wanted) differences.push(`${table.name} should have ${wanted} rows, and got ${came}`);
    else if ((await digestOfTable(table, pages)) !== (digests.get(table.name) ?? 0n))
      differences.push(`the rows of ${table.name} are not those that were sent`);
  }
  const [money, wanted] = [stored.money.map(describeMoney), expected.money.map(describeMoney)];
  const lacking = wanted.filter((total) => !money.includes(total));
  const surplus = money.filter((total) => !wanted.includes(total));
  return [
    ...differences,
    ...lacking.map((total) => `there should be ${total}`),
    ...surplus.map((total) => `there should not be ${total}`),
  ];
}

async function digestOfTable(table: ArchiveTable, pages: Pages): Promise<bigint> {
  let sum = 0n;
  for await (const { rows } of readTable(table, pages)) sum += digestOf(rows);
  return BigInt.asUintN(64, sum);
}

function describeMoney({ partnerId, environment, service, status, topUps, amount }: MoneyTotal): string {
  return `${topUps} top-ups (${environment}, ${service}, ${status}) of partner ${partnerId} that make ${amount} minor units`;
}

async function refuseOtherProvider(pages: Pages, settings: ProviderSettings): Promise<void> {
  const [stored] = await all<ProviderRow>(pages, "SELECT time_zone, currency_exponent, default_country FROM provider");
  if (isProviderRow(stored, settings)) return;
  throw new StoreRefused(
    "nothing was copied: the database to fill was opened with another time zone, currency or country",
  );
}

/** By what rules its zone had where the rows come from, subscriptions were counted there. */
async function calendarOf(pages: Pages, { calendar }: ProviderSettings, now: Instant): Promise<Calendar> {
  const { timeZone } = calendar;
  return createChangingCalendar(
    timeZone,
    rulesOnRecord(await all<ZoneRulesRow>(pages, ZONE_RULES), timeZone, now).record,
  );
}

async function findContradictions({ check }: FillingTransaction, calendar: Calendar): Promise<string[]> {
  const wrong: string[] = [];
  for await (const event of check(calendar)) if (event.kind === "wrong") wrong.push(event.what);
  return wrong;
}

function refuse(findings: readonly string[]): void {
  if (findings.length === 0) return;
  const more = findings.length - FINDINGS_NAMED;
  const named = findings.slice(0, FINDINGS_NAMED).join("; ");
  throw new StoreRefused(`nothing was copied: ${named}${more > 0 ? `; and ${more} more` : ""}`);
}
