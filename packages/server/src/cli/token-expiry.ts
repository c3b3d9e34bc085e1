import { Option } from "commander";
import { type Calendar, createCalendar, type Instant } from "../domain/calendar.ts";
import type { Environment } from "../domain/customer.ts";
import { WrongUsage } from "./runtime.ts";

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** When a new production token ends. @param otherwise what holds without it. */
export function expiresOption(otherwise: string): Option {
  return new Option(
    "--expires <DATE>",
    `last day on which a production token holds, YYYY-MM-DD in the provider's zone, or an ISO 8601 time (unless given, ${otherwise})`,
  );
}

/** For what can be said before the provider's zone is known. @throws WrongUsage for what is no date or time. */
export function checkExpiry(text: string | undefined): void {
  if (text !== undefined) parse(text, createCalendar("UTC"));
}

/** @throws WrongUsage where it is a trial token that is to end at another time than all do. */
export function refuseExpiryOf(environment: Environment | undefined, text: string | undefined): void {
  if (environment === "trial" && text !== undefined)
    throw new WrongUsage("--expires is for production tokens: a trial token always ends after 7 days");
}

/** A day counts to its end: the token holds until the next one begins. @throws WrongUsage where that is past. */
export function readExpiry(text: string, calendar: Calendar, now: Instant): Instant {
  const expiresAt = parse(text, calendar);
  if (expiresAt <= now) throw new WrongUsage("--expires must be in the future");
  return expiresAt;
}

function parse(text: string, calendar: Calendar): Instant {
  const day = calendar.parse(`${text} 00:00:00`);
  if (day !== undefined) return calendar.add(day, { months: 0, days: 1, seconds: 0 });
  const time = ISO_TIME.test(text) && isDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new WrongUsage("--expires must be a date such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z");
}

/** Date.parse would take 31 February for 3 March. */
function isDate(text: string): boolean {
  return createCalendar("UTC").parse(`${text} 00:00:00`) !== undefined;
}
