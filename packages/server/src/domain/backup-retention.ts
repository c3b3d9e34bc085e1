import { type Instant, isoTime } from "./wall-time.ts";

/* Names of the backups that topupd makes by itself, and which of them it keeps. */

/** The name begins with the time in UTC, so that names sort by time. Its first parts are the day and the hour. */
const NAME = /^topupd-(\d{8})(T\d{2})\d{4}Z\.backup$/;
/** A backup whose writing was interrupted. */
const UNFINISHED = /^topupd-(\d{8})T\d{6}Z\.backup\.\w+\.part$/;

/** The name of a backup: `topupd-20261127T040000Z.backup`. */
export function backupName(at: Instant): string {
  return `topupd-${isoTime(at).replace(/[-:]|\.\d+/g, "")}.backup`;
}

/** The names of backups up to now among those of a folder, newest first. A clock that was ahead has dated the others. */
export function backupsAmong(names: readonly string[], now: Instant): string[] {
  const last = backupName(now);
  return names
    .filter((name) => NAME.test(name) && name <= last)
    .sort()
    .reverse();
}

export interface Retention {
  /** The newest backup of each of this many hours is kept. */
  readonly hours: number;
  /** The newest backup of each of this many days, in UTC, is kept. */
  readonly days: number;
}

/**
 * The names in a folder that are no longer kept. Only hours and days up to now that have a backup count, so that neither a
 * wrong clock nor a long pause deletes a backup. An interrupted backup is kept until a later day has a whole one.
 */
export function expiredBackups(names: readonly string[], { hours, days }: Retention, now: Instant): string[] {
  const backups = backupsAmong(names, now);
  const newestOf = (most: number, periodOf: (day: string, hour: string) => string) => {
    const newest = new Map<string, string>();
    for (const name of backups) {
      const [, day = "", hour = ""] = NAME.exec(name) ?? [];
      const period = periodOf(day, hour);
      if (!newest.has(period)) newest.set(period, name);
    }
    return [...newest.values()].slice(0, most);
  };
  const kept = new Set([...newestOf(hours, (day, hour) => day + hour), ...newestOf(days, (day) => day)]);
  const [, lastDay = ""] = NAME.exec(backups[0] ?? "") ?? [];
  const isForgotten = (name: string) => (UNFINISHED.exec(name)?.[1] ?? lastDay) < lastDay;
  return [...backups.filter((name) => !kept.has(name)), ...names.filter(isForgotten)];
}
