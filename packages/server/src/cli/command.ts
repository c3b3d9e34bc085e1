import { type Command, Option } from "commander";
import type { Config, SettingName } from "../config.ts";
import type { Actor, Ports } from "../services/ports.ts";
import { examples } from "./help.ts";
import { type Runtime, WrongUsage } from "./runtime.ts";
import { addSettings, configOf, STORE_SETTINGS, withStore } from "./settings.ts";

/** A command that works on the database. */
export interface StoreCommand<Options> {
  readonly name: string;
  readonly description: string;
  /** Such as `<ID>`, and what each is. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: readonly Option[];
  readonly examples: readonly [string, ...string[]];
  /** Whether it changes something, and names in the audit trail who did: then `--as` can be given. */
  readonly changes?: boolean;
  /** Whether it makes the database where there is none. */
  readonly makesDatabase?: (options: Options) => boolean;
  /** Whether it can print its data as JSON; it can unless this says otherwise. */
  readonly json?: boolean;
  readonly settings?: readonly SettingName[];
  /** @param words the arguments; those that were left out are undefined. */
  readonly run: (session: Session, words: readonly (string | undefined)[], options: Options) => Promise<void>;
}

/** What a command works with. */
export interface Session extends Pick<Ports, "store" | "clock" | "random"> {
  readonly runtime: Runtime;
  readonly actor: Actor;
  readonly config: Config;
}

export function addGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

export function addStoreCommand<Options extends object>(
  parent: Command,
  runtime: Runtime,
  what: StoreCommand<Options>,
): Command {
  const command = parent.command(what.name).description(what.description);
  for (const [term, description] of Object.entries(what.arguments ?? {})) command.argument(term, description);
  for (const option of what.options ?? []) command.addOption(option);
  if (what.changes === true)
    command.option("--as <NAME>", "who stands in the audit trail for it (default: your user name here, also by sudo)");
  if (what.json !== false) command.addOption(jsonOption());
  examples(command, what.examples);
  return addSettings(command, what.settings ?? STORE_SETTINGS).action(async (...given: unknown[]) => {
    const options = command.opts<Options & { readonly as?: string }>();
    const config = configOf(command, runtime);
    const { clock, random } = runtime;
    const session = { runtime, actor: actorOf(runtime, options.as), config, clock, random };
    const mustExist = what.makesDatabase?.(options) !== true;
    const words = given.slice(0, -2) as (string | undefined)[];
    await withStore(config, runtime, { mustExist }, (store) => what.run({ ...session, store }, words, options));
  });
}

export function jsonOption(): Option {
  return new Option("--json", "print the data as JSON");
}

/** Commands are run as the service's user, which is all the same for everybody: sudo tells who that was. */
function actorOf({ env, userName }: Runtime, as: string | undefined): Actor {
  if (as?.trim() === "") throw new WrongUsage("--as must be a name");
  return { name: as ?? (env["SUDO_USER"] || userName()) };
}
