import { Argument, type Command, Option } from "commander";
import { BackupRefused, countChunks, isBackup, readChunks, readHeader } from "../../../backup/backup-file.ts";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../../../domain/database-address.ts";
import { type CurrencyExponent, formatMoney } from "../../../domain/money.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { backUpStore, copyStore, noteBackup, restoreStore } from "../../../office/maintenance/backups.ts";
import { partnerNamesOf } from "../../../office/partners/sql.ts";
import { printable, table } from "../../../office/text.ts";
import { MADE_BEFORE_RELEASE } from "../../../store/errors.ts";
import type { ArchiveTotals, MigrationState } from "../../../store/store.ts";
import { actorOf, addCommand, addStoreCommand, type Context, type Session, withStore } from "../command.ts";
import { CommandFailed, FoundWrong, isFileError, WrongUsage, withFile } from "../failures.ts";
import { STDIO } from "../files.ts";
import type { Runtime } from "../runtime.ts";
import { progressLine } from "../terminal.ts";

/* Commands for the whole database. */

/** Adds `topupd migrate`. */
export function addMigrateCommand(program: Command, runtime: Runtime): void {
  addCommand<{ readonly status?: boolean }>(program, runtime, {
    name: "migrate",
    description: "create the database's tables, or bring them up to date",
    options: [new Option("--status", "change nothing; list migrations and their state (exit code 3: not up to date)")],
    examples: ["topupd migrate", "topupd migrate --status --json"],
    run: (context, _, { status }) => migrate(context, status),
  });
}

/** Adds `topupd copy`. */
export function addCopyCommand(program: Command, runtime: Runtime): void {
  addCommand<Record<"from" | "to", string>>(program, runtime, {
    name: "copy",
    description: "copy everything to another, empty database; if anything fails, nothing is copied",
    options: [
      new Option("--from <URL>", `the existing database: ${ADDRESS}`).makeOptionMandatory(),
      new Option("--to <URL>", "the empty database, in the same form").makeOptionMandatory(),
    ],
    examples: ["topupd copy --from sqlite:./topupd.db --to env:NEW_DATABASE"],
    settings: [],
    run: (context, _, flags) => copy(context, flags),
  });
}

/** Adds `topupd backup`. */
export function addBackupCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<{ readonly replace?: boolean }>(program, runtime, {
    name: "backup",
    description: "write everything to one file that topupd can restore; the service keeps running",
    arguments: [
      new Argument("<FILE>", "the new file; only its owner can read it, and it gets its name when it is complete"),
    ],
    options: [new Option("--replace", "replace an existing backup")],
    examples: ["topupd backup /var/backups/topupd/2026-11-20.backup", "topupd backup --replace last.backup"],
    run: (session, [file = ""], { replace = false }) =>
      withFile(file, "be written", async () => {
        if (file === STDIO) throw new WrongUsage("a backup cannot go to stdout: name a file");
        await refuseTaken(runtime, file, replace);
        await backUp(session, file, replace);
      }),
  });
}

/** Adds `topupd restore`. */
export function addRestoreCommand(program: Command, runtime: Runtime): void {
  addCommand<{ readonly dryRun?: boolean }>(program, runtime, {
    name: "restore",
    description: "fill a new, empty database of either kind from a backup; targets and bulk changes are paused",
    arguments: [new Argument("<FILE>", "a file that topupd backup wrote")],
    options: [new Option("--dry-run", "verify the whole file, and change no database")],
    examples: ["topupd restore --dry-run last.backup", "topupd restore last.backup --database sqlite:./restored.db"],
    settings: ["database"],
    run: (context, [file = ""], { dryRun }) =>
      withFile(file, "be read", () => restore(context, file, dryRun)).catch((error: unknown) => {
        throw error instanceof BackupRefused ? new CommandFailed(`${file} ${printable(error.message)}`) : error;
      }),
  });
}

async function migrate({ runtime, config, show }: Context, onlyStatus = false): Promise<void> {
  if (!onlyStatus) await withStore(config, runtime, { mustExist: false }, async () => {});
  const states = await runtime.readMigrations(config);
  const rows = states.map(({ name, state, appliedAt }) => ({ name, state, appliedAt: isoTimeOrNull(appliedAt) }));
  show(rows, table(["name", "state", "appliedAt"], rows));
  const wrong = wrongWith(states);
  if (wrong !== undefined) throw onlyStatus ? new FoundWrong(wrong) : new CommandFailed(wrong);
}

