import pg from "pg";
import { StoreContended, StoreRefused, StoreUnavailable } from "../../errors.ts";

/** Errors after which PostgreSQL has written nothing, and which say nothing of the next transaction. */
const CONTENDED = new Map([
  ["55P03", "another session holds what is to be written"],
  ["40P01", "two sessions waited for each other"],
  ["40001", "another session wrote at the same time"],
]);

export const SHARED_BACKENDS =
  "a pooler gives one session's statements to different backends of PostgreSQL: PgBouncer must have pool_mode = session";

const LACKS_PRIVILEGE = "42501";
const RAISED = "P0001";

/** What speaks of the server and not of the statement, by the first characters of the code. */
const AWAY: readonly (readonly [code: string, reason: string])[] = [
  ["57014", "PostgreSQL took too long"],
  ["57P03", "PostgreSQL is starting or stopping"],
  ["57P", "PostgreSQL is stopping, or has ended the session"],
  ["25P0", "the session was left idle in a transaction, and PostgreSQL has ended it"],
  ["25006", "PostgreSQL takes no writes: it is a standby, or read-only"],
  ["53300", "PostgreSQL has no connection left: see max_connections and --database-connections"],
  ["53", "PostgreSQL is out of memory or disk"],
  ["58", "PostgreSQL's own disk or files failed"],
  ["08", "the connection to PostgreSQL was lost"],
  // A statement that the session has prepared is not there, or one that it has not prepared is.
  ["26000", SHARED_BACKENDS],
  ["42P05", SHARED_BACKENDS],
  ["XX00", "PostgreSQL's data is damaged"],
];

/** What keeps a session from being had at all, and does not pass by itself. */
const REFUSED: readonly (readonly [code: string, what: string])[] = [
  ["28", "PostgreSQL does not let this user in"],
  ["3D000", "PostgreSQL has no database of this name: make it with createdb"],
  [LACKS_PRIVILEGE, "this user of PostgreSQL lacks a privilege"],
  ["3F000", "the schema of search_path is not there: make it with CREATE SCHEMA"],
];

/** PostgreSQL refused a statement: a defect of topupd. Says which rule it broke, and nothing of what is stored. */
export class StatementFailed extends Error {
  override readonly name = "StatementFailed";
  /** Its message may be logged. */
  readonly isDiscreet = true;
  readonly code: string;

  constructor({ code = "", table, constraint, column, message }: pg.DatabaseError) {
    // What a trigger of topupd's says is in its own words.
    const why =
      code === RAISED ? message : [table, constraint ?? column].filter((name) => name !== undefined).join(", ");
    super(`PostgreSQL refused a statement with ${code}${why === "" ? "" : ` (${why})`}`);
    this.code = code;
  }
}

/** Tells what is wrong with the server from what is wrong with a statement, which is a defect of topupd. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof StoreRefused) return error;
  if (error instanceof StatementFailed || error instanceof TypeError || error instanceof RangeError) return error;
  const code = sqlState(error);
  // The driver gives no code of PostgreSQL's where the connection itself failed.
  if (code === undefined)
    return new StoreUnavailable(`the connection to PostgreSQL failed: ${words(error)}`, { cause: error });
  const contended = CONTENDED.get(code);
  if (contended !== undefined) return new StoreContended(contended, { cause: error });
  // PostgreSQL's own words for it name a table or a schema, and nothing that is stored.
  if (code === LACKS_PRIVILEGE)
    return new StoreUnavailable(`this user of PostgreSQL lacks a privilege (${words(error)})`, { cause: error });
  const away = find(AWAY, code);
  if (away === undefined) return new StatementFailed(error as pg.DatabaseError);
  return new StoreUnavailable(away, { cause: error });
}

/** Of what a commit failed with: where its answer was lost, it may have been done. */
export function translateAtCommit(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable) || !isOutage(error)) return error;
  return new StoreUnavailable(`${error.message}; it may have been done: look before you do it again`, {
    cause: error.cause,
  });
}

/** As {@link translate}, for a session that could not be had: whatever the reason, nothing was asked of PostgreSQL. */
export function translateAtConnecting(error: unknown): unknown {
  const refused = find(REFUSED, sqlState(error) ?? "");
  if (refused !== undefined) return new StoreUnavailable(`${refused} (${words(error)})`, { cause: error });
  const translated = translate(error);
  if (!(translated instanceof StoreRefused) && !(translated instanceof StatementFailed)) return translated;
  return new StoreUnavailable(translated.message, { cause: error });
}

/** As {@link translate}, for the operator who has just said where the database is, and must say it otherwise. */
export function translateAtOpening(error: unknown): unknown {
  if (error instanceof Error && /client password must be a string/.test(error.message))
    return new StoreRefused("PostgreSQL asks for a password, and the address holds none");
  const original = error instanceof StoreUnavailable && error.cause !== undefined ? error.cause : error;
  const refused = find(REFUSED, sqlState(original) ?? "");
  if (refused !== undefined) return new StoreRefused(`${refused} (${words(original)})`, { cause: error });
  const translated = translate(error);
  if (!(translated instanceof StatementFailed)) return translated;
  return new StoreRefused(translated.message, { cause: error });
}

/** Whether it says that nobody is served: by silence, or in PostgreSQL's own words. Otherwise it speaks of one session. */
export function isOutage(error: unknown): boolean {
  const code = sqlState(error) ?? sqlState((error as Error).cause);
  return code === undefined || code.startsWith("57P") || code.startsWith("08");
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError || error instanceof StatementFailed ? error.code : undefined;
}

function find(list: readonly (readonly [code: string, text: string])[], code: string): string | undefined {
  return list.find(([beginning]) => code.startsWith(beginning))?.[1];
}

function words(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === "" ? String(code) : message;
}
