import { type Bytes, countChunks, readChunks, readHeader, writeBackup } from "../../backup/backup-file.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { putOnlyRow } from "../../store/settings.ts";
import type { ArchiveChunk, ArchiveTotals, ImportedArchive, Store } from "../../store/store.ts";
import type { Actor } from "../office.ts";

/** Called with the number of rows so far. */
type OnRows = (rows: number) => void;

/**
 * Copies everything from one store to another, or nothing. The other must be empty and have the same settings. Both are
 * locked against writing meanwhile.
 * @returns totals of the copy, which both stores have counted.
 * @throws StoreRefused as Store.importArchive.
 */
export function copyStore(
  from: Pick<Store, "exportArchive">,
  to: Pick<Store, "importArchive">,
  onRows?: OnRows,
): Promise<ArchiveTotals> {
  return from.exportArchive("wait", async (chunks) => (await to.importArchive(countRows(chunks, onRows))).totals);
}

export interface BackUpRequest {
  /** Version of this topupd. */
  readonly version: string;
  /** Kind of the store. */
  readonly kind: string;
  /** Stores the backup. @returns its size in bytes. */
  readonly write: (backup: Bytes) => Promise<number>;
  /** Ends the backup with an error. */
  readonly signal: AbortSignal;
  readonly onRows?: OnRows;
}

export interface BackedUp {
  readonly takenAt: Instant;
  readonly totals: ArchiveTotals;
  readonly bytes: number;
}

/**
 * Makes a backup of everything that was acknowledged before. Writers do not wait; top-ups recorded meanwhile are not in the
 * backup.
 * @throws StoreUnavailable if the store cannot be read; also the errors of `write`.
 */
export async function backUpStore(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { version, kind, write, signal, onRows }: BackUpRequest,
): Promise<BackedUp> {
  const { zone, currencyExponent, defaultCountry } = store.provider;
  const takenAt = clock();
  const header = { topupd: version, takenAt, store: kind, timeZone: zone.name, currencyExponent, defaultCountry };
  return store.exportArchive("go_on", async (chunks) => {
    let totals: ArchiveTotals = { rows: {}, money: [] };
    const noted = async function* (): AsyncGenerator<ArchiveChunk> {
      for await (const chunk of countRows(chunks, onRows)) {
        if (chunk.kind === "totals") totals = chunk.totals;
        yield chunk;
      }
    };
    const bytes = await write(writeBackup(header, noted(), signal));
    return { takenAt, totals, bytes };
  });
}

/**
 * Restores a whole backup, or nothing. The store must be empty and have the settings of the backup. All targets are paused,
 * since the old service may still deliver to them. A copy needs no pause, since it moves the service.
 * @throws BackupRefused if the backup is not complete; StoreRefused as Store.importArchive.
 */
export function restoreStore(
  backup: Bytes,
  { store, clock }: Pick<Ports, "clock"> & { readonly store: Pick<Store, "importArchive"> },
  actor: Actor,
  onRows?: OnRows,
): Promise<ImportedArchive> {
  return store.importArchive(countRows(readChunks(backup), onRows), {
    author: actor.name,
    authority: actor.authority,
    at: clock(),
  });
}

async function* countRows(chunks: AsyncIterable<ArchiveChunk>, onRows?: OnRows): AsyncGenerator<ArchiveChunk> {
  let rows = 0;
  for await (const chunk of chunks) {
    if (chunk.kind === "rows") rows += chunk.rows.length;
    onRows?.(rows);
    yield chunk;
  }
}

/** The last backup or check: its time if one went well, and why the last one did not. */
interface Care {
  readonly at: Instant | undefined;
  readonly fault: string | undefined;
}
type CareTable = "backupTaken" | "checkPassed";

/** Records a backup that was verified. */
export function noteBackup(engine: Engine, at: Instant): Promise<unknown> {
  return engine.transact((tx) => putOnlyRow(tx, "backupTaken", { at, fault: null }));
}

/** Records a check that found nothing wrong. */
export function noteCheck(engine: Engine, at: Instant): Promise<unknown> {
  return engine.transact((tx) => putOnlyRow(tx, "checkPassed", { at, fault: null }));
}

/** Records that the last backup or check failed. @param fault contains no stored data, because it is mailed. */
export function noteFault(engine: Engine, table: CareTable, fault: string): Promise<unknown> {
  return engine.transact(async (tx) => {
    const { at = null } = await lastCare(tx, table);
    await putOnlyRow(tx, table, { at, fault });
  });
}

export async function lastCare(db: Db, table: CareTable): Promise<Care> {
  const row = await db.selectFrom(table).select(["at", "fault"]).executeTakeFirst();
  return { at: row?.at ?? undefined, fault: row?.fault ?? undefined };
}

export async function lastCheckAt(db: Db): Promise<Instant | undefined> {
  return (await lastCare(db, "checkPassed")).at;
}

export async function lastBackupAt(db: Db): Promise<Instant | undefined> {
  return (await lastCare(db, "backupTaken")).at;
}

/** Reads a whole backup. @throws BackupRefused if it is not complete; also the errors of reading it. */
export async function verifyBackup(open: () => Bytes, version: string): Promise<void> {
  await readHeader(open(), version);
  await countChunks(readChunks(open()));
}

interface Checked {
  readonly checked: { readonly what: string; readonly count: number }[];
  readonly wrong: string[];
}

/** Verifies the database, and records the result. */
export async function checkWhole({ store, clock }: Pick<Ports, "store" | "clock">): Promise<Checked> {
  const { checked, wrong }: Checked = { checked: [], wrong: [] };
  for await (const event of store.check()) {
    if (event.kind === "checked") checked.push({ what: event.what, count: event.count });
    else wrong.push(event.what);
  }
  const note =
    wrong.length === 0 ? noteCheck(store.engine, clock()) : noteFault(store.engine, "checkPassed", FOUND(wrong));
  // The finding is true even if this note fails.
  await note.catch(() => {});
  return { checked, wrong };
}

const FOUND = (wrong: readonly string[]) => `topupd check found what is wrong: ${wrong.length}`;
