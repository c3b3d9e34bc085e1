import { type Argument, type Command, InvalidArgumentError, Option } from "commander";
import { type Config, readConfig, SETTING_NAMES, SETTINGS, type SettingName } from "../../config.ts";
import { ENVIRONMENTS } from "../../domain/customer.ts";
import type { Actor } from "../../office/office.ts";
import { jsonLine } from "../../office/text.ts";
import type { Ports } from "../../store/ports.ts";
import type { Store } from "../../store/store.ts";
import { WrongUsage } from "./failures.ts";
import type { Runtime, StoreOptions } from "./runtime.ts";

interface CommandParts<Options, Given> {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly examples: readonly [string, ...string[]];
  /** Whether the command has `--json` (default: true). */
  readonly json?: boolean;
  /** Settings that have a flag (default: those of the database). */
  readonly settings?: readonly SettingName[];
  /** @param words the arguments. */
  readonly run: (given: Given, words: readonly string[], options: Options) => Promise<void>;
}

/** Tools of every command. */
export interface Context {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly isJson: boolean;
  /** Prints data as one line of JSON with `--json`, otherwise as words. */
  readonly show: (data: unknown, words: string) => void;
  /** Prints rows as lines of JSON with `--json`, otherwise as words. */
  readonly showRows: (rows: readonly unknown[], words: () => string) => void;
}

/** Tools of a command that uses the database. */
export interface Session extends Context, DeskSession {}

/** The parts of a session that operations need. */
export interface DeskSession extends Pick<Ports, "store" | "clock" | "random"> {
  readonly actor: Actor;
  readonly runtime: Runtime;
  readonly config: Config;
}

interface StoreCommandParts<Options> extends CommandParts<Options, Session> {
  /** Whether the command changes data. It then has `--as`, the name for the audit trail. */
  readonly changes?: boolean;
  /** Whether the command creates a missing database. */
  readonly makesDatabase?: (options: Options) => boolean;
}

export function addStoreCommand<Options extends object>(
  parent: Command,
  runtime: Runtime,
  parts: StoreCommandParts<Options>,
): Command {
  const as = new Option("--as <NAME>", "name for the audit trail (default: your user name, also under sudo)");
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

/** Commands usually run as the service's user, by sudo, which names the person. */
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
  // A command may be there already, with others below it.
  const command = groupNamed(parent, parts.name).description(parts.description);
  for (const argument of parts.arguments ?? []) command.addArgument(argument);
  for (const option of parts.options ?? []) command.addOption(option);
  if (parts.json !== false) command.option("--json", "print the data as JSON");
  examples(command, parts.examples);
  return addSettings(command, settings).action(async (...given: unknown[]) => {
    const options = command.opts<Options & { readonly json?: boolean }>();
    const isJson = options.json === true;
    const context: Context = {
      runtime,
      config: configOf(command, runtime),
      isJson,
      show: (data, words) => runtime.stdout(isJson ? jsonLine(data) : words),
      showRows: (rows, words) => runtime.stdout(isJson ? rows.map(jsonLine).join("") : words()),
    };
    await parts.run(context, given.slice(0, -2) as string[], options);
  });
}

export function addGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

/** The group of this name, which exists. */
export function groupNamed(parent: Command, name: string): Command {
  return parent.commands.find((each) => each.name() === name) ?? addGroup(parent, name, name);
}

/** Options that several commands share. */
export const flags = {
  environment: (description: string) =>
    new Option("--environment <ENVIRONMENT>", description).choices(ENVIRONMENTS).default("production"),
  number: (flag: string, description: string, most: number) =>
    new Option(flag, `${description}, up to ${most}`).argParser((text) => readWholeNumber(text, most)),
  list: (flag: string, description: string, none: string) =>
    new Option(flag, `${description}; may be given again`)
      .argParser((text: string, previous: readonly string[]) => [...previous, text])
      .default([], none),
};

function readWholeNumber(text: string, most: number): number {
  const number = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && number >= 1 && number <= most) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
}

/** Settings of commands that only open the database. */
export const STORE_SETTINGS: readonly SettingName[] = ["database", "timeZone", "currencyExponent", "defaultCountry"];

export type Fallbacks = Readonly<Partial<Record<SettingName, string>>>;

/** Adds the flags of some settings to a command. */
export function addSettings(command: Command, names: readonly SettingName[], fallbacks: Fallbacks = {}): Command {
  for (const name of names) {
    const { flag, placeholder, description, fallback, env } = SETTINGS[name];
    const usual = fallbacks[name] ?? fallback;
    const notes = [...(usual === undefined ? [] : [`default: ${usual}`]), `env: ${env}`].join(", ");
    const option = new Option(`--${flag} <${placeholder}>`, `${description} (${notes})`);
    command.addOption(option.helpGroup("Settings:"));
  }
  return command;
}

/** Resolves all settings from a command's flags and the environment. */
export function configOf(command: Command, runtime: Runtime, fallbacks: Fallbacks = {}): Config {
  const options: Record<string, unknown> = command.opts();
  const given = SETTING_NAMES.flatMap((name) => {
    const value = options[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return readConfig(runtime.env, Object.fromEntries(given), fallbacks);
}

/** Opens the configured store for some work, and closes the store afterwards. */
export async function withStore<Result>(
  config: Config,
  runtime: Runtime,
  options: StoreOptions,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const onCopy = (path: string) => runtime.stderr(`Before the upgrade, the database was copied to ${path}.\n`);
  const store = await runtime.openStore(config, { onCopy, ...options });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Sets the command lines at the end of a command's help. A group shows the first one of each of its commands. */
export function examples(command: Command, lines: readonly [string, ...string[]]): void {
  EXAMPLES.set(command, lines);
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? command.commands.flatMap((child) => examplesOf(child).slice(0, 1));
}
