import { dayBefore, firstOfMonth, plus } from "./wall-time.ts";

const MONTHS = 13;

/** The days that people choose from. `months`: the last 13 with this one, newest first. */
export function calendarOf(today: string) {
  const months = [today.slice(0, 7)];
  while (months.length < MONTHS) months.push(dayBefore(`${months.at(-1)}-01`).slice(0, 7));
  const [yesterday, weekStart] = [dayBefore(today), plus(`${today} 00:00:00`, { months: 0, days: -6 }).slice(0, 10)];
  const lastOfMonth = dayBefore(firstOfMonth(today));
  return {
    today,
    months,
    presets: {
      today: { from: today, to: today },
      yesterday: { from: yesterday, to: yesterday },
      week: { from: weekStart, to: today },
      month: { from: firstOfMonth(today), to: today },
      lastMonth: { from: firstOfMonth(lastOfMonth), to: lastOfMonth },
    },
  };
}
