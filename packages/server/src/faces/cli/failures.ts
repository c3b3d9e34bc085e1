import { type Config, SETTINGS } from "../../config.ts";
import type { Naming, Refused } from "../../domain/refused.ts";
import { printable, shellWord } from "../../office/text.ts";

/* Failures of commands. The message of each is all that the operator sees. */

/** The command was not done (exit code 1). */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command was done, but found or left something wrong (exit code 3). */
export class FoundWrong extends Error {
  override readonly name = "FoundWrong";
}

/** The command line is wrong (exit code 2). */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

export const flagOf = (field: string): string => `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
/** The name of a value in helps: `OLDER-THAN`. */
export const placeholderOf = (field: string): string => flagOf(field).replace(/^-+/, "").toUpperCase();

/** Names inputs as a command line does. @param names inputs that are arguments. */
export function namingOf(names: readonly string[] = []): Naming {
  return (field, value = "") =>
    names.includes(field) ? placeholderOf(field) : `${flagOf(field)} ${value && shellWord(value)}`.trim();
}

/**
 * Words a refusal. It is wrong usage if an input caused it.
 * @param inputs inputs by name (default: all problems are of inputs); the other problems are of a file's lines.
 */
export function refusalOf({ problems, words }: Refused, naming: Naming, inputs?: object): Error {
  const isUsage = problems.some(({ field }) => inputs === undefined || field in inputs);
  const lines = problems.map(({ field, problem }) => `${isUsage ? naming(field) : field} ${problem}`);
  const text = [...lines, ...words(naming).split("\n")].filter((line) => line !== "");
  const message = text.map(printable).join("\n");
  return isUsage ? new WrongUsage(message) : new CommandFailed(message);
}

/** Whether it is the operating system's error about a file. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** @param cannot the use of the file that may fail, such as `be read`. @throws CommandFailed for a file error */
export async function withFile<Result>(file: string, cannot: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isFileError(error)) throw error;
    if (error.code === "EEXIST") throw new CommandFailed(`${file} exists already: name another file, or use --replace`);
    throw new CommandFailed(`${file} cannot ${cannot}: ${error.message}`);
  }
}

/** @throws CommandFailed that names the settings to change, if the address or port cannot be used. */
export async function listening<Result>(
  listened: Promise<Result>,
  config: Config,
  host: "host" | "metricsHost" | "consoleHost" | "counterHost",
  port: "port" | "metricsPort" | "consolePort" | "counterPort",
): Promise<Result> {
  try {
    return await listened;
  } catch (error) {
    const [byHost, byPort] = [SETTINGS[host], SETTINGS[port]];
    throw new CommandFailed(
      `cannot listen on ${config[host]}, port ${config[port]}: ${(error as Error).message}. Choose others with --${byHost.flag} or ${byHost.env}, --${byPort.flag} or ${byPort.env}`,
    );
  }
}
