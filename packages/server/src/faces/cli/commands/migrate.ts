import { type Command, Option } from "commander";
import { isoTimeOrNull } from "../../../domain/wall-time.ts";
import { table } from "../../../office/text.ts";
import type { MigrationState } from "../../../store/store.ts";
import { addCommand, type Context } from "../command.ts";
import { CommandFailed, FoundWrong, type Runtime } from "../runtime.ts";
import { withStore } from "../settings.ts";

/** Adds `topupd migrate`. */
export function addMigrateCommand(program: Command, runtime: Runtime): void {
  addCommand<{ readonly status?: boolean }>(program, runtime, {
    name: "migrate",
    description: "make the database's tables, or bring them up to date",
    options: [
      new Option(
        "--status",
        "change nothing; tell which migrations the database has had (exit code 3: not up to date)",
      ),
    ],
    examples: ["topupd migrate", "topupd migrate --status --json"],
    run: (context, _, { status }) => migrate(context, status),
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

/** What keeps this topupd from serving the database. */
function wrongWith(states: readonly MigrationState[]): string | undefined {
  const has = (wanted: MigrationState["state"]) => states.some(({ state }) => state === wanted);
  if (has("altered")) return "the database was made by another topupd than this one";
  if (has("unknown")) return "the database was made by a newer topupd: use that";
  return has("pending") ? "the database is not up to date: topupd migrate brings it there" : undefined;
}
