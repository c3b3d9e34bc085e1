import type { Command, HelpConfiguration, Option } from "commander";
import { wrap } from "./words/text.ts";

const EXAMPLES = new WeakMap<Command, readonly string[]>();
/** Flags that must be there. */
const NEEDED = new WeakSet<Option>();

/** Command lines that the command's help ends with; that of a group of commands takes the first of each. */
export function examples<Added extends Command>(command: Added, lines: readonly [string, ...string[]]): Added {
  EXAMPLES.set(command, lines);
  return command;
}

/** Gives a program, before its commands are added, and with it all of them, the look that topupd's helps have. */
export function layOutHelp(program: Command): Command {
  return program
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .configureHelp(LAYOUT)
    .addHelpText("afterAll", ({ command }) => {
      const lines = examplesOf(command);
      return lines.length === 0 ? "" : `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`.trimEnd();
    });
}

/**
 * Once all commands are added: lets whoever has called one wrongly see how it is called. A flag that must be there is
 * missed only after all else is in order: one that was misspelt is better told so.
 */
export function guideWrongUsage(program: Command): void {
  forEachCommand(program, (command) => {
    for (const option of command.options.filter(({ mandatory }) => mandatory)) {
      NEEDED.add(option);
      option.makeOptionMandatory(false);
    }
    command.showHelpAfterError(`${wrap(`Usage: ${usage(command)}`, "", "    ")}See ${fullName(command)} --help`);
  });
  program.hook("preAction", (_program, command) => {
    const missing = command.options.find(
      (option) => NEEDED.has(option) && command.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}

function forEachCommand(command: Command, work: (command: Command) => void): void {
  work(command);
  for (const child of command.commands) forEachCommand(child, work);
}

const LAYOUT: HelpConfiguration = {
  // Without the word and colon that the usage follows on its line.
  commandUsage: (command) =>
    wrap(`Usage: ${usage(command)}`, "", "    ")
      .slice("Usage: ".length)
      .trimEnd(),
  subcommandTerm: (command) => [command.name(), ...argumentsOf(command)].join(" "),
  optionDescription: describeOption,
};

/** As commander has it, with the flags that must be there. */
function usage(command: Command): string {
  if (command.commands.length > 0) return `${fullName(command)} <COMMAND>`;
  const needed = command.options.filter((option) => NEEDED.has(option)).map(({ flags }) => flags);
  return [fullName(command), ...argumentsOf(command), ...needed, "[options]"].join(" ");
}

function argumentsOf(command: Command): string[] {
  return command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
}

/** As commander has it, without quotes and with a less formal word for choices. */
function describeOption({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const notes = [
    ...(argChoices === undefined ? [] : [either(argChoices)]),
    ...(defaultValue === undefined ? [] : [`default: ${defaultValueDescription ?? String(defaultValue)}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join(", ")})`;
}

function either(choices: readonly string[]): string {
  return choices.join(", ").replace(/, ([^,]*)$/, " or $1");
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? command.commands.flatMap((child) => examplesOf(child).slice(0, 1));
}
