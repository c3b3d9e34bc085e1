import type { Command } from "commander";
import { isBackup } from "../../backup/backup-file.ts";
import { backUpStore } from "../../operations/back-up-store.ts";
import { examples } from "../help.ts";
import { isFileError, isoTime, jsonOption, type OutputOptions, STDIO } from "../output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, configOf, STORE_SETTINGS, withStoreOf } from "../settings.ts";
import { stopSignal } from "../stopping.ts";
import { describeProgress, partnerNames, printArchive } from "../words/archive-output.ts";
import { progressLine } from "../words/progress-line.ts";

interface BackupOptions extends OutputOptions {
  readonly overwrite?: boolean;
}

/** `topupd backup`: everything in one file, while the service goes on. */
export function addBackupCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("backup")
    .description("write everything into one file, from which topupd restores it; the service goes on meanwhile")
    .argument("<FILE>", "the file to make: only its owner can read it, and it has its name once it is whole")
    .option("--overwrite", "put it in the place of a former backup")
    .addOption(jsonOption());
  examples(command, [
    "topupd backup /var/backups/topupd/2026-11-20.backup",
    "topupd backup --overwrite last.backup --json",
  ]);
  addSettings(command, STORE_SETTINGS).action(async (file: string, options: BackupOptions) => {
    const overwrite = options.overwrite === true;
    if (file === STDIO)
      throw new WrongUsage(
        "a backup goes into a file, which has its name once it is whole: stdout cannot promise that",
      );
    await refuseTaken(runtime, file, overwrite);
    try {
      await backUp(command, runtime, file, { ...options, overwrite });
    } catch (error) {
      if (isFileError(error)) throw new CommandFailed(`${file} cannot be written: ${error.message}`, { cause: error });
      throw error;
    }
  });
}

async function backUp(
  command: Command,
  runtime: Runtime,
  file: string,
  options: BackupOptions & { readonly overwrite: boolean },
): Promise<void> {
  const config = configOf(command, runtime);
  await withStoreOf(config, runtime, { mustExist: true }, async (store) => {
    const progress = progressLine(runtime);
    // Before the file has its name: what fails after that reads as though there were none.
    const partners = await partnerNames(store);
    const signal = stopSignal(runtime);
    const { totals, takenAt, bytes } = await backUpStore(
      { store, clock: runtime.clock },
      {
        version: runtime.version,
        kind: config.database.store,
        write: (backup) => runtime.writeFile(file, backup, options),
        onProgress: (seen) => progress.show(describeProgress("writing", seen)),
        signal,
      },
    )
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
        throw new CommandFailed(`stopped by ${String(signal.reason)}: no backup was made`);
      })
      .finally(progress.end);
    const { currencyExponent } = store.provider;
    const facts = { file, takenAt: isoTime(takenAt), bytes };
    printArchive(runtime, { totals, partners, currencyExponent }, options, facts);
    runtime.stderr(
      `${file} has ${bytes} bytes, and holds everything that was acknowledged before ${isoTime(takenAt)}. Guard it like the database, and try to restore it before you need it.\n`,
    );
  });
}

/** Before anything is read: what is there must be meant to give way, and be nothing but a former backup. */
async function refuseTaken({ openFile }: Runtime, file: string, overwrite: boolean): Promise<void> {
  try {
    const former = await isBackup(openFile(file));
    if (!overwrite) throw new CommandFailed(`${file} is there already: name another file, or give --overwrite`);
    if (!former) throw new CommandFailed(`${file} is no backup of topupd, and is not overwritten`);
  } catch (error) {
    if (!isFileError(error)) throw error;
    if (error.code !== "ENOENT") throw new CommandFailed(`${file} cannot be written: ${error.message}`);
  }
}
