/*
 * The rows of a user: `Expiration` and, while rejected, `Auth-Type := Reject` in radcheck, and one of the managed groups
 * in radusergroup. All other rows belong to others.
 */

/** The wanted state of a user. */
export interface RadiusUser {
  readonly username: string;
  /** Whether all logins are rejected. */
  readonly rejected: boolean;
  /** Undefined means unchanged. `none`: the user never ends. */
  readonly expiration: Expiration | "none" | undefined;
  /** A managed group; undefined means unchanged. */
  readonly group: string | undefined;
}

interface Expiration {
  /** Milliseconds since 1970. A later time than FreeRADIUS can count is its last. */
  readonly end: number;
  /** Whether a stored end that is earlier counts as right. */
  readonly mayBeEarlier: boolean;
}

/** `username`: only the user's name in other case exists. Such a difference is never written. */
type RowKind = "Expiration" | "Auth-Type" | "group" | "username";

/** A row of radcheck or radusergroup that can be written. */
export interface UserRow {
  /** Undefined in radusergroup, since older databases have no id there. */
  readonly id: number | undefined;
  readonly kind: RowKind;
  readonly value: string;
}

/** Rows of one kind that differ from the wanted state. */
export interface RowDifference {
  readonly username: string;
  readonly kind: RowKind;
  readonly found: readonly UserRow[];
  /** Wanted value of the single row; undefined if there must be none. */
  readonly wanted: string | undefined;
  /** The row to update; undefined if a row must be added, also to replace rows without ids. */
  readonly kept: UserRow | undefined;
}

export const REJECT = "Reject";

/** FreeRADIUS counts seconds in 32 bits, up to February 2106. */
const LAST_EXPIRATION = (2 ** 32 - 1) * 1000;

/** @param rows all rows of the user, oldest first. @param format see expirationFormat. */
export function rowDifferences(
  { username, rejected, expiration, group }: RadiusUser,
  rows: readonly UserRow[],
  format: (end: number) => string,
): RowDifference[] {
  const compare = (kind: RowKind, wanted: string | undefined, isAlsoGood = (_: string) => false) => {
    const found = rows.filter((row) => row.kind === kind);
    const areGood = found.every(({ value }) => value === wanted || isAlsoGood(value));
    if (areGood && found.length === (wanted === undefined ? 0 : 1)) return [];
    // The oldest is always kept, so that two concurrent fixes do not delete each other's row.
    const [oldest, another] = found;
    const hasId = oldest?.id !== undefined || another === undefined;
    const kept = wanted !== undefined && hasId ? oldest : undefined;
    return [{ username, kind, found, wanted, kept }];
  };
  const ends = expiration === "none" ? undefined : expiration;
  const end = ends && format(ends.end);
  const isEarlier = (value: string) => ends?.mayBeEarlier === true && readExpiration(value) < readExpiration(end);
  return [
    ...(expiration === undefined ? [] : compare("Expiration", end, isEarlier)),
    ...compare("Auth-Type", rejected ? REJECT : undefined),
    ...(group === undefined ? [] : compare("group", group)),
  ];
}

/** FreeRADIUS's format: `23 Nov 2026 14:03:00`, on the clock of its server. @param timeZone IANA name of the clock's zone. */
export function expirationFormat(timeZone: string): (end: number) => string {
  const twoDigits = { day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, ...twoDigits, month: "short", year: "numeric", hourCycle: "h23" },
  });
  return (end) => {
    const parts = format.formatToParts(Math.min(end, LAST_EXPIRATION)).map(({ type, value }) => [type, value]);
    const { day, month, year, hour, minute, second } = Object.fromEntries(parts);
    return `${day} ${month} ${year} ${hour}:${minute}:${second}`;
  };
}

/** Milliseconds on the server's clock; NaN if the text has another of FreeRADIUS's formats. */
function readExpiration(text = ""): number {
  return /^\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
