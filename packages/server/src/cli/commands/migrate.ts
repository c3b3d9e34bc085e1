import type { Command } from "commander";
import type { MigrationState } from "../../store/store.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson, printTable } from "../output.ts";
import { CommandFailed, FoundWrong, type Runtime } from "../runtime.ts";
import { addSettings, configOf, STORE_SETTINGS, withStore } from "../settings.ts";

interface MigrateOptions extends OutputOptions {
  readonly status?: boolean;
}

/** `topupd migrate`: brings the tables of a database up to date, or tells how far they are. */
export function addMigrateCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("migrate")
    .description("make the database's tables, or bring them up to date")
    .option("--status", "change nothing; tell which migrations the database has had (exit code 3: not up to date)")
    .addOption(jsonOption());
  examples(command, ["topupd migrate", "topupd migrate --status --json"]);
  addSettings(command, STORE_SETTINGS).action(async (options: MigrateOptions) => {
    const config = configOf(command, runtime);
    if (options.status !== true) await withStore(command, runtime, { mustExist: false }, async () => {});
    const states = await runtime.readMigrations(config);
    print(runtime, states, options);
    const wrong = wrongWith(states);
    if (wrong === undefined) return;
    throw options.status === true ? new FoundWrong(wrong) : new CommandFailed(wrong);
  });
}

function print(runtime: Runtime, states: readonly MigrationState[], { json }: OutputOptions): void {
  const rows = states.map(({ name, state, appliedAt }) => ({
    name,
    state,
    appliedAt: appliedAt === undefined ? null : isoTime(appliedAt),
  }));
  if (json === true) printJson(runtime, rows);
  else {
    const cells = rows.map(({ name, state, appliedAt }) => [name, state, appliedAt ?? "-"]);
    printTable(runtime, ["MIGRATION", "STATE", "APPLIED"], cells);
  }
}

/** What keeps this topupd from serving the database. */
function wrongWith(states: readonly MigrationState[]): string | undefined {
  const has = (wanted: MigrationState["state"]) => states.some(({ state }) => state === wanted);
  if (has("altered")) return "the database was made by another topupd than this one";
  if (has("unknown")) return "the database was made by a newer topupd: use that";
  if (has("pending")) return "the database is not up to date: topupd migrate brings it there";
  return undefined;
}
