import type { Instant } from "../../../domain/calendar.ts";
import type { Prepared, Query } from "./session.ts";

/*
 * A commit that waits for a synchronous standby, or for a disk that stands still, is on record once that is over, whoever
 * has left its session meanwhile; until then nobody sees what it wrote. It holds its locks as long. Another user's
 * transactions do not show when they were begun: they may be as old. How long ago that was is read from PostgreSQL's own
 * clock alone, which may differ from topupd's.
 */
const OPEN_WRITES: Prepared = {
  name: "open_writes",
  text: `SELECT FROM pg_stat_activity AS a WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_xid IS NOT NULL AND coalesce(xact_start, '-infinity') < clock_timestamp() - $1::bigint * interval '1 millisecond'
    AND EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.mode = 'RowExclusiveLock'
      AND l.relation IN ('top_up'::regclass, 'reversal'::regclass)) LIMIT 1`,
};

/** Asks for a transaction that was begun before `until` and may yet commit what it wrote. */
export function openWritesBefore(until: Instant, now: Instant): Query {
  return [OPEN_WRITES, [now - until]];
}
