import { type Instant, isTimeZone } from "../../domain/calendar.ts";
import { areSameRules, type RulesOnRecord, readZoneRules, zoneRulesOf } from "../../domain/zone-rules.ts";
import { StoreRefused } from "../errors.ts";

/** A row of the table zone_rules. */
export interface ZoneRulesRow {
  readonly since: Instant;
  readonly time_zone: string;
  readonly rules: string;
}

export const ZONE_RULES = "SELECT since, time_zone, rules FROM zone_rules ORDER BY since";

/**
 * By what rules a database was used, with those of this Node.js, which are news where it was used by others until now.
 * @param rows what {@link ZONE_RULES} finds. Of another zone, they are from before the database was filled.
 * @returns the record, and the row that is still to be written; undefined where there is none.
 */
export function rulesOnRecord(rows: readonly ZoneRulesRow[], timeZone: string, now: Instant) {
  const record = rows.filter(({ time_zone }) => time_zone === timeZone).map(toRules);
  const rules = isTimeZone(timeZone) ? zoneRulesOf(timeZone) : [];
  const last = record.at(-1);
  if (last !== undefined && areSameRules(last.rules, rules)) return { record, news: undefined };
  // The clock of this machine may be behind that of the one before.
  const since = Math.max(now, ...rows.map((row) => row.since + 1));
  const news: ZoneRulesRow = { since, time_zone: timeZone, rules: JSON.stringify(rules) };
  return { record: [...record, { since, rules }], news };
}

function toRules({ since, rules: text }: ZoneRulesRow): RulesOnRecord {
  const rules = readZoneRules(text);
  if (rules !== undefined) return { since, rules };
  throw new StoreRefused(
    `the rules of the time zone that the database was used by from ${new Date(since).toISOString()} cannot be read (table zone_rules): restore a backup; nothing was written`,
  );
}
