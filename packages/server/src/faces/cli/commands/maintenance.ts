import { type Command, InvalidArgumentError, Option } from "commander";
import type { Period } from "../../../domain/wall-time.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { count, fieldLines, table } from "../../../office/text.ts";
import {
  checkStore,
  listSecrets,
  pruneHistory,
  readAge,
  rotateSecret,
  SHORTEST_RETENTION_DAYS,
} from "../../../services/staff/maintenance.ts";
import type { MigrationState } from "../../../store/store.ts";
import { addCommand, addGroup, addStoreCommand, type Context, type Session } from "../command.ts";
import { flags } from "../options.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage } from "../runtime.ts";
import { withStore } from "../settings.ts";

/** `topupd migrate`, `check`, `prune` and `secret`: what looks after the database. */
export function addMaintenanceCommands(program: Command, runtime: Runtime): void {
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
  addStoreCommand<object>(program, runtime, {
    name: "check",
    description:
      "verify the database: integrity, and every subscription against its ledger (exit code 3: something is wrong)",
    examples: ["topupd check", "topupd check --database sqlite:./topupd-backup.db"],
    run: check,
  });
  addStoreCommand<PruneFlags>(program, runtime, {
    name: "prune",
    description: "let old history go, for good, as far as no subscription needs it",
    options: [
      new Option("--older-than <AGE>", "older than so many years, months or days: 7y, 18m, 400d")
        .argParser(parseAge)
        .makeOptionMandatory(),
      new Option("--dry-run", "say what would go, and change nothing"),
      flags.reason().makeOptionMandatory(false),
    ],
    examples: ["topupd prune --older-than 7y --dry-run", 'topupd prune --older-than 7y --reason "books of 2019"'],
    changes: true,
    run: prune,
  });
  const secret = addGroup(program, "secret", "list and rotate the secrets that seal checkoutIds");
  addStoreCommand<object>(secret, runtime, {
    name: "list",
    description: "list the secrets, newest first, without what is secret",
    examples: ["topupd secret list"],
    async run(session) {
      const rows = (await listSecrets(session)).map((each) => ({ ...each, createdAt: isoTime(each.createdAt) }));
      session.show(rows, table(["id", "state", "createdAt"], rows));
    },
  });
  addStoreCommand<object>(secret, runtime, {
    name: "rotate",
    description: "seal new checkoutIds with a new secret; those given out stay good for their five minutes",
    examples: ["topupd secret rotate"],
    changes: true,
    async run(session) {
      const rotated = await rotateSecret(session, session.actor);
      if (rotated.kind === "too_soon")
        throw new CommandFailed("too many secrets may still be in use: rotate again in a quarter of an hour");
      const { id, sealsFrom } = { ...rotated, sealsFrom: isoTime(rotated.sealsFrom) };
      session.show({ id, sealsFrom }, `The new secret ${id} seals from ${sealsFrom} on.\n`);
    },
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

async function check(session: Session): Promise<void> {
  const report = await checkStore(session);
  const { ok, checked, wrong } = report;
  const words = [
    ...checked.map(({ what, count: number }) => `ok     ${what} (${number})\n`),
    ...wrong.map((what) => `WRONG  ${what}\n`),
  ];
  session.show(report, words.join(""));
  if (!ok) throw new FoundWrong(`the database is not in order: ${count(wrong.length, "finding")}`);
}

interface PruneFlags {
  readonly olderThan: Period;
  readonly dryRun?: boolean;
  readonly reason?: string;
}

function parseAge(text: string): Period {
  const age = readAge(text);
  if (age === undefined) throw new InvalidArgumentError("It must be an age such as 7y, 18m or 400d.");
  return age;
}

async function prune(session: Session, _: unknown, { olderThan, dryRun = false, reason }: PruneFlags): Promise<void> {
  const { runtime, store, actor } = session;
  runtime.lowerPriority();
  const answer = await pruneHistory(session, actor, { olderThan, dryRun, reason });
  if (answer.kind === "too_young")
    throw new WrongUsage(`--older-than must be at least ${SHORTEST_RETENTION_DAYS} days`);
  const { before, pruned } = answer;
  const { entries, topUps, retiredCheckouts } = pruned;
  const { zone } = store.provider;
  const words = fieldLines([
    [dryRun ? "would go" : "gone", `what may go from before ${zone.wallTime(before)} (${zone.name})`],
    ["ledger entries", String(entries)],
    ["top-ups", String(topUps)],
    ["retired checkouts", String(retiredCheckouts)],
  ]);
  session.show({ before: isoTime(before), dryRun, ledgerEntries: entries, topUps, retiredCheckouts }, words);
  if (dryRun) runtime.stderr("Nothing was changed. Without --dry-run, this goes for good.\n");
  else runtime.stderr("Backups and exports that were made before still hold what has gone.\n");
}
