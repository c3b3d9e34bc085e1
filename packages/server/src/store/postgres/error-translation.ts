import pg from "pg";
import { StoreContended, StoreRefused, StoreUnavailable } from "../errors.ts";

export const SHARED_BACKENDS =
  "a pooler gives one session's statements to different backends of PostgreSQL: PgBouncer must have pool_mode = session";

/** PostgreSQL's codes, or their beginnings, each with a message. The first match counts. */
type Codes = readonly (readonly [code: string, what: string])[];

/** Codes that mean: nothing was written, and the next transaction may succeed. */
const CONTENDED: Codes = [
  ["55P03", "another session has locked the rows to write"],
  ["40P01", "two sessions waited for each other"],
  ["40001", "another session wrote at the same time"],
];

/** Codes that concern the server and not the statement. */
const UNAVAILABLE: Codes = [
  ["57014", "PostgreSQL took too long"],
  ["57P03", "PostgreSQL is starting or stopping"],
  ["57P", "PostgreSQL is stopping, or has ended the session"],
  ["25P0", "the session was left idle in a transaction, and PostgreSQL has ended it"],
  ["25006", "PostgreSQL takes no writes: it is a standby, or read-only"],
  ["53300", "PostgreSQL has no connection left: see max_connections and --database-connections"],
  ["53", "PostgreSQL is out of memory or disk"],
  ["58", "PostgreSQL's own disk or files failed"],
  ["08", "the connection to PostgreSQL was lost"],
  // A statement that the session prepared is missing, or one that it did not prepare exists.
  ["26000", SHARED_BACKENDS],
  ["42P05", SHARED_BACKENDS],
  ["XX00", "PostgreSQL's data is damaged"],
];

/** Codes that need an operator. PostgreSQL's own message is added: it names a role, table or schema, and no stored data. */
const REFUSED: Codes = [
  ["28", "PostgreSQL does not let this user in"],
  ["3D000", "PostgreSQL has no database of this name: make it with createdb"],
  ["42501", "this user of PostgreSQL lacks a privilege"],
  ["3F000", "the schema of search_path is not there: make it with CREATE SCHEMA"],
];

const RAISED_BY_TRIGGER = "P0001";

/** PostgreSQL refused a statement: a defect of topupd. The message names the broken rule and contains no stored data. */
export class StatementFailed extends Error {
  override readonly name = "StatementFailed";
  /** Allows the log to contain its message. */
  readonly isDiscreet = true;
  readonly code: string | undefined;

  constructor({ code, table, constraint, column, message }: pg.DatabaseError) {
    const names = [table, constraint ?? column].filter((name) => name !== undefined).join(", ");
    const why = code === RAISED_BY_TRIGGER ? message : names;
    super(`PostgreSQL refused a statement with ${code}${why === "" ? "" : ` (${why})`}`);
    this.code = code;
  }
}

/** Translates errors of the server to errors of the store. An error of a statement is a defect of topupd. */
export function translate(error: unknown): unknown {
  const unchanged = [StoreUnavailable, StoreRefused, StatementFailed, TypeError, RangeError];
  if (unchanged.some((kind) => error instanceof kind)) return error;
  const cause = { cause: error };
  if (!(error instanceof pg.DatabaseError))
    return new StoreUnavailable(`the connection to PostgreSQL failed: ${words(error)}`, cause);
  const contended = find(CONTENDED, error);
  if (contended !== undefined) return new StoreContended(contended, cause);
  const refused = find(REFUSED, error);
  if (refused !== undefined) return new StoreUnavailable(`${refused} (${words(error)})`, cause);
  const unavailable = find(UNAVAILABLE, error);
  return unavailable === undefined ? new StatementFailed(error) : new StoreUnavailable(unavailable, cause);
}

/** Translates the error of a commit: if its answer was lost, the commit may have been done. */
export function translateAtCommit(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable) || error instanceof StoreContended) return error;
  return new StoreUnavailable(`${error.message}; it may have been done: look before you do it again`, {
    cause: error.cause,
  });
}

/** Translates an error of connecting while topupd runs. Nothing was written, and the problem may be temporary. */
export function translateAtConnecting(error: unknown): StoreUnavailable {
  const translated = translate(error) as Error;
  return translated instanceof StoreUnavailable
    ? translated
    : new StoreUnavailable(translated.message, { cause: error });
}

/** Translates an error of opening the store: the operator may have to correct the database's URL. */
export function translateAtOpening(error: unknown): unknown {
  if (error instanceof Error && /client password must be a string/.test(error.message))
    return new StoreRefused("PostgreSQL asks for a password, and the address holds none");
  const translated = translate(error);
  const isRefused = translated instanceof StoreUnavailable && find(REFUSED, translated.cause) !== undefined;
  return isRefused ? new StoreRefused(translated.message, { cause: translated.cause }) : translated;
}

function find(codes: Codes, error: unknown): string | undefined {
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  return codes.find(([beginning]) => code.startsWith(beginning))?.[1];
}

function words(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === "" ? String(code) : message;
}
