import { type Bytes, readChunks, writeBackup } from "../../backup/backup-file.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { putOnlyRow } from "../../store/settings.ts";
import type { ArchiveChunk, ArchiveTotals, ImportedArchive, Store } from "../../store/store.ts";
import type { Actor, Db } from "../office.ts";

/** Hears how many rows have gone by. */
type OnRows = (rows: number) => void;

/**
 * Copies everything from one store to another, which must be empty and have the same settings: all of it, or
 * nothing. Nobody can write into either of them meanwhile.
 * @returns what was copied, as both count it.
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
  /** The version of this topupd. */
  readonly version: string;
  /** The kind of the store. */
  readonly kind: string;
  /** Keeps the backup, and says of how many bytes it was. */
  readonly write: (backup: Bytes) => Promise<number>;
  /** Ends it with an error. */
  readonly signal: AbortSignal;
  readonly onRows?: OnRows;
}

export interface BackedUp {
  readonly takenAt: Instant;
  readonly totals: ArchiveTotals;
  readonly bytes: number;
}

/**
 * Makes a backup of everything that was acknowledged before. It holds nobody up: what is recorded meanwhile is not
 * in it.
 * @throws StoreUnavailable where the store cannot be read; or whatever `write` rejects with.
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
 * Fills a store, which must be empty and have the settings of the backup, with all that the backup holds, or with
 * nothing. All targets are paused: a backup is also restored for a trial, while the old service still delivers to them.
 * A copy needs no pause, since it moves the service.
 * @throws BackupRefused where the backup is not whole; StoreRefused as Store.importArchive.
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

/** Records when the newest backup was taken. */
export function noteBackup(engine: Engine, at: Instant): Promise<unknown> {
  return engine.transact((tx) => putOnlyRow(tx, "backupTaken", { at }));
}

export async function lastBackupAt(db: Db): Promise<Instant | undefined> {
  return (await db.selectFrom("backupTaken").select("at").executeTakeFirst())?.at;
}
