import type { Command } from "commander";
import type { MigrationState } from "../../store/store.ts";
import { jsonOption } from "../command.ts";
import { examples } from "../help.ts";
import { isoTimeOrNull, type OutputOptions, show, table } from "../output/text.ts";
import { CommandFailed, FoundWrong, type Runtime } from "../runtime.ts";
import { addSettings, configOf, STORE_SETTINGS, withStore } from "../settings.ts";

/** `topupd migrate`: brings the tables of a database up to date, or tells how far they are. */
export function addMigrateCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("migrate")
    .description("make the database's tables, or bring them up to date")
    .option("--status", "change nothing; tell which migrations the database has had (exit code 3: not up to date)")
    .addOption(jsonOption());
  examples(command, ["topupd migrate", "topupd migrate --status --json"]);
  addSettings(command, STORE_SETTINGS).action(async (options: OutputOptions & { readonly status?: boolean }) => {
    const config = configOf(command, runtime);
    if (options.status !== true) await withStore(config, runtime, { mustExist: false }, async () => {});
    const states = await runtime.readMigrations(config);
    const rows = states.map(({ name, state, appliedAt }) => ({ name, state, appliedAt: isoTimeOrNull(appliedAt) }));
    show(runtime, options, rows, table(["name", "state", "appliedAt"], rows));
    const wrong = wrongWith(states);
    if (wrong === undefined) return;
    throw options.status === true ? new FoundWrong(wrong) : new CommandFailed(wrong);
  });
}

/** What keeps this topupd from serving the database. */
function wrongWith(states: readonly MigrationState[]): string | undefined {
  const has = (wanted: MigrationState["state"]) => states.some(({ state }) => state === wanted);
  if (has("altered")) return "the database was made by another topupd than this one";
  if (has("unknown")) return "the database was made by a newer topupd: use that";
  if (has("pending")) return "the database is not up to date: topupd migrate brings it there";
  return undefined;
}
