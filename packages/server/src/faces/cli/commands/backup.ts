import { join } from "node:path";
import { Argument, type Command, Option } from "commander";
import { BackupRefused, countChunks, isBackup, readChunks, readHeader } from "../../../backup/backup-file.ts";
import type { Config } from "../../../config.ts";
import { backupName, backupsAmong, expiredBackups } from "../../../domain/backup-retention.ts";
import { showDatabaseAddress } from "../../../domain/database-address.ts";
import { dayAt, isoTime } from "../../../domain/wall-time.ts";
import {
  backUpStore,
  checkWhole,
  lastCheckAt,
  noteBackup,
  noteFault,
  restoreStore,
  verifyBackup,
} from "../../../office/maintenance/backups.ts";
import { partnerNamesOf } from "../../../office/partners/sql.ts";
import { count, printable } from "../../../office/text.ts";
import {
  actorOf,
  addCommand,
  addStoreCommand,
  type Context,
  type Session,
  STORE_SETTINGS,
  withStore,
} from "../command.ts";
import { CommandFailed, FoundWrong, isFileError, WrongUsage, withFile } from "../failures.ts";
import { STDIO } from "../files.ts";
import type { Runtime } from "../runtime.ts";
import { progressLine } from "../terminal.ts";
import { printTotals } from "./database.ts";

/* Backups, and databases made of them. */

/** Adds `topupd backup`. */
export function addBackupCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<{ readonly replace?: boolean; readonly keep?: boolean }>(program, runtime, {
    name: "backup",
    description: "write everything to one file that topupd can restore, and verify it; the service keeps running",
    arguments: [
      new Argument("[FILE]", "the new file; only its owner can read it, and it gets its name when it is complete"),
    ],
    options: [
      new Option("--replace", "replace an existing backup"),
      new Option(
        "--keep",
        "for an hourly timer: write to the folder of backups, delete those no longer kept, and check the database until it has passed on this day",
      ).conflicts("replace"),
    ],
    settings: [...STORE_SETTINGS, "backupFolder", "backupHours", "backupDays"],
    examples: [
      "topupd backup /var/backups/topupd/2026-11-20.backup",
      "topupd backup --replace last.backup",
      "topupd backup --keep --backup-folder /var/backups/topupd",
    ],
    async run(session, [file], { replace = false, keep = false }) {
      if ((file === undefined) !== keep) throw new WrongUsage("name either a file, or --keep");
      if (file === STDIO) throw new WrongUsage("a backup cannot go to stdout: name a file");
      if (file === undefined) return keepBackup(session, folderOf(session.config));
      await withFile(file, "be written", () => refuseTaken(runtime, file, replace));
      await backUp(session, file, replace);
    },
  });
}

/** Adds `topupd restore`. */
export function addRestoreCommand(program: Command, runtime: Runtime): void {
  addCommand<{ readonly dryRun?: boolean; readonly latest?: boolean }>(program, runtime, {
    name: "restore",
    description: "fill a new, empty database of either kind from a backup; targets and bulk changes are paused",
    arguments: [new Argument("[FILE]", "a file that topupd backup wrote")],
    options: [
      new Option("--latest", "take the newest whole backup in the folder of backups"),
      new Option("--dry-run", "verify the whole file, and change no database"),
    ],
    examples: [
      "topupd restore --dry-run last.backup",
      "topupd restore last.backup --database sqlite:./restored.db",
      "topupd restore --latest --backup-folder kept --database sqlite:./restored.db",
    ],
    settings: ["database", "backupFolder"],
    async run(context, [named], { dryRun, latest = false }) {
      if ((named === undefined) !== latest) throw new WrongUsage("name either a file, or --latest");
      const file = named ?? (await latestBackup(context, folderOf(context.config)));
      await withBackup(file, "be read", () => restore(context, file, dryRun));
    },
  });
}

function folderOf({ backupFolder }: Config): string {
  if (backupFolder === undefined) throw new WrongUsage("no folder of backups is set: set --backup-folder");
  return backupFolder;
}

/** @throws CommandFailed that names the file, if it is no whole backup or cannot be used. */
function withBackup<Result>(file: string, cannot: string, work: () => Promise<Result>): Promise<Result> {
  return withFile(file, cannot, work).catch((error: unknown) => {
    throw error instanceof BackupRefused ? new CommandFailed(`${file} ${printable(error.message)}`) : error;
  });
}

/** Makes a backup in the folder, deletes what is no longer kept, and checks the database once a day. */
async function keepBackup(session: Session, folder: string): Promise<void> {
  const { runtime, store, clock, config } = session;
  const now = clock();
  try {
    // A missing folder may be on a disk that is not mounted: it is never made.
    await withFile(folder, "be read", () => runtime.listFolder(folder));
    await backUp(session, join(folder, backupName(now)), false);
  } catch (error) {
    // This note may fail too. The failure is shown in any case.
    await noteFault(store.engine, "backupTaken", printable((error as Error).message)).catch(() => {});
    throw error;
  }
  const names = await runtime.listFolder(folder);
  for (const name of expiredBackups(names, { hours: config.backupHours, days: config.backupDays }, now))
    await withFile(join(folder, name), "be deleted", () => runtime.removeFile(join(folder, name)));
  const checkedAt = (await lastCheckAt(store.engine.db)) ?? 0;
  if (checkedAt >= dayAt(now, store.provider.zone).start) return;
  const { wrong } = await checkWhole(session);
  for (const what of wrong) runtime.stderr(`WRONG  ${what}\n`);
  if (wrong.length > 0) throw new FoundWrong(`the database is not in order: ${count(wrong.length, "finding")}`);
}

