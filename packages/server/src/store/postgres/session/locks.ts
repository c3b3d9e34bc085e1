import type { Query } from "./session.ts";

/*
 * Advisory locks, by numbers that mean something in topupd alone. Whoever takes several takes them in this order, and
 * customers' rows before the last two.
 */

/** One process at a time makes or migrates the database. */
export const LOCK_OPENING = lock("lock_opening", 7_461_001);
/** One transaction at a time changes partners, tokens, secrets, catalogues or settings: few do, and rows are numbered. */
export const LOCK_REFERENCE = lock("lock_reference", 7_461_002);
/** One transaction at a time imports customers: new ones have no row yet that could be locked. */
export const LOCK_IMPORT = lock("lock_import", 7_461_003);
/**
 * A checkout is concluded while nobody records: a commit that waits for a standby, or for a disk that stands still, is on
 * record once that is over, and until then nobody sees what it wrote. It does not say whose checkout it is, so no
 * customer's row tells the two apart.
 */
export const LOCK_RECORDING = lock("lock_recording", 7_461_005);
/** Any number of batches record at a time: each holds its customers. */
export const SHARE_RECORDING: Query = [
  { name: "share_recording", text: "SELECT pg_advisory_xact_lock_shared(7461005)" },
];
/** One transaction at a time appends to the audit trail: each entry follows from the one before it. */
export const LOCK_AUDIT = lock("lock_audit", 7_461_004);

function lock(name: string, number: number): Query {
  return [{ name, text: `SELECT pg_advisory_xact_lock(${number})` }];
}
