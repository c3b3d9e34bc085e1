/**
 * Adds months to a timestamp of the wire in UTC, clamped to the month's end: written anew, so that
 * campaigns do not hold the service's calendar against itself.
 */
export function addMonths(timestamp: string, months: number): string {
  const [year = 0, month = 0, day = 0] = timestamp.slice(0, 10).split("-").map(Number);
  const total = year * 12 + month - 1 + months;
  const [newYear, newMonth] = [Math.floor(total / 12), (total % 12) + 1];
  const isLeap = (newYear % 4 === 0 && newYear % 100 !== 0) || newYear % 400 === 0;
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const newDay = Math.min(day, lengths[newMonth - 1] as number);
  const digits = (value: number) => String(value).padStart(2, "0");
  return `${newYear}-${digits(newMonth)}-${digits(newDay)}${timestamp.slice(10)}`;
}
