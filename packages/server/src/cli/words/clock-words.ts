import type { Calendar } from "../../domain/calendar.ts";
import type { ClockDoubt } from "../../domain/clock-doubt.ts";

const DOUBTS: Readonly<Record<ClockDoubt["kind"], string>> = {
  ahead: "The clock may be ahead. If it is right, and the service truly lay idle since,",
  behind: "The clock may be behind. If it is right, and the record was made by one that was not,",
  nothing_on_record: "Nothing tells whether that is so. If it is,",
};

/** Of a clock that what is on record speaks against, and what to do. */
export function clockDoubtWords(doubt: ClockDoubt, calendar: Calendar): string {
  return `${bothTimes(doubt, calendar)}. ${DOUBTS[doubt.kind]} add --clock-is-right; otherwise set it right first.`;
}

function bothTimes({ now, newest }: ClockDoubt, calendar: Calendar): string {
  const record = newest === undefined ? "nothing is on record" : `the newest record is of ${calendar.format(newest)}`;
  return `the clock of this machine says ${calendar.format(now)}, and ${record} (${calendar.timeZone})`;
}
