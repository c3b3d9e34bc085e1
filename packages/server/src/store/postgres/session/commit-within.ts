/**
 * PostgreSQL limits how long it waits for the next statement, and how long it works on one. But between the parts of the
 * messages that make up one statement it waits, before version 17, without any limit, and a network may deliver the last
 * of them at any time. So whether it is too late is asked with the commit, in one message, and fails if it is. A time that
 * has passed is read from one clock, PostgreSQL's own.
 */
export function commitWithin(ms: number): string {
  return `SELECT 1 / (clock_timestamp() < transaction_timestamp() + ${ms} * interval '1 millisecond')::int; COMMIT`;
}
