import { Argument, type Command, Option } from "commander";
import { BackupRefused, countChunks, isBackup, readChunks, readHeader } from "../../../backup/backup-file.ts";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../../../domain/database-address.ts";
import { type CurrencyExponent, formatMoney } from "../../../domain/money.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import { backUpStore, copyStore, noteBackup, restoreStore } from "../../../office/maintenance/backups.ts";
import { printable, table } from "../../../office/text.ts";
import { partnerNamesOf } from "../../../office/transactions/presenter.ts";
import type { ArchiveTotals } from "../../../store/store.ts";
import { actorOf, addCommand, addStoreCommand, type Context, type Session } from "../command.ts";
import { STDIO } from "../options.ts";
import { progressLine } from "../progress.ts";
import { CommandFailed, isFileError, type Runtime, WrongUsage, withFile } from "../runtime.ts";
import { withStore } from "../settings.ts";

/** `topupd copy`, `backup` and `restore`: everything there is, elsewhere. */
export function addArchiveCommands(program: Command, runtime: Runtime): void {
  addCommand<Record<"from" | "to", string>>(program, runtime, {
    name: "copy",
    description: "copy everything into another, empty database: all of it, or nothing",
    options: [
      new Option("--from <URL>", `the database that there is: ${ADDRESS}`).makeOptionMandatory(),
      new Option("--to <URL>", "the database to fill, given likewise").makeOptionMandatory(),
    ],
    examples: ["topupd copy --from sqlite:./topupd.db --to env:NEW_DATABASE"],
    settings: [],
    run: (context, _, flags) => copy(context, flags),
  });
  addStoreCommand<{ readonly overwrite?: boolean }>(program, runtime, {
    name: "backup",
    description: "write everything into one file, from which topupd restores it; the service goes on meanwhile",
    arguments: [new Argument("<FILE>", "the file to make: only its owner can read it, and it has its name once whole")],
    options: [new Option("--overwrite", "put it in the place of a former backup")],
    examples: ["topupd backup /var/backups/topupd/2026-11-20.backup", "topupd backup --overwrite last.backup"],
    run: (session, [file = ""], { overwrite = false }) =>
      withFile(file, "be written", async () => {
        if (file === STDIO) throw new WrongUsage("a backup goes into a file, which has its name once it is whole");
        await refuseTaken(runtime, file, overwrite);
        await backUp(session, file, overwrite);
      }),
  });
  addCommand<{ readonly dryRun?: boolean }>(program, runtime, {
    name: "restore",
    description:
      "fill a new, empty database, of either kind, from a backup: all of it, with all targets paused, or nothing",
    arguments: [new Argument("<FILE>", "a file that topupd backup has made")],
    options: [new Option("--dry-run", "read and verify the whole file, and touch no database")],
    examples: ["topupd restore --dry-run last.backup", "topupd restore last.backup --database sqlite:./restored.db"],
    settings: ["database"],
    run: (context, [file = ""], { dryRun }) =>
      withFile(file, "be read", () => restore(context, file, dryRun)).catch((error: unknown) => {
        throw error instanceof BackupRefused ? new CommandFailed(`${file} ${printable(error.message)}`) : error;
      }),
  });
}

const ADDRESS = "sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or env:NAME for a variable that holds it";

