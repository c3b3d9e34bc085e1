import { InvalidArgumentError, Option } from "commander";
import { ENVIRONMENTS } from "../../domain/customer.ts";

/* What several commands can be told, and what it means. */

/** What commands of Unix call stdin or stdout by in the place of a file. */
export const STDIO = "-";

export const flags = {
  environment: (description = "of which customers") =>
    new Option("--environment <ENVIRONMENT>", description).choices(ENVIRONMENTS).default("production"),
  /** For every correction: who reads the audit trail in a year wants to know why. */
  reason: () =>
    new Option("--reason <TEXT>", "why, in a few words: it stays in the audit trail")
      .argParser(readReason)
      .makeOptionMandatory(),
  number: (flag: string, description: string, most: number) =>
    new Option(flag, `${description}, up to ${most}`).argParser((text) => readWholeNumber(text, most)),
  /** May be given again. */
  list: (flag: string, description: string, none: string) =>
    new Option(flag, `${description}; may be given again`)
      .argParser((text: string, former: readonly string[]) => [...former, text])
      .default([], none),
};

/** One line of text that says something, and that a list shows whole. Some scripts join letters by marks of no width. */
const REASON = /^(?=.*\S)(?:[^\p{C}]|[\u200c\u200d]){1,200}$/u;

function readReason(reason: string): string {
  if (REASON.test(reason)) return reason.trim();
  throw new InvalidArgumentError('It must be one line of 1 to 200 characters, such as "paid twice".');
}

function readWholeNumber(text: string, most: number): number {
  const number = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && number >= 1 && number <= most) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
}

/** A file's format, as its name says it; the other one is NDJSON. */
export function isCsv(file: string | undefined): boolean {
  return file?.toLowerCase().endsWith(".csv") === true;
}
