import { resolve } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../../config.ts";
import {
  type DatabaseAddress,
  readDatabaseAddress,
  showDatabaseAddress,
  withoutPassword,
} from "../../database-address.ts";
import { type CopyProgress, copyStore } from "../../operations/copy-store.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions } from "../output.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";
import { withStoreOf } from "../settings.ts";
import { type ArchiveOutput, describeFilling, partnerNames, printArchive } from "../words/archive-output.ts";
import { progressLine } from "../words/progress-line.ts";

interface CopyOptions extends OutputOptions {
  readonly from: string;
  readonly to: string;
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
    printArchive(runtime, await copy(runtime, from, to), options);
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

async function copy(runtime: Runtime, from: DatabaseAddress, to: DatabaseAddress): Promise<ArchiveOutput> {
  const config = {
    ...readConfig(runtime.env, {}),
    timeZone: undefined,
    currencyExponent: undefined,
    defaultCountry: undefined,
  };
  return withStoreOf({ ...config, database: from }, runtime, { mustExist: true }, async (source) => {
    const { calendar, currencyExponent, defaultCountry } = source.provider;
    const likeSource = { ...config, timeZone: calendar.timeZone, currencyExponent, defaultCountry, database: to };
    return withStoreOf(likeSource, runtime, { mustBeNew: true }, async (target) => {
      const progress = progressLine(runtime);
      const onProgress = (step: CopyProgress) => progress.show(describeFilling("copying", step));
      const totals = await copyStore(source, target, onProgress).finally(progress.end);
      return { totals, partners: await partnerNames(target), currencyExponent };
    });
  });
}
