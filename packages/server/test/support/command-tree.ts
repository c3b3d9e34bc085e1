import { type Command, CommanderError } from "commander";
import { buildProgram, runCommandLine } from "../../src/faces/cli/program.ts";
import type { Runtime } from "../../src/faces/cli/runtime.ts";

/* All commands that there are, as the program itself has them. None of them is run. */

export interface KnownCommand {
  /** What follows `topupd`; nothing for the program itself. */
  readonly words: readonly string[];
  readonly command: Command;
  /** Whether it only holds others. */
  readonly isGroup: boolean;
}

export async function allCommands(): Promise<readonly KnownCommand[]> {
  return below(await buildProgram(idleRuntime()), []);
}

function below(command: Command, words: readonly string[]): KnownCommand[] {
  const children = command.commands.flatMap((child) => below(child, [...words, child.name()]));
  return [{ words, command, isGroup: isGroup(command) }, ...children];
}

/** The help that a command prints, where nothing tells how wide the terminal is. */
export async function helpOf(words: readonly string[]): Promise<string> {
  let help = "";
  const runtime = idleRuntime({ stdout: (text) => (help += text) });
  const code = await runCommandLine([...words, "--help"], runtime);
  if (code !== 0) throw new Error(`topupd ${words.join(" ")} --help ended with ${code}`);
  return help;
}

const disarmed = buildProgram(idleRuntime()).then((program) => {
  disarm(program);
  return program;
});

/** Why a command line is refused before anything is done: undefined where it is not. */
export async function refusalOf(words: readonly string[]): Promise<string | undefined> {
  try {
    await (await disarmed).parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

/** The examples at the end of a help, each in words, without `topupd`. */
export function examplesIn(help: string): string[][] {
  const [, examples = ""] = help.replace(/ \\\n +/g, " ").split("\nExamples:\n");
  return examples.split("\n").flatMap((line) => (line === "" ? [] : [shellWords(line.replace(/^ {2}topupd/, ""))]));
}

/** As a shell divides them: quotes hold what has blanks. */
export function shellWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, inside]) => inside ?? word);
}

function disarm(command: Command): void {
  if (!isGroup(command)) command.action(() => {});
  for (const child of command.commands) disarm(child);
}

/** `check` has a command below it, and flags of its own. */
function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.name() !== "check";
}

/** Parsing needs nothing of the process but somewhere to write. */
function idleRuntime(outputs: Partial<Runtime> = {}): Runtime {
  return { version: "0.0.0", stdout: () => {}, stderr: () => {}, ...outputs } as unknown as Runtime;
}
