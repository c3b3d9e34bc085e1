import { resolve } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../config.ts";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../database-address.ts";
import type { Partner } from "../domain/access-token.ts";
import { type CurrencyExponent, formatMoney } from "../domain/money.ts";
import { type CopyProgress, copyStore } from "../operations/copy-store.ts";
import type { ArchiveTotals } from "../store/store.ts";
import { examples } from "./help.ts";
import { jsonOption, type OutputOptions, printJson, printTable } from "./output.ts";
import { type Runtime, WrongUsage } from "./runtime.ts";
import { withStoreOf } from "./settings.ts";

interface CopyOptions extends OutputOptions {
  readonly from: string;
  readonly to: string;
}

interface Copied {
  readonly totals: ArchiveTotals;
  readonly partners: readonly Partner[];
  readonly currencyExponent: CurrencyExponent;
}

const ADDRESS = "sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or env:NAME for a variable that holds it";

/** `topupd copy`: moves a provider to another database, of the same kind or the other. */
export function addCopyCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("copy")
    .description("copy everything into another, empty database: all of it, or nothing")
    .requiredOption("--from <URL>", `the database that there is: ${ADDRESS}`)
    .requiredOption("--to <URL>", "the database to fill, given likewise")
    .addOption(jsonOption());
  examples(command, [
    "topupd copy --from sqlite:./topupd.db --to env:NEW_DATABASE",
    "topupd copy --from sqlite:./topupd.db --to sqlite:./new.db --json",
  ]);
  command.action(async (options: CopyOptions) => {
    const from = readAddress("--from", options.from, runtime);
    const to = readAddress("--to", options.to, runtime);
    if (nameOf(from) === nameOf(to)) throw new WrongUsage("--from and --to name the same database");
    print(runtime, await copy(runtime, from, to), options);
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

async function copy(runtime: Runtime, from: DatabaseAddress, to: DatabaseAddress): Promise<Copied> {
  const config = {
    ...readConfig(runtime.env, {}),
    timeZone: undefined,
    currencyExponent: undefined,
    defaultCountry: undefined,
  };
  return withStoreOf({ ...config, database: from }, runtime, { mustExist: true }, async (source) => {
    const { calendar, currencyExponent, defaultCountry } = source.provider;
    const likeSource = { ...config, timeZone: calendar.timeZone, currencyExponent, defaultCountry, database: to };
    return withStoreOf(likeSource, runtime, { mustExist: false }, async (target) => {
      const progress = progressLine(runtime);
      const totals = await copyStore(source, target, progress.show).finally(progress.end);
      return { totals, partners: await target.listPartners(), currencyExponent };
    });
  });
}

function print(runtime: Runtime, { totals, partners, currencyExponent }: Copied, { json }: OutputOptions): void {
  const money = totals.money.map(({ partnerId, environment, service, status, topUps, amount }) => ({
    partner: partners.find(({ id }) => id === partnerId)?.name ?? String(partnerId),
    ...{ environment, service, status, topUps, amount: formatMoney(amount, currencyExponent) },
  }));
  if (json === true) {
    printJson(runtime, { rows: totals.rows, money });
    return;
  }
  const rows = Object.entries(totals.rows).map(([table, count]) => [table, String(count)]);
  printTable(runtime, ["TABLE", "ROWS"], rows);
  if (money.length === 0) return;
  runtime.stdout("\n");
  const cells = money.map((total) => Object.values(total).map(String));
  printTable(runtime, ["PARTNER", "ENVIRONMENT", "SERVICE", "STATUS", "TOP-UPS", "AMOUNT"], cells);
}

/** One line on a terminal that is written over and over; nothing where nobody watches. */
function progressLine({ isTerminal, stderr }: Runtime) {
  const write = (text: string) => {
    if (isTerminal) stderr(`\r\u001b[K${text}`);
  };
  return {
    show: (progress: CopyProgress) => write(describe(progress)),
    end: () => write(""),
  };
}

function describe(progress: CopyProgress): string {
  if (progress.step === "verifying") return "verifying ...";
  return `copying ... ${progress.rows} of ${progress.of} rows (${progress.table})`;
}
