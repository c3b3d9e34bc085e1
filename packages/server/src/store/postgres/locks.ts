import type { Query } from "./session.ts";

/*
 * Advisory locks. Their numbers mean something in topupd alone.
 */
const OPENING = 7_461_001;
const REFERENCE = 7_461_002;
const IMPORT = 7_461_003;
const AUDIT = 7_461_004;

/** One process at a time makes or migrates the database. */
export const LOCK_OPENING = lock("lock_opening", OPENING);
/** One session at a time changes partners, tokens, secrets or catalogues: few do, and they are numbered one by one. */
export const LOCK_REFERENCE = lock("lock_reference", REFERENCE);
/** One transaction at a time imports customers: new ones have no row yet that could be locked. */
export const LOCK_IMPORT = lock("lock_import", IMPORT);
/** One transaction at a time appends to the audit trail: each entry follows from the one before it. */
export const LOCK_AUDIT = lock("lock_audit", AUDIT);

function lock(name: string, number: number): Query {
  return [{ name, text: `SELECT pg_advisory_xact_lock(${number})` }];
}
