import { InvalidArgumentError, Option } from "commander";
import { ENVIRONMENTS } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { readDay } from "../../domain/zone.ts";
import type { Store } from "../../store/store.ts";
import { WrongUsage } from "./runtime.ts";

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
  limit: (most: number) => flags.number("--limit <NUMBER>", "how many at most", most).default(50),
  /** May be given again. */
  list: (flag: string, description: string, none: string) =>
    new Option(flag, `${description}; may be given again`)
      .argParser((text: string, former: readonly string[]) => [...former, text])
      .default([], none),
  days: () => [
    new Option("--from <DAY>", "from this day on, YYYY-MM-DD in the provider's zone"),
    new Option("--to <DAY>", "up to and with this day"),
  ],
  expires: (otherwise: string) =>
    new Option(
      "--expires <DAY>",
      `last day of a production token, YYYY-MM-DD in the provider's zone (unless given, ${otherwise})`,
    ),
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

export interface DayFlags {
  readonly from?: string;
  readonly to?: string;
}

/** In the provider's zone; `until` is the end of the last day. */
export function readDays({ from, to }: DayFlags, store: Store) {
  if (from !== undefined && to !== undefined && from > to)
    throw new WrongUsage(`--to is before --from: try --from ${to} --to ${from}`);
  return { from: dayOf("--from", from, store)?.start, until: dayOf("--to", to, store)?.end };
}

/** The token is valid on the whole of its last day. */
export function readExpiry(expires: string | undefined, store: Store, now: Instant): Instant | undefined {
  const expiresAt = dayOf("--expires", expires, store)?.last;
  if (expiresAt !== undefined && expiresAt <= now) throw new WrongUsage("--expires must be in the future");
  return expiresAt;
}

function dayOf(flag: string, text: string | undefined, { provider: { zone } }: Store) {
  const day = text === undefined ? undefined : readDay(text, zone);
  if (text === undefined || day !== undefined) return day;
  throw new WrongUsage(`${flag} must be a day such as 2026-11-20, but is ${JSON.stringify(text)}`);
}

/** A file's format, as its name says it; the other one is NDJSON. */
export function isCsv(file: string | undefined): boolean {
  return file?.toLowerCase().endsWith(".csv") === true;
}
