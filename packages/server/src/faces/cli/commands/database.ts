import { type Command, Option } from "commander";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../../../domain/database-address.ts";
import { type CurrencyExponent, formatMoney } from "../../../domain/money.ts";
import { isoTimeOrNull } from "../../../domain/wall-time.ts";
import { copyStore } from "../../../office/maintenance/backups.ts";
import { partnerNamesOf } from "../../../office/partners/sql.ts";
import { table } from "../../../office/text.ts";
import { MADE_BEFORE_RELEASE } from "../../../store/errors.ts";
import type { ArchiveTotals, MigrationState } from "../../../store/store.ts";
import { addCommand, type Context, withStore } from "../command.ts";
import { CommandFailed, FoundWrong, WrongUsage } from "../failures.ts";
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
      printTotals(context, totals, await partnerNamesOf(target), currencyExponent);
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

/** Prints the rows of each table and the sums of top-ups. @param facts first fields of the JSON. */
export function printTotals(
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
