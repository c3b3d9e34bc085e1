import { Option } from "commander";
import { SERVICES, type Service } from "../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import { parseMoney } from "../domain/money.ts";
import { TRANSACTION_STATUSES, type TransactionStatus } from "../domain/top-up.ts";
import { DAY_MS, type Instant, readWallTime } from "../domain/wall-time.ts";
import { readDay } from "../domain/zone.ts";
import { findPartner } from "../services/staff/partners.ts";
import type { TransactionFilter } from "../store/search.ts";
import type { Store } from "../store/store.ts";
import { CommandFailed, WrongUsage } from "./runtime.ts";

/* Flags that several commands have; and what they mean. Whatever reads one throws WrongUsage where it means nothing. */

/** What commands of Unix call stdin or stdout by in the place of a file. */
export const STDIO = "-";

export const flags = {
  csv: () => new Option("--csv", "print the data as CSV").conflicts("json"),
  environment: (description = "of which customers") =>
    new Option("--environment <ENVIRONMENT>", description).choices(ENVIRONMENTS).default("production"),
  format: (fallback: string) =>
    new Option("--format <FORMAT>", `the file's format; if left out, ${fallback}`).choices(["ndjson", "csv"]),
  /** For every correction: who reads the audit trail in a year wants to know why. */
  reason: () => new Option("--reason <TEXT>", "why, in a few words: it stays in the audit trail").makeOptionMandatory(),
  limit: (most: number) => new Option("--limit <NUMBER>", `how many at most, up to ${most}`).default("50", "50"),
  /** May be given again. */
  list: (flag: string, description: string, none: string) =>
    new Option(flag, `${description}; may be given again`)
      .argParser((text: string, former: readonly string[]) => [...former, text])
      .default([], none),
  days: () => [
    new Option("--from <DAY>", "from this day on, YYYY-MM-DD in the provider's zone"),
    new Option("--to <DAY>", "up to and with this day"),
  ],
  /** Both are mandatory. */
  period: () => flags.days().map((option) => option.makeOptionMandatory()),
  /** By what transactions are found. */
  filter: () => [
    flags.environment(),
    ...flags.days(),
    new Option("--partner <NAME>", "made by this partner"),
    new Option("--service <SERVICE>", "for this service").choices(SERVICES),
    new Option("--cuid <CUID>", "for this customer: the quickest question of all"),
    new Option("--req-id <REQID>", "for this set-top box number or username"),
    new Option("--udf1 <TEXT>", "with this udf1, the partner's own reference"),
    new Option("--udf2 <TEXT>", "with this udf2"),
    new Option("--amount <AMOUNT>", "of this amount, such as 1130 or 1130.50"),
    new Option("--status <STATUS>", "with this status").choices(TRANSACTION_STATUSES),
  ],
  expires: (otherwise: string) =>
    new Option(
      "--expires <DATE>",
      `last day of a production token, YYYY-MM-DD in the provider's zone, or an ISO 8601 time (unless given, ${otherwise})`,
    ),
};

export interface DayFlags {
  readonly from?: string;
  readonly to?: string;
}

export interface FilterFlags extends DayFlags {
  readonly environment: Environment;
  readonly partner?: string;
  readonly service?: Service;
  readonly cuid?: string;
  readonly reqId?: string;
  readonly udf1?: string;
  readonly udf2?: string;
  readonly amount?: string;
  readonly status?: TransactionStatus;
}

/** As said, or as the file's name ends. */
export function isCsv(format: string | undefined, file: string | undefined): boolean {
  return format === undefined ? file?.toLowerCase().endsWith(".csv") === true : format === "csv";
}

/** One line of text that says something, and that a list shows whole. Some scripts join letters by marks of no width. */
const REASON = /^(?=.*\S)(?:[^\p{C}]|[\u200c\u200d]){1,200}$/u;

export function readReason(reason: string): string {
  if (REASON.test(reason)) return reason.trim();
  throw new WrongUsage('--reason must be one line of 1 to 200 characters, such as --reason "paid twice"');
}

/** From 1 to `most`. */
export function readWholeNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && number >= 1 && number <= most) return number;
  throw wrong(`${flag} must be a whole number from 1 to ${most}`, text);
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** Such as `0s`, `30m`, `24h` or `7d`. @returns milliseconds. */
export function readDuration(flag: string, text: string, mostDays: number): number {
  const [, number, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  if (ms <= mostDays * DAY_MS) return ms;
  throw wrong(`${flag} must be a time such as 0s, 30m, 24h or 7d, of up to ${mostDays}d`, text);
}

/** In the provider's zone; `until` is the end of the last day. */
export function readDays({ from, to }: DayFlags, { provider: { zone } }: Store) {
  const day = (flag: string, text: string | undefined) => {
    const found = text === undefined ? undefined : readDay(text, zone);
    if (text !== undefined && found === undefined) throw wrong(`${flag} must be a day such as 2026-11-20`, text);
    return found;
  };
  const days = { from: day("--from", from)?.start, until: day("--to", to)?.end };
  if (from !== undefined && to !== undefined && from > to)
    throw new WrongUsage(`--to is before --from: try --from ${to} --to ${from}`);
  return days;
}

export async function readFilter(store: Store, given: FilterFlags): Promise<TransactionFilter> {
  const { environment, service, cuid, reqId, udf1, udf2, status } = given;
  const [partnerId, amount] = [await readPartner(store, given.partner), readAmount(given.amount, store)];
  return { environment, partnerId, service, cuid, reqId, udf1, udf2, amount, status, ...readDays(given, store) };
}

/** @returns the partner's number. @throws CommandFailed where there is none of this name. */
export async function readPartner(store: Store, name: string | undefined): Promise<number | undefined> {
  const partner = name === undefined ? undefined : await findPartner({ store }, { name });
  if (name !== undefined && partner === undefined)
    throw new CommandFailed(`there is no partner named ${name}: topupd partner list shows those that there are`);
  return partner?.id;
}

export function readAmount(text: string | undefined, { provider: { currencyExponent } }: Store): bigint | undefined {
  const amount = text === undefined ? undefined : parseMoney(text, currencyExponent);
  if (text === undefined || amount !== undefined) return amount;
  const decimals = currencyExponent === 0 ? "without decimals" : `with up to ${currencyExponent} decimals`;
  throw wrong(`--amount must be a plain number ${decimals}, such as 1130`, text);
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A day counts to its end: the token holds until the next one begins. */
export function readExpiry(text: string, { provider: { zone } }: Store, now: Instant): Instant {
  // Date.parse would take 31 February for 3 March.
  const isDate = readWallTime(`${text.slice(0, 10)} 00:00:00`) !== undefined;
  const expiresAt = readDay(text, zone)?.end ?? (ISO_TIME.test(text) && isDate ? Date.parse(text) : Number.NaN);
  if (Number.isNaN(expiresAt))
    throw wrong("--expires must be a date such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z", text);
  if (expiresAt <= now) throw new WrongUsage("--expires must be in the future");
  return expiresAt;
}

function wrong(must: string, text: string): WrongUsage {
  return new WrongUsage(`${must}, but is ${JSON.stringify(text)}`);
}
