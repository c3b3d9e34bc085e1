/*
 * The rules of a zone, as the tables of this Node.js have them. They come with Node.js and change with it: governments
 * put off summer time or do away with it, often with a few weeks' notice.
 */

/** How many milliseconds a wall clock is ahead of UTC, from an instant on: one after the other, from {@link RULES_FROM} on. */
export type ZoneRules = readonly (readonly [from: number, offset: number])[];

/** The rules that a database was used by, from when it was first opened by them. */
export interface RulesOnRecord {
  readonly since: number;
  readonly rules: ZoneRules;
}

/** The years for which rules are noted. In others, what this Node.js says always holds. */
export const RULES_FROM = Date.UTC(2000, 0, 1);
export const RULES_UNTIL = Date.UTC(2070, 0, 1);

const MINUTE_MS = 60_000;
/** Clocks that are changed for a month of fasting stay so for more than that. */
const STEP_MS = 7 * 24 * 60 * MINUTE_MS;
const OFFSET = /GMT([+-])([0-9]{2}):([0-9]{2})/;

const known = new Map<string, ZoneRules>();

/** Asks the tables some thousand times, which takes about a fiftieth of a second; after that, they stay what they are. */
export function zoneRulesOf(timeZone: string): ZoneRules {
  const rules = known.get(timeZone) ?? readRules(timeZone);
  known.set(timeZone, rules);
  return rules;
}

function readRules(timeZone: string): ZoneRules {
  const offsetAt = offsetReader(timeZone);
  const rules: [from: number, offset: number][] = [[RULES_FROM, offsetAt(RULES_FROM)]];
  let before = offsetAt(RULES_FROM);
  for (let from = RULES_FROM; from < RULES_UNTIL; from += STEP_MS) {
    const after = offsetAt(from + STEP_MS);
    if (after === before) continue;
    rules.push([firstMinute(from, from + STEP_MS, (at) => offsetAt(at) !== before), after]);
    before = after;
  }
  return rules;
}

/** The first at which something holds that does not hold at `from`, and does at `until`. */
function firstMinute(from: number, until: number, holds: (at: number) => boolean): number {
  let [no, yes] = [from, until];
  while (yes - no > MINUTE_MS) {
    const middle = Math.floor((no + yes) / 2 / MINUTE_MS) * MINUTE_MS;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** Many times faster than to ask for all that belongs to a time of the zone. */
function offsetReader(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset", year: "numeric" });
  return (at) => {
    const [, sign, hours, minutes] = OFFSET.exec(format.format(at)) ?? [];
    const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
    return sign === "-" ? -ahead : ahead;
  };
}

export function offsetsOf(rules: ZoneRules): ReadonlySet<number> {
  return new Set(rules.map(([, offset]) => offset));
}

export function areSameRules(a: ZoneRules, b: ZoneRules): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Reads what JSON makes of rules; undefined for anything else. */
export function readZoneRules(text: string): ZoneRules | undefined {
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isChange = (each: unknown) => Array.isArray(each) && each.length === 2 && each.every(Number.isSafeInteger);
  return Array.isArray(rules) && rules.length > 0 && rules.every(isChange)
    ? (rules as unknown as ZoneRules)
    : undefined;
}
