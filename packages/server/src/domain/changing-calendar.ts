import { type Calendar, createCalendar, type Instant } from "./calendar.ts";
import { addToWallClock, isPlain, readWallClock, wholeMonthsAndDays, writeWallClock } from "./wall-clock.ts";
import { DAY_MS, ZoneOffsets } from "./zone-offsets.ts";
import { offsetsOf, RULES_FROM, RULES_UNTIL, type RulesOnRecord } from "./zone-rules.ts";

/*
 * What comes of a zone whose rules have changed while a database was in use. What was written by the rules of before is
 * what customers and partners were told, so it stands:
 *
 * - A time that was past when the new rules came is written and read by the old ones, for ever. A top-up keeps its
 *   txnDate, and a day that is over keeps its top-ups.
 * - A time that was still to come is written and read by the new ones.
 * - A ledger's entry counts as it did when it was made, by the rules that were known then: asOf(grant.at).
 */

/** Of rules that come within so long of a time, it may read by these and by those of before. No zone is farther from UTC. */
const READ_WITHIN_MS = 2 * DAY_MS;

/**
 * @param record all rules that the database has known, oldest first. The last are those of this Node.js.
 * @returns just what {@link createCalendar} makes where the rules have never changed.
 */
export function createChangingCalendar(timeZone: string, record: readonly RulesOnRecord[]): Calendar {
  const today = createCalendar(timeZone);
  if (record.length < 2) return today;
  const offsets = new ZoneOffsets(timeZone);
  const lastOfEach = lastOfEachIn(record);
  const calendars = record.map((_, index) => createCalendarOf(record.slice(0, index + 1), index < record.length - 1));
  return calendars.at(-1) as Calendar;

  /** @param isFormer whether the last of these rules are no longer those of this Node.js. */
  function createCalendarOf(known: readonly RulesOnRecord[], isFormer: boolean): Calendar {
    const offsetAt = (instant: Instant): number => {
      const index = indexAt(known, instant);
      const isToday = index === record.length - 1 || instant < RULES_FROM || instant >= RULES_UNTIL;
      return isToday ? offsets.at(instant) : offsetBy(known[index] as RulesOnRecord, instant);
    };
    const format = (instant: Instant) =>
      isPlain(instant) ? writeWallClock(instant + offsetAt(instant)) : today.format(instant);
    /** Which may read it, each in its own way: of the same rules from before it, the last do as all of them. */
    const calendarsAround = (instant: Instant) => {
      const before = indexAt(known, instant - READ_WITHIN_MS);
      const between = indexAt(known, instant + READ_WITHIN_MS) - before;
      const places = [...lastOfEach(before), ...Array.from({ length: between }, (_, index) => before + 1 + index)];
      return places.map((index) => calendars[index] as Calendar);
    };
    const readingsBy = (instant: Instant, by: Calendar): Instant[] => {
      if (by === calendar || !isPlain(instant)) return [instant];
      const rest = instant - Math.floor(instant / 1000) * 1000;
      // One that clocks skip is read as this one too.
      const offsetsNear = new Set([offsetAt(instant), offsetAt(instant - DAY_MS)]);
      const written = [...offsetsNear].map((offset) => instant - rest + offset);
      const isRead = (wallClock: number, index: number) =>
        index === 0 || instantOf(wallClock, offsetAt) === instant - rest;
      return written.filter(isRead).map((each) => (by.parse(writeWallClock(each)) ?? instant - rest) + rest);
    };
    const calendar: Calendar = {
      timeZone,
      last: today.last,
      record: known,
      asOf: (at) => calendars[indexAt(known, at)] ?? calendar,
      readings: (instant) => [
        ...new Set([instant, ...calendarsAround(instant).flatMap((each) => readingsBy(instant, each))]),
      ],
      readingsAt: (instant, at) => readingsBy(instant, calendar.asOf(at)),
      endings(start, span) {
        const end = calendar.add(start, span);
        const all = new Set([...calendarsAround(start), ...calendarsAround(end)]);
        const counted = calendar.readings(start).flatMap((each) => [...all].map((by) => by.add(each, span)));
        return [...new Set([end, ...calendar.readings(end), ...counted])];
      },
      offsets: () =>
        new Set([...known.flatMap(({ rules }) => [...offsetsOf(rules)]), ...(isFormer ? [] : today.offsets())]),
      add(start, { months, days, seconds }) {
        if (months === 0 && days === 0) return start + seconds * 1000;
        const end = isPlain(start) ? addToWallClock(start + offsetAt(start), months, days) : undefined;
        if (end === undefined || !isPlain(end)) return today.add(start, { months, days, seconds });
        return instantOf(end, offsetAt) + seconds * 1000;
      },
      between(start, end) {
        if (!isPlain(start) || !isPlain(end) || end < start) return today.between(start, end);
        const [from, to] = [start + offsetAt(start), end + offsetAt(end)];
        // A day of 25 hours may be none that is over.
        for (const until of [to, to - DAY_MS]) {
          if (until < from) continue;
          const { months, days } = wholeMonthsAndDays(from, until);
          const reached = calendar.add(start, { months, days, seconds: 0 });
          if (reached <= end) return { months, days, seconds: (end - reached) / 1000 };
        }
        return { months: 0, days: 0, seconds: (end - start) / 1000 };
      },
      format,
      parse(text) {
        const wallClock = readWallClock(text);
        if (wallClock === undefined) return undefined;
        return isPlain(wallClock) ? instantOf(wallClock, offsetAt) : today.parse(text);
      },
    };
    return calendar;
  }
}

/** Which rules were known at a time; of one from before them all, the first. Where two Nodes take turns, there are many. */
function indexAt(known: readonly RulesOnRecord[], instant: Instant): number {
  let [first, beyond] = [0, known.length];
  while (beyond - first > 1) {
    const middle = (first + beyond) >> 1;
    if ((known[middle] as RulesOnRecord).since <= instant) first = middle;
    else beyond = middle;
  }
  return first;
}

/** The places of rules that differ, each once, up to a place: the last of the same. */
function lastOfEachIn(record: readonly RulesOnRecord[]): (upTo: number) => readonly number[] {
  const texts = record.map(({ rules }) => JSON.stringify(rules));
  const known = new Map<number, readonly number[]>();
  return (upTo) => {
    const places = known.get(upTo) ?? [
      ...new Map(texts.slice(0, upTo + 1).map((text, index) => [text, index])).values(),
    ];
    known.set(upTo, places);
    return places;
  };
}

function offsetBy({ rules }: RulesOnRecord, instant: Instant): number {
  const [, offset] = rules.findLast(([from]) => from <= instant) ?? (rules[0] as readonly [number, number]);
  return offset;
}

/** As Temporal has it: the first of two where clocks repeat a time, and the same stretch later where they skip it. */
function instantOf(wallClock: number, offsetAt: (instant: Instant) => number): Instant {
  const before = offsetAt(wallClock - DAY_MS);
  const around = [before, offsetAt(wallClock + DAY_MS), offsetAt(wallClock - before)];
  const meant = around.map((offset) => wallClock - offset).filter((each) => each + offsetAt(each) === wallClock);
  return meant.length > 0 ? Math.min(...meant) : wallClock - before;
}
