import { type Argument, type Command, Option } from "commander";
import type { Config, SettingName } from "../../config.ts";
import type { Actor } from "../../office/office.ts";
import { jsonLine } from "../../office/text.ts";
import type { Ports } from "../../store/ports.ts";
import { examples } from "./help.ts";
import { type Runtime, WrongUsage } from "./runtime.ts";
import { addSettings, configOf, STORE_SETTINGS, withStore } from "./settings.ts";

interface CommandParts<Options, Given> {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly examples: readonly [string, ...string[]];
  /** Whether it can print its data as JSON; it can unless this says otherwise. */
  readonly json?: boolean;
  /** Those of the database unless this says otherwise. */
  readonly settings?: readonly SettingName[];
  /** @param words the arguments. */
  readonly run: (given: Given, words: readonly string[], options: Options) => Promise<void>;
}

/** What every command works with. */
export interface Context {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly isJson: boolean;
  /** Prints data as one line of JSON where that was asked for, otherwise words. */
  readonly show: (data: unknown, words: string) => void;
  /** The same, with a line of JSON for each row. */
  readonly showRows: (rows: readonly unknown[], words: () => string) => void;
}

/** What a command works with that works on the database. */
export interface Session extends Context, DeskSession {}

/** What a command gives operations. */
export interface DeskSession extends Pick<Ports, "store" | "clock" | "random"> {
  readonly actor: Actor;
  readonly runtime: Runtime;
}

interface StoreCommandParts<Options> extends CommandParts<Options, Session> {
  /** Whether it changes something, and names in the audit trail who did: then `--as` can be given. */
  readonly changes?: boolean;
  /** Whether it makes the database where there is none. */
  readonly makesDatabase?: (options: Options) => boolean;
}

export function addStoreCommand<Options extends object>(
  parent: Command,
  runtime: Runtime,
  parts: StoreCommandParts<Options>,
): Command {
  const as = new Option(
    "--as <NAME>",
    "who stands in the audit trail for it (default: your user name here, also by sudo)",
  );
  return addCommand<Options & { readonly as?: string }>(parent, runtime, {
    ...parts,
    options: [...(parts.options ?? []), ...(parts.changes === true ? [as] : [])],
    async run(context, words, options) {
      const { clock, random } = runtime;
      const actor = actorOf(runtime, options.as);
      const mustExist = parts.makesDatabase?.(options) !== true;
      await withStore(context.config, runtime, { mustExist }, (store) =>
        parts.run({ ...context, store, clock, random, actor }, words, options),
      );
    },
  });
}

/** Commands are run as the service's user, which is all the same for everybody: sudo tells who that was. */
export function actorOf({ env, userName }: Runtime, as?: string): Actor {
  if (as?.trim() === "") throw new WrongUsage("--as must be a name");
  return { name: as ?? (env["SUDO_USER"] || userName()) };
}

export function addCommand<Options extends object>(
  parent: Command,
  runtime: Runtime,
  parts: CommandParts<Options, Context>,
): Command {
  const { settings = STORE_SETTINGS } = parts;
  const command = parent.command(parts.name).description(parts.description);
  for (const argument of parts.arguments ?? []) command.addArgument(argument);
  for (const option of parts.options ?? []) command.addOption(option);
  if (parts.json !== false) command.option("--json", "print the data as JSON");
  examples(command, parts.examples);
  return addSettings(command, settings).action(async (...given: unknown[]) => {
    const options = command.opts<Options & { readonly json?: boolean }>();
    const isJson = options.json === true;
    const context: Context = {
      ...{ runtime, config: configOf(command, runtime), isJson },
      show: (data, words) => runtime.stdout(isJson ? jsonLine(data) : words),
      showRows: (rows, words) => runtime.stdout(isJson ? rows.map(jsonLine).join("") : words()),
    };
    await parts.run(context, given.slice(0, -2) as string[], options);
  });
}

export function addGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

/** The group of this name, which is there. */
export function groupNamed(parent: Command, name: string): Command {
  return parent.commands.find((each) => each.name() === name) ?? addGroup(parent, name, name);
}
