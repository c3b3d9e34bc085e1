import type { Calendar } from "../../src/domain/calendar.ts";
import { createChangingCalendar } from "../../src/domain/changing-calendar.ts";
import { type ZoneRules, zoneRulesOf } from "../../src/domain/zone-rules.ts";
import { at } from "./builders.ts";
import { AFTER, BEFORE } from "./two-rules.ts";

/* Zones whose rules have changed while a database was in use. */

export interface Place {
  readonly zone: string;
  /** Rules that a Node.js had, and from when on: the last are those of this one. */
  readonly rules: readonly (readonly [since: string, rules: ZoneRules])[];
  /** The first day of the stories. */
  readonly from: string;
}

/** The rules of a zone as they were known before all that is decreed from a day on. */
const until = (zone: string, day: string) => zoneRulesOf(zone).filter(([from]) => from < at(day));

const [SANTIAGO, ASUNCION] = [zoneRulesOf(BEFORE), zoneRulesOf(AFTER)];
const since = (...all: readonly (readonly [string, ZoneRules])[]) => all;

export const PLACES: Readonly<Record<string, Place>> = {
  "winter time is given up": {
    ...{ zone: AFTER, from: "2026-04-20" },
    rules: since(["1970-01-01", SANTIAGO], ["2026-07-11T12:34:56Z", ASUNCION]),
  },
  "winter time comes": {
    ...{ zone: BEFORE, from: "2026-04-20" },
    rules: since(["1970-01-01", ASUNCION], ["2026-07-11T12:34:56Z", SANTIAGO]),
  },
  "winter time is given up, kept, and given up": {
    ...{ zone: AFTER, from: "2026-04-20" },
    rules: since(
      ["1970-01-01", SANTIAGO],
      ["2026-06-11T12:34:56Z", ASUNCION],
      ["2026-07-21T12:34:56Z", SANTIAGO],
      ["2026-08-09T12:34:56Z", ASUNCION],
    ),
  },
  "the date line is moved": {
    ...{ zone: "Pacific/Apia", from: "2011-09-20" },
    rules: since(
      ["1970-01-01", until("Pacific/Apia", "2011-12-01")],
      ["2011-11-20T12:34:56Z", zoneRulesOf("Pacific/Apia")],
    ),
  },
  "clocks are set half an hour back, and forward again": {
    ...{ zone: "Asia/Pyongyang", from: "2015-05-20" },
    rules: since(
      ["1970-01-01", until("Asia/Pyongyang", "2015-08-01")],
      ["2015-08-10T12:34:56Z", until("Asia/Pyongyang", "2018-01-01")],
      ["2015-11-10T12:34:56Z", until("Asia/Pyongyang", "2015-08-01")],
      ["2016-01-10T12:34:56Z", zoneRulesOf("Asia/Pyongyang")],
    ),
  },
  "summer time stays": {
    ...{ zone: "Europe/Istanbul", from: "2016-07-20" },
    rules: since(
      ["1970-01-01", zoneRulesOf("Europe/Athens")],
      ["2016-09-20T12:34:56Z", zoneRulesOf("Europe/Istanbul")],
    ),
  },
  "the standard is set half an hour forward": {
    ...{ zone: "America/Caracas", from: "2016-01-20" },
    rules: since(
      ["1970-01-01", until("America/Caracas", "2016-01-01")],
      ["2016-04-20T12:34:56Z", zoneRulesOf("America/Caracas")],
    ),
  },
};

export function calendarOf({ zone, rules }: Place): Calendar {
  return createChangingCalendar(
    zone,
    rules.map(([from, its]) => ({ since: at(from), rules: its })),
  );
}
