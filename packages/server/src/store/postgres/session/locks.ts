import type { Query } from "./session.ts";

/*
 * Advisory locks. Their numbers mean something in topupd alone.
 */
const OPENING = 7_461_001;
const REFERENCE = 7_461_002;
const IMPORT = 7_461_003;
const AUDIT = 7_461_004;
const RETIREMENT = 7_461_005;

/** One process at a time makes or migrates the database. */
export const LOCK_OPENING = lock("lock_opening", OPENING);
/** One session at a time changes partners, tokens, secrets or catalogues: few do, and they are numbered one by one. */
export const LOCK_REFERENCE = lock("lock_reference", REFERENCE);
/** One transaction at a time imports customers: new ones have no row yet that could be locked. */
export const LOCK_IMPORT = lock("lock_import", IMPORT);
/** One transaction at a time appends to the audit trail: each entry follows from the one before it. */
export const LOCK_AUDIT = lock("lock_audit", AUDIT);
/**
 * While top-ups of another topupd are put on record, no checkout is retired: whose customer is not here yet has no row
 * by which the two would hold each other off. Taken after the customers, by both.
 */
export const LOCK_RETIREMENT = lock("lock_retirement", RETIREMENT);
/** Any number of batches retire at a time: each holds its customers. */
export const SHARE_RETIREMENT: Query = [
  { name: "share_retirement", text: `SELECT pg_advisory_xact_lock_shared(${RETIREMENT})` },
];

function lock(name: string, number: number): Query {
  return [{ name, text: `SELECT pg_advisory_xact_lock(${number})` }];
}
