import { Command, CommanderError } from "commander";
import { ConfigError } from "../config.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "../store/errors.ts";
import { addArchiveCommands } from "./commands/archive.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addConnectionCommands, addSubscriptionCommands } from "./commands/corrections.ts";
import { addCustomerCommands } from "./commands/customer.ts";
import { addDemoCommand, addTrialCommands } from "./commands/demo.ts";
import { addEventsCommand } from "./commands/events.ts";
import { addExportCommands } from "./commands/export.ts";
import { addImportCommands } from "./commands/import.ts";
import { addMaintenanceCommands } from "./commands/maintenance.ts";
import { addPartnerCommands } from "./commands/partner.ts";
import { addReconcileCommand } from "./commands/reconcile.ts";
import { addReportCommands } from "./commands/report.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addStaffCommands } from "./commands/staff.ts";
import { addTargetCommands } from "./commands/target.ts";
import { addTokenCommands } from "./commands/token.ts";
import { addTransactionCommands } from "./commands/transaction.ts";
import { addWhyCommand } from "./commands/why.ts";
import { examples, guideWrongUsage, layOutHelp } from "./help.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage } from "./runtime.ts";

/**
 * Whoever runs a command by the clock must tell what was not done at all from what was done and is not as it should be:
 * books that differ, a check that found something, lines of a file that were not taken.
 */
const EXIT = { done: 0, failed: 1, wrongUsage: 2, foundWrong: 3 } as const;

/** As the help has them. */
const COMMANDS = [
  ["Run the service:", [addServeCommand, addDemoCommand]],
  [
    "Say who may call, and what there is to buy:",
    [addPartnerCommands, addTokenCommands, addImportCommands, addTrialCommands],
  ],
  ["Say who of your staff may do what:", [addStaffCommands]],
  [
    "Look things up:",
    [addCustomerCommands, addTransactionCommands, addWhyCommand, addExportCommands, addAuditCommands],
  ],
  ["Set things right:", [addConnectionCommands, addSubscriptionCommands]],
  ["Tell other systems what happens:", [addTargetCommands, addEventsCommand]],
  ["Settle with partners:", [addReportCommands, addReconcileCommand]],
  ["Look after the database:", [addMaintenanceCommands, addArchiveCommands]],
] as const;

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
  for (const [heading, adders] of COMMANDS) {
    program.commandsGroup(heading);
    for (const add of adders) add(program, runtime);
  }
  guideWrongUsage(program);
  return program;
}

/** Says what went wrong, where commander has not said it yet. */
function conclude(error: unknown, { stderr }: Runtime): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  const [, code] = EXIT_CODES.find(([kind]) => error instanceof kind) ?? [];
  if (code === undefined) throw error;
  stderr(`topupd: ${(error as Error).message}\n`);
  return code;
}

const EXIT_CODES: readonly (readonly [kind: new (...of: never[]) => Error, code: number])[] = [
  [WrongUsage, EXIT.wrongUsage],
  // It is the settings that must be put right, so a service manager need not try them again.
  [ConfigError, EXIT.wrongUsage],
  [SettingsRefused, EXIT.wrongUsage],
  [FoundWrong, EXIT.foundWrong],
  [CommandFailed, EXIT.failed],
  [StoreRefused, EXIT.failed],
  [StoreUnavailable, EXIT.failed],
];
