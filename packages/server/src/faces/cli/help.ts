import type { Command } from "commander";

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Command lines that the command's help ends with; that of a group of commands takes the first of each. */
export function examples(command: Command, lines: readonly [string, ...string[]]): void {
  EXAMPLES.set(command, lines);
}

/** Gives a program, before its commands are added, and with it all of them, helps that end with examples. */
export function layOutHelp(program: Command): void {
  program
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("afterAll", ({ command }) => {
      const lines = examplesOf(command);
      return lines.length === 0 ? "" : `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`.trimEnd();
    });
}

/** Once all commands are added: tells whoever has called one wrongly where to look. */
export function guideWrongUsage(command: Command, name = command.name()): void {
  command.showHelpAfterError(`See ${name} --help`);
  for (const child of command.commands) guideWrongUsage(child, `${name} ${child.name()}`);
}

function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? command.commands.flatMap((child) => examplesOf(child).slice(0, 1));
}
