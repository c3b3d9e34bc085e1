import type { Command } from "commander";
import { BackupRefused } from "../../backup/errors.ts";
import type { BackupHeader } from "../../backup/header.ts";
import { showDatabaseAddress } from "../../database-address.ts";
import type { CopyProgress } from "../../operations/copy-store.ts";
import { openBackup, restoreStore, verifyBackup } from "../../operations/restore-store.ts";
import type { ArchiveProgress } from "../../operations/watch-archive.ts";
import { examples } from "../help.ts";
import { isFileError, isoTime, jsonOption, type OutputOptions } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, configOf, withStoreOf } from "../settings.ts";
import { describeFilling, describeProgress, partnerNames, printArchive } from "../words/archive-output.ts";
import { progressLine } from "../words/progress-line.ts";
import { printable } from "../words/text.ts";

interface RestoreOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

/** `topupd restore`: a new database out of a backup, in either store. */
export function addRestoreCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("restore")
    .description("fill a new, empty database, of either kind, from a backup: all of it, or nothing")
    .argument("<FILE>", "a file that topupd backup has made")
    .option("--dry-run", "read and verify the whole file, and touch no database")
    .addOption(jsonOption());
  examples(command, [
    "topupd restore --dry-run last.backup",
    "topupd restore last.backup --database sqlite:./restored.db",
  ]);
  addSettings(command, ["database"]).action(async (file: string, options: RestoreOptions) => {
    try {
      await (options.dryRun === true ? verify(runtime, file, options) : restore(command, runtime, file, options));
    } catch (error) {
      if (error instanceof BackupRefused)
        throw new CommandFailed(`${file} ${printable(error.message)}`, { cause: error });
      if (isFileError(error)) throw new CommandFailed(`${file} cannot be read: ${error.message}`, { cause: error });
      throw error;
    }
  });
}

async function restore(command: Command, runtime: Runtime, file: string, options: RestoreOptions): Promise<void> {
  const settings = configOf(command, runtime);
  const { progress, header, open } = await begin(runtime, file);
  const { timeZone, currencyExponent, defaultCountry, takenAt } = header;
  // What times and amounts mean comes from the backup: whatever else is set does not fit its rows.
  const config = { ...settings, timeZone, currencyExponent, defaultCountry };
  await withStoreOf(config, runtime, { mustBeNew: true }, async (store) => {
    const onProgress = (step: CopyProgress) => progress.show(describeFilling("restoring", step));
    const totals = await restoreStore(open, store, onProgress).finally(progress.end);
    // It is done: where the names cannot be had any more, numbers will do.
    const partners = await partnerNames(store).catch(() => new Map<number, string>());
    const output = { totals, partners, currencyExponent };
    printArchive(runtime, output, options, factsOf(file, header));
  });
  runtime.stderr(
    `Everything was restored into ${showDatabaseAddress(config.database)} and verified. What was recorded after ${isoTime(takenAt)} may not be in it: see "Restoring" in the documentation before you start the service.\n`,
  );
}

async function verify(runtime: Runtime, file: string, options: RestoreOptions): Promise<void> {
  const { progress, header, open } = await begin(runtime, file);
  const onProgress = (seen: ArchiveProgress) => progress.show(describeProgress("reading", seen));
  const verified = await verifyBackup(open, onProgress).finally(progress.end);
  printArchive(runtime, { ...verified, currencyExponent: header.currencyExponent }, options, factsOf(file, header));
  const { topupd, store, takenAt } = header;
  runtime.stderr(
    `${file} is whole: topupd ${printable(topupd)} made it of ${printable(store)} at ${isoTime(takenAt)}. Nothing was restored.\n`,
  );
}

/** The whole file is looked at before any database is: one that is cut off or damaged makes none. */
async function begin(runtime: Runtime, file: string) {
  const progress = progressLine(runtime);
  const open = () => runtime.openFile(file);
  progress.show(`checking ${file} ...`);
  return { progress, open, header: await openBackup(open).finally(progress.end) };
}

function factsOf(file: string, { takenAt, topupd, store }: BackupHeader): object {
  return { file, takenAt: isoTime(takenAt), topupd, store };
}