/** The newest backup of the folder up to now that is whole. */
async function latestBackup({ runtime }: Context, folder: string): Promise<string> {
  const names = await withFile(folder, "be read", () => runtime.listFolder(folder));
  const now = runtime.clock();
  for (const file of backupsAmong(names, now).map((name) => join(folder, name)))
    try {
      await withBackup(file, "be read", () => verifyBackup(() => runtime.openFile(file), runtime.version));
      return file;
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      runtime.stderr(`${error.message}\n`);
    }
  throw new CommandFailed(`${folder} has no backup from before ${isoTime(now)} that can be restored`);
}

/** Refuses an existing file before the database is read. `replace` may replace only a backup. */
async function refuseTaken({ openFile }: Runtime, file: string, replace: boolean): Promise<void> {
  try {
    const isOldBackup = await isBackup(openFile(file));
    if (!replace) throw new CommandFailed(`${file} exists already: name another file, or use --replace`);
    if (!isOldBackup)
      throw new CommandFailed(`${file} is not a backup of topupd, so --replace does not replace it: name another file`);
  } catch (error) {
    if (!isFileError(error) || error.code !== "ENOENT") throw error;
  }
}

async function backUp(session: Session, file: string, replace: boolean): Promise<void> {
  const { runtime, store, config } = session;
  // Names are read before the file gets its name: a later failure would look as if there were no backup.
  const partners = await partnerNamesOf(store);
  const signal = stopSignal(runtime);
  const verify = (path: string) => verifyBackup(() => runtime.openFile(path), runtime.version);
  const write = (pieces: AsyncIterable<Uint8Array>) =>
    withBackup(file, "be written", () => runtime.writeFile(file, pieces, { replace, verify }));
  const line = progressLine(runtime);
  const onRows = (rows: number) => line.show(`writing ... ${rows} rows`);
  const request = { version: runtime.version, kind: config.database.store, write, signal, onRows };
  const { totals, takenAt, bytes } = await line.until(backUpStore(session, request)).catch((error: unknown) => {
    throw signal.aborted ? new CommandFailed(`stopped by ${String(signal.reason)}: no backup was made`) : error;
  });
  // The backup is complete even if this note fails.
  await noteBackup(store.engine, takenAt).catch(() => {});
  printTotals(session, totals, partners, store.provider.currencyExponent, { file, takenAt: isoTime(takenAt), bytes });
  runtime.stderr(
    `${file} has ${bytes} bytes and contains everything acknowledged before ${isoTime(takenAt)}. Protect it like the database, and test restoring it before you need it.\n`,
  );
}

/** A signal that is aborted with the name of SIGTERM, SIGINT or SIGHUP. */
function stopSignal({ untilAskedToStop }: Runtime): AbortSignal {
  const controller = new AbortController();
  void untilAskedToStop({ hangUp: true }).then((name) => controller.abort(name));
  return controller.signal;
}

async function restore(context: Context, file: string, dryRun = false): Promise<void> {
  const { runtime, config: settings } = context;
  const open = () => runtime.openFile(file);
  // The file is verified before a database is opened, so that a damaged file creates none.
  const header = await readHeader(open(), runtime.version);
  const { timeZone, currencyExponent, defaultCountry, topupd, store: kind } = header;
  const takenAt = isoTime(header.takenAt);
  const facts = { file, takenAt, topupd, store: kind };
  if (dryRun) {
    const { totals, partners } = await countChunks(readChunks(open()));
    printTotals(context, totals, partners, currencyExponent, facts);
    const made = `topupd ${printable(topupd)} wrote it from ${printable(kind)} at ${takenAt}`;
    runtime.stderr(`${file} is complete: ${made}. Nothing was restored.\n`);
    return;
  }
  // Time zone, currency and country come from the backup. Other settings would not fit its rows.
  const config = { ...settings, timeZone, currencyExponent, defaultCountry };
  let notes = "";
  await withStore(config, runtime, { mustBeNew: true }, async (store) => {
    const line = progressLine(runtime);
    const ports = { store, clock: runtime.clock };
    const onRows = (rows: number) => line.show(`restoring ... ${rows} rows`);
    const { totals, paused, pausedBulk } = await line.until(restoreStore(open(), ports, actorOf(runtime), onRows));
    printTotals(context, totals, await partnerNamesOf(store), currencyExponent, { ...facts, paused, pausedBulk });
    if (paused.length > 0)
      notes += `\nThese targets are paused: ${paused.join(", ")}. When this database has replaced the old one, run topupd target resume NAME for each.`;
    if (pausedBulk.length > 0)
      notes += `\nThese bulk changes are paused: ${pausedBulk.join(", ")}. Run topupd bulk continue or topupd bulk cancel for each.`;
  });
  runtime.stderr(
    `Everything was restored into ${showDatabaseAddress(config.database)} and verified. It lacks everything recorded after ${takenAt}: see "Restoring" in docs/alerts.md before you start the service.${notes}\n`,
  );
}
