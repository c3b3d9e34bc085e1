import { Command, CommanderError } from "commander";
import { ConfigError } from "../config.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "../store/errors.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addBackupCommand } from "./commands/backup.ts";
import { addCheckCommand } from "./commands/check.ts";
import { addConnectionCommands } from "./commands/connection.ts";
import { addCopyCommand } from "./commands/copy.ts";
import { addCustomerCommands } from "./commands/customer.ts";
import { addDemoCommand } from "./commands/demo.ts";
import { addExportCommands } from "./commands/export.ts";
import { addImportCommands } from "./commands/import.ts";
import { addMigrateCommand } from "./commands/migrate.ts";
import { addPartnerCommands } from "./commands/partner.ts";
import { addPruneCommand } from "./commands/prune.ts";
import { addReconcileCommand } from "./commands/reconcile.ts";
import { addReportCommands } from "./commands/report.ts";
import { addRestoreCommand } from "./commands/restore.ts";
import { addSecretCommands } from "./commands/secret.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addSubscriptionCommands } from "./commands/subscription.ts";
import { addTokenCommands } from "./commands/token.ts";
import { addTransactionCommands } from "./commands/transaction.ts";
import { addTrialCommands } from "./commands/trial.ts";
import { addWhyCommand } from "./commands/why.ts";
import { examples, guideWrongUsage, layOutHelp } from "./help.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage } from "./runtime.ts";

/**
 * Whoever runs a command by the clock must tell a book that differs from one that was not compared at all: what a
 * comparison or an examination found has a code of its own.
 */
const EXIT = { done: 0, failed: 1, wrongUsage: 2, foundWrong: 3 } as const;

/** Runs one command line, without the program's own name. @returns the exit code. */
export async function runCommandLine(words: readonly string[], runtime: Runtime): Promise<number> {
  try {
    await buildProgram(runtime).parseAsync(words, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return conclude(error, runtime);
  }
}

/** All commands, ready to be run. */
export function buildProgram(runtime: Runtime): Command {
  const program = new Command("topupd")
    .description("A self-hosted top-up service for providers of TV, internet and IPTV subscriptions")
    .version(runtime.version, "-V, --version", "show the version")
    .exitOverride()
    .configureOutput({
      writeOut: runtime.stdout,
      writeErr: runtime.stderr,
      outputError: (text, write) => write(text.replace(/^error:/, "topupd:")),
    });
  layOutHelp(program);
  examples(program, ["topupd demo", 'topupd partner add "Blue Wallet"', "topupd serve --port 8080"]);
  program.commandsGroup("Run the service:");
  addServeCommand(program, runtime);
  addDemoCommand(program, runtime);
  program.commandsGroup("Say who may call, and what there is to buy:");
  addPartnerCommands(program, runtime);
  addTokenCommands(program, runtime);
  addImportCommands(program, runtime);
  addTrialCommands(program, runtime);
  program.commandsGroup("Look things up:");
  addCustomerCommands(program, runtime);
  addTransactionCommands(program, runtime);
  addWhyCommand(program, runtime);
  addExportCommands(program, runtime);
  addAuditCommands(program, runtime);
  program.commandsGroup("Set things right:");
  addConnectionCommands(program, runtime);
  addSubscriptionCommands(program, runtime);
  program.commandsGroup("Settle with partners:");
  addReportCommands(program, runtime);
  addReconcileCommand(program, runtime);
  program.commandsGroup("Look after the database:");
  addMigrateCommand(program, runtime);
  addCheckCommand(program, runtime);
  addCopyCommand(program, runtime);
  addPruneCommand(program, runtime);
  addBackupCommand(program, runtime);
  addRestoreCommand(program, runtime);
  addSecretCommands(program, runtime);
  guideWrongUsage(program);
  return program;
}

/** Says what went wrong, where commander has not said it yet. */
function conclude(error: unknown, { stderr }: Runtime): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  // It is the settings that must be put right, so a service manager need not try them again.
  if (error instanceof WrongUsage || error instanceof ConfigError || error instanceof SettingsRefused) {
    stderr(`topupd: ${error.message}\n`);
    return EXIT.wrongUsage;
  }
  if (error instanceof FoundWrong) {
    stderr(`topupd: ${error.message}\n`);
    return EXIT.foundWrong;
  }
  if (error instanceof CommandFailed || error instanceof StoreRefused || error instanceof StoreUnavailable) {
    stderr(`topupd: ${error.message}\n`);
    return EXIT.failed;
  }
  throw error;
}
