import type { Naming, Refused } from "../../office/refused.ts";
import { printable, shellWord } from "../../office/text.ts";
import { CommandFailed, WrongUsage } from "./runtime.ts";

export const flagOf = (field: string): string => `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Names inputs as a command line does. @param names of the arguments. */
export function namingOf(names: readonly string[] = []): Naming {
  return (field, value = "") =>
    names.includes(field) ? field.toUpperCase() : `${flagOf(field)} ${value && shellWord(value)}`.trim();
}

/** Words a refusal: wrong usage if it is of an input. @param inputs by name (default: all); others are lines of a file. */
export function refusalOf({ problems, words }: Refused, naming: Naming, inputs?: object): Error {
  const isUsage = problems.some(({ field }) => inputs === undefined || field in inputs);
  const lines = problems.map(({ field, problem }) => `${isUsage ? naming(field) : field} ${problem}`);
  const text = [...lines, ...words(naming).split("\n")].filter((line) => line !== "");
  const message = text.map(printable).join("\n");
  return isUsage ? new WrongUsage(message) : new CommandFailed(message);
}