async function copy(context: Context, flags: Record<"from" | "to", string>): Promise<void> {
  const { runtime } = context;
  const from = readAddress("--from", flags.from, runtime);
  const to = readAddress("--to", flags.to, runtime);
  const whatever = { timeZone: undefined, currencyExponent: undefined, defaultCountry: undefined };
  const config = { ...context.config, ...whatever, database: from };
  await withStore(config, runtime, { mustExist: true }, async (source) => {
    const { zone, currencyExponent, defaultCountry } = source.provider;
    const likeSource = { ...config, timeZone: zone.name, currencyExponent, defaultCountry, database: to };
    await withStore(likeSource, runtime, { mustBeNew: true }, async (target) => {
      const line = progressLine(runtime);
      const totals = await line.until(copyStore(source, target, (rows) => line.show(`copying ... ${rows} rows`)));
      print(context, totals, await partnerNamesOf(target), currencyExponent);
    });
  });
  runtime.stderr(
    `Everything was copied and verified. Set TOPUPD_DATABASE to ${showDatabaseAddress(to)}, start the service on it, and stop whatever still serves ${showDatabaseAddress(from)}: what is recorded there from now on is not in the copy.\n`,
  );
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

async function backUp(session: Session, file: string, overwrite: boolean): Promise<void> {
  const { runtime, store, config } = session;
  // Before the file has its name: what fails after that reads as though there were none.
  const partners = await partnerNamesOf(store);
  const signal = stopSignal(runtime);
  const write = (pieces: AsyncIterable<Uint8Array>) => runtime.writeFile(file, pieces, { overwrite });
  const line = progressLine(runtime);
  const onRows = (rows: number) => line.show(`writing ... ${rows} rows`);
  const request = { version: runtime.version, kind: config.database.store, write, signal, onRows };
  const { totals, takenAt, bytes } = await line.until(backUpStore(session, request)).catch((error: unknown) => {
    throw signal.aborted ? new CommandFailed(`stopped by ${String(signal.reason)}: no backup was made`) : error;
  });
  // The file is there, whether or not that can be noted.
  await noteBackup(store.engine, takenAt).catch(() => {});
  print(session, totals, partners, store.provider.currencyExponent, { file, takenAt: isoTime(takenAt), bytes });
  runtime.stderr(
    `${file} has ${bytes} bytes, and holds everything that was acknowledged before ${isoTime(takenAt)}. Guard it like the database, and try to restore it before you need it.\n`,
  );
}

/** Is aborted, with the name of the signal, once the process is asked to stop, also by closing its terminal. */
function stopSignal({ untilAskedToStop }: Runtime): AbortSignal {
  const controller = new AbortController();
  void untilAskedToStop({ hangUp: true }).then((name) => controller.abort(name));
  return controller.signal;
}

async function restore(context: Context, file: string, dryRun = false): Promise<void> {
  const { runtime, config: settings } = context;
  const open = () => runtime.openFile(file);
  // The whole file is looked at before any database is: one that is cut off or damaged makes none.
  const header = await readHeader(open());
  const { timeZone, currencyExponent, defaultCountry, topupd, store: kind } = header;
  const takenAt = isoTime(header.takenAt);
  const facts = { file, takenAt, topupd, store: kind };
  if (dryRun) {
    const { totals, partners } = await countChunks(readChunks(open()));
    print(context, totals, partners, currencyExponent, facts);
    const made = `topupd ${printable(topupd)} made it of ${printable(kind)} at ${takenAt}`;
    runtime.stderr(`${file} is whole: ${made}. Nothing was restored.\n`);
    return;
  }
  // What times and amounts mean comes from the backup: whatever else is set does not fit its rows.
  const config = { ...settings, timeZone, currencyExponent, defaultCountry };
  let targets = "";
  await withStore(config, runtime, { mustBeNew: true }, async (store) => {
    const line = progressLine(runtime);
    const ports = { store, clock: runtime.clock };
    const onRows = (rows: number) => line.show(`restoring ... ${rows} rows`);
    const { totals, paused } = await line.until(restoreStore(open(), ports, actorOf(runtime), onRows));
    print(context, totals, await partnerNamesOf(store), currencyExponent, { ...facts, paused });
    if (paused.length > 0)
      targets = `\nThese targets are paused: ${paused.join(", ")}. Once this database serves in the place of the old one, run topupd target resume NAME for each.`;
  });
  runtime.stderr(
    `Everything was restored into ${showDatabaseAddress(config.database)} and verified. What was recorded after ${takenAt} is not in it: see "Restoring" in docs/alerts.md before you start the service.${targets}\n`,
  );
}

/** How many rows each table has, and what the top-ups come to. @param facts come first in JSON, and only there. */
function print(
  { show }: Context,
  totals: ArchiveTotals,
  partners: ReadonlyMap<number, string>,
  currencyExponent: CurrencyExponent,
  facts: object = {},
): void {
  const money = totals.money.map(({ partnerId, environment, service, status, topUps, amount }) => ({
    partner: partners.get(partnerId) ?? String(partnerId),
    ...{ environment, service, status, topUps, amount: formatMoney(amount, currencyExponent) },
  }));
  const counts = Object.entries(totals.rows).map(([name, rows]) => ({ table: name, rows }));
  const sums = table(["partner", "environment", "service", "status", "topUps", "amount"], money, 2);
  const words = `${table(["table", "rows"], counts, 1)}${money.length === 0 ? "" : `\n${sums}`}`;
  show({ ...facts, rows: totals.rows, money }, words);
}
