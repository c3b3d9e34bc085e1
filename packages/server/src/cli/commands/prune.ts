import { type Command, Option } from "commander";
import { pruneHistory, readAge, SHORTEST_RETENTION_DAYS } from "../../services/staff/prune.ts";
import { addStoreCommand } from "../command.ts";
import { readReason } from "../options.ts";
import { fieldLines, isoTime, type OutputOptions, show } from "../output/text.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";

interface PruneOptions extends OutputOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
  readonly reason?: string;
}

/** `topupd prune`: lets history go that nothing needs any more. */
export function addPruneCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<PruneOptions>(program, runtime, {
    name: "prune",
    description: "let old history go, for good, as far as no subscription needs it",
    options: [
      new Option("--older-than <AGE>", "older than so many years, months or days: 7y, 18m, 400d").makeOptionMandatory(),
      new Option("--dry-run", "say what would go, and change nothing"),
      new Option("--reason <TEXT>", "why, in a few words: it stays in the audit trail"),
    ],
    examples: ["topupd prune --older-than 7y --dry-run", 'topupd prune --older-than 7y --reason "books of 2019"'],
    changes: true,
    async run(session, _, options) {
      const { dryRun = false } = options;
      const olderThan = readAge(options.olderThan);
      if (olderThan === undefined) throw new WrongUsage("--older-than must be an age such as 7y, 18m or 400d");
      const reason = options.reason === undefined ? undefined : readReason(options.reason);
      runtime.lowerPriority();
      const answer = await pruneHistory(session, session.actor, { olderThan, dryRun, reason });
      if (answer.kind === "too_young")
        throw new WrongUsage(`--older-than must be at least ${SHORTEST_RETENTION_DAYS} days`);
      const { before, pruned } = answer;
      const { entries, topUps, retiredCheckouts } = pruned;
      const { zone } = session.store.provider;
      const words = fieldLines([
        [dryRun ? "would go" : "gone", `what may go from before ${zone.wallTime(before)} (${zone.name})`],
        ["ledger entries", String(entries)],
        ["top-ups", String(topUps)],
        ["retired checkouts", String(retiredCheckouts)],
      ]);
      const data = { before: isoTime(before), dryRun, ledgerEntries: entries, topUps, retiredCheckouts };
      show(runtime, options, data, words);
      if (dryRun) runtime.stderr("Nothing was changed. Without --dry-run, this goes for good.\n");
      else runtime.stderr("Backups and exports that were made before still hold what has gone.\n");
    },
  });
}
