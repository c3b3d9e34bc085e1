/** Value of `period` if days are chosen instead of a month. */
export const OTHER_DAYS = "days";

/** A month such as `2026-11`, or `days` with the first and last day. */
export interface Period {
  readonly period: string;
  readonly from: string;
  readonly to: string;
}

/** First and last day of a period: this month by default, and no future day. */
export function daysOf({ period, from, to }: Period, today: string): { readonly from: string; readonly to: string } {
  if (period === OTHER_DAYS) return { from: from || today, to: to || today };
  const month = period || today.slice(0, 7);
  const last = `${month}-${String(daysIn(month)).padStart(2, "0")}`;
  return { from: `${month}-01`, to: last < today || month > today ? last : today };
}

function daysIn(month: string): number {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
}
