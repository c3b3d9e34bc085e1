import type { Calendar, Instant } from "../../src/domain/calendar.ts";
import { createChangingCalendar } from "../../src/domain/changing-calendar.ts";
import { zoneRulesOf } from "../../src/domain/zone-rules.ts";

/*
 * One zone before and after a change of its rules, as two that agree but for a stretch of the year: Paraguay has given
 * up winter time, which Chile still has. From April to September, the one is three hours behind UTC and the other four.
 */
export const BEFORE = "America/Santiago";
export const AFTER = "America/Asuncion";

/** The calendar of a database that was used by the rules of before until a time, and is by those of after since. */
export function changedAt(since: Instant): Calendar {
  return createChangingCalendar(AFTER, [
    { since: 0, rules: zoneRulesOf(BEFORE) },
    { since, rules: zoneRulesOf(AFTER) },
  ]);
}
