/*
 * Days of the Gregorian calendar by plain integers: an import counts a million of them, and a Date for each
 * takes several times as long. The year is thought to begin in March, so that the leap day is its last.
 */

export interface CivilDate {
  readonly year: number;
  /** From 0, January. */
  readonly month: number;
  readonly day: number;
}

/** In 400 years the calendar comes round. */
const DAYS_IN_ERA = 146_097;
/** From 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468;
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days from 1970-01-01 to a day that exists. */
export function dayNumber(year: number, month: number, day: number): number {
  const yearFromMarch = month < 2 ? year - 1 : year;
  const era = Math.floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_IN_ERA + dayOfEra - DAYS_TO_1970;
}

/** The day that is so many days after 1970-01-01. */
export function civilDate(days: number): CivilDate {
  const fromMarch = days + DAYS_TO_1970;
  const era = Math.floor(fromMarch / DAYS_IN_ERA);
  const dayOfEra = fromMarch - era * DAYS_IN_ERA;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / (DAYS_IN_ERA - 1));
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (monthFromMarch + 2) % 12;
  const year = yearOfEra + era * 400 + (month < 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1 };
}

export function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && isLeap ? 29 : (DAYS_OF_MONTH[month] as number);
}
