import { Option } from "commander";
import { SERVICES, type Service } from "../domain/bouquet.ts";
import { type Calendar, createCalendar, type Instant } from "../domain/calendar.ts";
import type { Environment } from "../domain/customer.ts";
import { readDay } from "../domain/day-range.ts";
import { parseMoney } from "../domain/money.ts";
import { TRANSACTION_STATUSES, type TransactionStatus } from "../domain/top-up.ts";
import { isTransactionId } from "../domain/transaction-id.ts";
import type { TransactionFilter } from "../store/search.ts";
import type { Store } from "../store/store.ts";
import { CommandFailed, WrongUsage } from "./runtime.ts";

/** As commander hands them over. */
export interface FilterFlags {
  readonly environment: Environment;
  readonly from?: string;
  readonly to?: string;
  readonly partner?: string;
  readonly service?: Service;
  readonly cuid?: string;
  readonly reqId?: string;
  readonly udf1?: string;
  readonly udf2?: string;
  readonly amount?: string;
  readonly status?: TransactionStatus;
}

/** By what transactions are found, beside their environment. */
export function filterOptions(): Option[] {
  return [
    new Option("--from <DAY>", "from this day on, YYYY-MM-DD in the provider's zone"),
    new Option("--to <DAY>", "up to and with this day"),
    new Option("--partner <NAME>", "made by this partner"),
    new Option("--service <SERVICE>", "for this service").choices(SERVICES),
    new Option("--cuid <CUID>", "for this customer: the quickest question of all"),
    new Option("--req-id <REQID>", "for this set-top box number or username"),
    new Option("--udf1 <TEXT>", "with this udf1, the partner's own reference"),
    new Option("--udf2 <TEXT>", "with this udf2"),
    new Option("--amount <AMOUNT>", "of this amount, such as 1130 or 1130.50"),
    new Option("--status <STATUS>", "with this status").choices(TRANSACTION_STATUSES),
  ];
}

/** What the flags mean in the provider's zone and currency. */
export async function readFilter(store: Store, flags: FilterFlags): Promise<TransactionFilter> {
  const { environment, service, cuid, reqId, udf1, udf2, status } = flags;
  const partnerId = await readPartner(store, flags.partner);
  const amount = readAmount(flags.amount, store.provider.currencyExponent);
  const days = readDays(flags, store.provider.calendar);
  return { environment, partnerId, service, cuid, reqId, udf1, udf2, amount, status, ...days };
}

/** @throws WrongUsage where a day does not exist, or the last is before the first. */
export function readDays(
  { from, to }: Pick<FilterFlags, "from" | "to">,
  calendar: Calendar = createCalendar("UTC"),
): { readonly from: Instant | undefined; readonly until: Instant | undefined } {
  const day = (flag: string, text: string) => {
    const found = readDay(text, calendar);
    if (found === undefined) throw new WrongUsage(`${flag} must be a day such as 2026-11-20, but is ${quote(text)}`);
    return found;
  };
  const first = from === undefined ? undefined : day("--from", from).start;
  const until = to === undefined ? undefined : day("--to", to).end;
  // As texts: there are days that a zone has left out.
  if (from !== undefined && to !== undefined && from > to)
    throw new WrongUsage(`--to is before --from: try --from ${to} --to ${from}`);
  return { from: first, until };
}

export function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || isTransactionId(text)) return text;
  throw new WrongUsage(`--cursor must be the txnId of the last top-up that was listed, but is ${quote(text)}`);
}

/** @returns the partner's number. @throws CommandFailed where there is none of this name. */
export async function readPartner(store: Store, name: string | undefined): Promise<number | undefined> {
  if (name === undefined) return undefined;
  const partner = await store.findPartner(name);
  if (partner === undefined)
    throw new CommandFailed(`there is no partner named ${name}: topupd partner list shows those that there are`);
  return partner.id;
}

/** @throws WrongUsage where it is no amount of the currency. */
export function readAmount(text: string | undefined, currencyExponent: number): bigint | undefined {
  if (text === undefined) return undefined;
  const amount = parseMoney(text, currencyExponent);
  if (amount !== undefined) return amount;
  const decimals = currencyExponent === 0 ? "without decimals" : `with up to ${currencyExponent} decimals`;
  throw new WrongUsage(`--amount must be a plain number ${decimals}, such as 1130, but is ${quote(text)}`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
