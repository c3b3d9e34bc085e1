import { Command, CommanderError } from "commander";
import { ConfigError } from "../../config.ts";
import { Refused } from "../../office/refused.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "../../store/errors.ts";
import { addArchiveCommands } from "./commands/archive.ts";
import { addDemoCommand, addTrialCommands } from "./commands/demo.ts";
import { addMigrateCommand } from "./commands/migrate.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addCommands, isGroup } from "./groups.ts";
import { examples, guideWrongUsage, layOutHelp } from "./help.ts";
import { namingOf, refusalOf } from "./refusal.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage } from "./runtime.ts";

/**
 * Whoever runs a command by the clock must tell what was not done at all from what was done and is not as it should be:
 * books that differ, a check that found something, lines of a file that were not taken.
 */
const EXIT = { done: 0, failed: 1, wrongUsage: 2, foundWrong: 3 } as const;

/** As the help has them: by hand, or the first word of operations. */
const COMMANDS: readonly (readonly [heading: string, commands: readonly (ByHand | string)[]])[] = [
  ["Run the service:", [addServeCommand, addDemoCommand]],
  ["Say who may call, and what there is to buy:", ["partner", "token", "import", addTrialCommands]],
  ["Say who of your staff may do what:", ["staff"]],
  ["Look things up:", ["customer", "transaction", "why", "export", "audit"]],
  ["Set things right:", ["connection", "subscription"]],
  ["Tell other systems what happens:", ["target", "events"]],
  ["Settle with partners:", ["report", "reconcile"]],
  ["Look after the database:", [addMigrateCommand, "check", "prune", "secret", addArchiveCommands]],
];

type ByHand = (program: Command, runtime: Runtime) => void;

/** Runs one command line, without the program's own name. @returns the exit code. */
export async function runCommandLine(words: readonly string[], runtime: Runtime): Promise<number> {
  try {
    await (await buildProgram(runtime, meantBy(words))).parseAsync(words, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return conclude(error, runtime);
  }
}

/** Which commands a command line needs: those of its first word, or for the help of the program all that are no group. */
function meantBy(words: readonly string[]): (word: string) => boolean {
  const named = words.find((word) => !word.startsWith("-"));
  const isHelp = named === undefined && !words.includes("--version") && !words.includes("-V");
  return (word) => word === named || (isHelp && !isGroup(word));
}

/** The program. @param isMeant whether the commands that begin with a word are loaded (default: all). */
export async function buildProgram(
  runtime: Runtime,
  isMeant: (word: string) => boolean = () => true,
): Promise<Command> {
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
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const each of commands)
      if (typeof each === "string") await addCommands(program, runtime, each, isMeant(each));
      else each(program, runtime);
  }
  guideWrongUsage(program);
  return program;
}

/** Says what went wrong, where commander has not said it yet. */
function conclude(error: unknown, { stderr }: Pick<Runtime, "stderr">): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  if (error instanceof Refused) return conclude(refusalOf(error, namingOf()), { stderr });
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
