import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { isBackup } from "../../backup/backup-file.ts";
import { BackupRefused } from "../../backup/errors.ts";
import { type Config, readConfig } from "../../config.ts";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../../database-address.ts";
import { backUpStore, copyStore, openBackup, restoreStore, verifyBackup } from "../../services/staff/archive.ts";
import { addStoreCommand, jsonOption, type Session } from "../command.ts";
import { examples } from "../help.ts";
import { STDIO } from "../options.ts";
import { partnerNames, printArchive, withProgress } from "../output/archive.ts";
import { stopSignal } from "../output/progress.ts";
import { isoTime, type OutputOptions, printable } from "../output/text.ts";
import { CommandFailed, isFileError, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, configOf, withStore } from "../settings.ts";

/** `topupd copy`, `backup` and `restore`: everything there is, elsewhere. */
export function addArchiveCommands(program: Command, runtime: Runtime): void {
  addCopyCommand(program, runtime);
  addBackupCommand(program, runtime);
  addRestoreCommand(program, runtime);
}

const ADDRESS = "sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or env:NAME for a variable that holds it";

interface CopyOptions extends OutputOptions {
  readonly from: string;
  readonly to: string;
}

function addCopyCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("copy")
    .description("copy everything into another, empty database: all of it, or nothing")
    .requiredOption("--from <URL>", `the database that there is: ${ADDRESS}`)
    .requiredOption("--to <URL>", "the database to fill, given likewise")
    .addOption(jsonOption());
  examples(command, ["topupd copy --from sqlite:./topupd.db --to env:NEW_DATABASE"]);
  command.action(async (options: CopyOptions) => {
    const from = readAddress("--from", options.from, runtime);
    const to = readAddress("--to", options.to, runtime);
    if (nameOf(from) === nameOf(to)) throw new WrongUsage("--from and --to name the same database");
    const whatever = { timeZone: undefined, currencyExponent: undefined, defaultCountry: undefined };
    const config = { ...readConfig(runtime.env, {}), ...whatever, database: from };
    await withStore(config, runtime, { mustExist: true }, async (source) => {
      const { zone, currencyExponent, defaultCountry } = source.provider;
      const likeSource = { ...config, timeZone: zone.name, currencyExponent, defaultCountry, database: to };
      await withStore(likeSource, runtime, { mustBeNew: true }, async (target) => {
        const totals = await withProgress(runtime, "copying", (onProgress) => copyStore(source, target, onProgress));
        printArchive(runtime, { totals, partners: await partnerNames(target), currencyExponent }, options);
      });
    });
    runtime.stderr(
      `Everything was copied and verified. Set TOPUPD_DATABASE to ${showDatabaseAddress(to)}, start the service on it, and stop whatever still serves ${showDatabaseAddress(from)}: what is recorded there from now on is not in the copy.\n`,
    );
  });
}

/** A password in an address is read from the environment: a command line can be seen by everybody on the machine. */
function readAddress(flag: string, text: string, { env }: Runtime): DatabaseAddress {
  const name = /^env:(.*)$/s.exec(text)?.[1];
  const address = name === undefined ? text : env[name];
  if (address === undefined) throw new WrongUsage(`${flag} is ${text}, but there is no variable of this name`);
  try {
    return readDatabaseAddress(address);
  } catch (error) {
    const shown = JSON.stringify(withoutPassword(address));
    throw new WrongUsage(`${flag} ${(error as Error).message}, but is ${shown}`, { cause: error });
  }
}

/** One name for each database, as far as its address tells. */
function nameOf(address: DatabaseAddress): string {
  return address.store === "sqlite" ? resolve(address.path) : showDatabaseAddress(address);
}

interface BackupOptions extends OutputOptions {
  readonly overwrite?: boolean;
}

function addBackupCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<BackupOptions>(program, runtime, {
    name: "backup",
    description: "write everything into one file, from which topupd restores it; the service goes on meanwhile",
    arguments: { "<FILE>": "the file to make: only its owner can read it, and it has its name once it is whole" },
    options: [new Option("--overwrite", "put it in the place of a former backup")],
    examples: ["topupd backup /var/backups/topupd/2026-11-20.backup", "topupd backup --overwrite last.backup"],
    async run(session, [file = ""], options) {
      if (file === STDIO) throw new WrongUsage("a backup goes into a file, which has its name once it is whole");
      try {
        await refuseTaken(runtime, file, options.overwrite === true);
        await backUp(session, file, options);
      } catch (error) {
        throw isFileError(error) ? new CommandFailed(`${file} cannot be written: ${error.message}`) : error;
      }
    },
  });
}

/** Before anything is read: what is there must be meant to make room, and be nothing but a former backup. */
async function refuseTaken({ openFile }: Runtime, file: string, overwrite: boolean): Promise<void> {
  try {
    const isFormer = await isBackup(openFile(file));
    if (!overwrite) throw new CommandFailed(`${file} is there already: name another file, or give --overwrite`);
    if (!isFormer) throw new CommandFailed(`${file} is no backup of topupd, and is not overwritten`);
  } catch (error) {
    if (!isFileError(error) || error.code !== "ENOENT") throw error;
  }
}

async function backUp({ runtime, store, clock, config }: Session, file: string, options: BackupOptions): Promise<void> {
  // Before the file has its name: what fails after that reads as though there were none.
  const partners = await partnerNames(store);
  const signal = stopSignal(runtime);
  const { version } = runtime;
  const kind = config.database.store;
  const write = (pieces: AsyncIterable<Uint8Array>) =>
    runtime.writeFile(file, pieces, { overwrite: options.overwrite === true });
  const { totals, takenAt, bytes } = await withProgress(runtime, "writing", (onProgress) =>
    backUpStore({ store, clock }, { version, kind, write, onProgress, signal }),
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new CommandFailed(`stopped by ${String(signal.reason)}: no backup was made`);
  });
  const { currencyExponent } = store.provider;
  const facts = { file, takenAt: isoTime(takenAt), bytes };
  printArchive(runtime, { totals, partners, currencyExponent }, options, facts);
  runtime.stderr(
    `${file} has ${bytes} bytes, and holds everything that was acknowledged before ${isoTime(takenAt)}. Guard it like the database, and try to restore it before you need it.\n`,
  );
}

interface RestoreOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

function addRestoreCommand(program: Command, runtime: Runtime): void {
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
      await restore(configOf(command, runtime), runtime, file, options);
    } catch (error) {
      if (error instanceof BackupRefused) throw new CommandFailed(`${file} ${printable(error.message)}`);
      throw isFileError(error) ? new CommandFailed(`${file} cannot be read: ${error.message}`) : error;
    }
  });
}

async function restore(settings: Config, runtime: Runtime, file: string, options: RestoreOptions): Promise<void> {
  const open = () => runtime.openFile(file);
  // The whole file is looked at before any database is: one that is cut off or damaged makes none.
  const header = await openBackup(open);
  const { timeZone, currencyExponent, defaultCountry, topupd, store: kind } = header;
  const takenAt = isoTime(header.takenAt);
  const facts = { file, takenAt, topupd, store: kind };
  if (options.dryRun === true) {
    const verified = await withProgress(runtime, "reading", (onProgress) => verifyBackup(open, onProgress));
    printArchive(runtime, { ...verified, currencyExponent }, options, facts);
    const made = `topupd ${printable(topupd)} made it of ${printable(kind)} at ${takenAt}`;
    runtime.stderr(`${file} is whole: ${made}. Nothing was restored.\n`);
    return;
  }
  // What times and amounts mean comes from the backup: whatever else is set does not fit its rows.
  const config = { ...settings, timeZone, currencyExponent, defaultCountry };
  await withStore(config, runtime, { mustBeNew: true }, async (store) => {
    const totals = await withProgress(runtime, "restoring", (onProgress) => restoreStore(open, store, onProgress));
    printArchive(runtime, { totals, partners: await partnerNames(store), currencyExponent }, options, facts);
  });
  runtime.stderr(
    `Everything was restored into ${showDatabaseAddress(config.database)} and verified. What was recorded after ${takenAt} is not in it: see "Restoring" in the operator's guide before you start the service.\n`,
  );
}