/** The reason why this topupd cannot serve the database. */
function wrongWith(states: readonly MigrationState[]): string | undefined {
  const has = (wanted: MigrationState["state"]) => states.some(({ state }) => state === wanted);
  if (has("altered")) return `the database ${MADE_BEFORE_RELEASE}`;
  if (has("unknown")) return "a newer topupd made the database: use that one";
  return has("pending") ? "the database is not up to date: run topupd migrate" : undefined;
}

const ADDRESS = "sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or env:NAME for a variable that contains it";

async function copy(context: Context, flags: Record<"from" | "to", string>): Promise<void> {
  const { runtime } = context;
  const from = readAddress("--from", flags.from, runtime);
  const to = readAddress("--to", flags.to, runtime);
  const unset = { timeZone: undefined, currencyExponent: undefined, defaultCountry: undefined };
  const config = { ...context.config, ...unset, database: from };
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
    `Everything was copied and verified. Set TOPUPD_DATABASE to ${showDatabaseAddress(to)}, start the service on it, and stop every service on ${showDatabaseAddress(from)}: the copy lacks what is recorded there from now on.\n`,
  );
}

/** Reads an address. `env:NAME` keeps its password off the command line, which all users of the machine can see. */
function readAddress(flag: string, text: string, { env }: Runtime): DatabaseAddress {
  const name = /^env:(.*)$/s.exec(text)?.[1];
  const address = name === undefined ? text : env[name];
  if (address === undefined) throw new WrongUsage(`${flag} is ${text}, but this variable is not set`);
  try {
    return readDatabaseAddress(address);
  } catch (error) {
    const shown = JSON.stringify(withoutPassword(address));
    throw new WrongUsage(`${flag} ${(error as Error).message}, but is ${shown}`, { cause: error });
  }
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
  const write = (pieces: AsyncIterable<Uint8Array>) => runtime.writeFile(file, pieces, { replace });
  const line = progressLine(runtime);
  const onRows = (rows: number) => line.show(`writing ... ${rows} rows`);
  const request = { version: runtime.version, kind: config.database.store, write, signal, onRows };
  const { totals, takenAt, bytes } = await line.until(backUpStore(session, request)).catch((error: unknown) => {
    throw signal.aborted ? new CommandFailed(`stopped by ${String(signal.reason)}: no backup was made`) : error;
  });
  // The backup is complete even if this note fails.
  await noteBackup(store.engine, takenAt).catch(() => {});
  print(session, totals, partners, store.provider.currencyExponent, { file, takenAt: isoTime(takenAt), bytes });
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
    print(context, totals, partners, currencyExponent, facts);
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
    print(context, totals, await partnerNamesOf(store), currencyExponent, { ...facts, paused, pausedBulk });
    if (paused.length > 0)
      notes += `\nThese targets are paused: ${paused.join(", ")}. When this database has replaced the old one, run topupd target resume NAME for each.`;
    if (pausedBulk.length > 0)
      notes += `\nThese bulk changes are paused: ${pausedBulk.join(", ")}. Run topupd bulk continue or topupd bulk cancel for each.`;
  });
  runtime.stderr(
    `Everything was restored into ${showDatabaseAddress(config.database)} and verified. It lacks everything recorded after ${takenAt}: see "Restoring" in docs/alerts.md before you start the service.${notes}\n`,
  );
}

/** Prints the rows of each table and the sums of top-ups. @param facts first fields of the JSON. */
function print(
  { show }: Context,
  totals: ArchiveTotals,
  partners: ReadonlyMap<number, string>,
  currencyExponent: CurrencyExponent,
  facts: object = {},
): void {
  const money = totals.money.map(({ partnerId, environment, service, status, topUps, amount }) => ({
    partner: partners.get(partnerId) ?? String(partnerId),
    environment,
    service,
    status,
    topUps,
    amount: formatMoney(amount, currencyExponent),
  }));
  const counts = Object.entries(totals.rows).map(([name, rows]) => ({ table: name, rows }));
  const sums = table(["partner", "environment", "service", "status", "topUps", "amount"], money, 2);
  const words = `${table(["table", "rows"], counts, 1)}${money.length === 0 ? "" : `\n${sums}`}`;
  show({ ...facts, rows: totals.rows, money }, words);
}
