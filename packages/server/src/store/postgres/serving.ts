import { ADDITIVE } from "../migrations.ts";

/*
 * Processes of different versions on one database. A session that serves holds a lock that an upgrade excludes, and then
 * reads which migrations there are: an upgrade either waits for it, or has ended.
 */

/** The first number of the locks, which are shared. The second is the number of migrations that the process knows. */
export const SERVING = 7_461_010;

/** Statement that takes the lock. @param known undefined for a session that does not serve. */
export function shareServing(known: number | undefined): string {
  return known === undefined ? "" : `SELECT pg_advisory_lock_shared(${SERVING}, ${known});`;
}

/** Expression for the number of migrations that a process which knows fewer cannot serve. */
export function foreignMigrations(known: number | undefined): string {
  if (known === undefined) return "0";
  return `(SELECT count(*) FROM schema_migration WHERE number > ${known} AND name NOT LIKE '%${ADDITIVE}')::int`;
}
