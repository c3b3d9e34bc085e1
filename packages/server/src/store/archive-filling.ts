import { isDeepStrictEqual } from "node:util";
import type { Attribution } from "../domain/audit.ts";
import { digestOf, readTable, readTotals } from "./archive.ts";
import { pauseBulkRuns } from "./bulk-runs.ts";
import { checkRows } from "./check.ts";
import { type Engine, type Filling, withRawNames } from "./engine.ts";
import { StoreRefused, StoreUnavailable } from "./errors.ts";
import { pauseTargets } from "./events.ts";
import { verifyProvider } from "./settings.ts";
import type { ArchiveChunk, ArchiveTotals, ImportedArchive, ProviderSettings } from "./store.ts";
import { columnsOf, TABLE_NAMES, type TableName } from "./tables.ts";

/** Tables that opening fills in a new database. */
const MADE_BY_OPENING: readonly TableName[] = ["provider", "checkout_secret"];

/** The maximum number of faults in an error message. */
const FINDINGS_NAMED = 5;

/**
 * Fills a database, then reads all of it again and checks it: see Store.importArchive.
 * @param provider the settings with which the store was opened.
 */
export async function importArchive(
  engine: Engine,
  chunks: AsyncIterable<ArchiveChunk>,
  provider: ProviderSettings,
  pausing?: Attribution,
): Promise<ImportedArchive> {
  const filling = await engine.openFilling();
  try {
    for (const table of MADE_BY_OPENING) await withRawNames(filling.db).deleteFrom(table).execute();
    const { totals, digests } = await receive(filling, chunks);
    await filling.settle();
    refuse(await findDifferences(engine, filling, totals, digests));
    await verifyProvider(filling.db, provider);
    refuse(await findContradictions(engine, filling, provider));
    const pausedBulk = pausing === undefined ? [] : await pauseBulkRuns(engine, filling.db, pausing);
    const paused = pausing === undefined ? [] : await pauseTargets(engine, filling.db, pausing);
    await filling.commit();
    return { totals, paused, pausedBulk };
  } finally {
    await filling.close();
  }
}

interface Received {
  readonly totals: ArchiveTotals;
  readonly digests: ReadonlyMap<string, bigint>;
}

async function receive(filling: Filling, chunks: AsyncIterable<ArchiveChunk>): Promise<Received> {
  let totals: ArchiveTotals | undefined;
  const digests = new Map<string, bigint>();
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") {
      totals = chunk.totals;
      continue;
    }
    const table = TABLE_NAMES.find((name) => name === chunk.table);
    if (table === undefined || chunk.rows.some((row) => row.length !== columnsOf(table).length))
      throw new StoreRefused(`nothing was copied: ${chunk.table} is not a table as this topupd knows it`);
    await insert(filling, table, chunk.rows);
    digests.set(table, BigInt.asUintN(64, (digests.get(table) ?? 0n) + chunk.digest));
  }
  if (totals === undefined) throw new StoreRefused("nothing was copied: the totals of the source are missing");
  return { totals, digests };
}

async function insert(filling: Filling, table: TableName, rows: Parameters<Filling["insert"]>[2]): Promise<void> {
  try {
    await filling.insert(table, columnsOf(table), rows);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreUnavailable || error instanceof StoreRefused) throw error;
    throw new StoreRefused(`nothing was copied: the database refuses a row of ${table}: ${error.message}`, {
      cause: error,
    });
  }
}

/** Compares the stored rows and the database's own counts with the archive. */
async function findDifferences(
  engine: Engine,
  { db }: Filling,
  expected: ArchiveTotals,
  digests: ReadonlyMap<string, bigint>,
): Promise<string[]> {
  const stored = await readTotals(db);
  const differences: string[] = [];
  for (const table of TABLE_NAMES) {
    const [came, wanted] = [stored.rows[table], expected.rows[table]];
    let digest = 0n;
    for await (const { rows } of readTable(engine, db, table)) digest += digestOf(rows);
    if (came !== wanted) differences.push(`${table} should have ${wanted} rows, and got ${came}`);
    else if (BigInt.asUintN(64, digest) !== (digests.get(table) ?? 0n))
      differences.push(`the rows of ${table} are not those that were sent`);
  }
  if (!isDeepStrictEqual(stored.money, expected.money)) differences.push("the top-ups do not add up to the same money");
  return differences;
}

async function findContradictions(engine: Engine, { db }: Filling, { zone }: ProviderSettings): Promise<string[]> {
  const wrong: string[] = [];
  for await (const event of checkRows(engine, db, zone)) if (event.kind === "wrong") wrong.push(event.what);
  return wrong;
}

function refuse(findings: readonly string[]): void {
  if (findings.length === 0) return;
  const more = findings.length - FINDINGS_NAMED;
  const named = findings.slice(0, FINDINGS_NAMED).join("; ");
  throw new StoreRefused(`nothing was copied: ${named}${more > 0 ? `; and ${more} more` : ""}`);
}
