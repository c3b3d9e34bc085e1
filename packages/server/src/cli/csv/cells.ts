/*
 * What stands in a cell. A spreadsheet takes a text that begins with one of `= + - @`, also in the wide writing of East
 * Asia, for a formula, and would run what a customer's name says; and one such as `1E+05` for a number. Such a text gets
 * an apostrophe, which is taken off again when it is read.
 */

const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const NUMBER = /^'*[0-9](?:[.,][0-9]+)?E\+[0-9]{2,3}$/;

export function guardCell(text: string): string {
  return FORMULA.test(text) || NUMBER.test(text) ? `'${text}` : text;
}

export function unguardCell(cell: string): string {
  const isGuarded = cell.startsWith("'") && (FORMULA.test(cell) || NUMBER.test(cell));
  return isGuarded ? cell.slice(1) : cell;
}

/** Whether a spreadsheet has shortened a long number, in a column that was not text: what it left out is lost. */
export function isShortened(cell: string): boolean {
  return !cell.startsWith("'") && NUMBER.test(cell);
}

/** The first columns are of the customer, and the same on each of its lines. */
export const CUSTOMER_COLUMNS = ["cuid", "first_name", "last_name", "mobile", "status"] as const;
export const CONNECTION_COLUMNS = [
  ...["service", "connection", "connection_status", "segment", "topped_up", "blocked_by_staff"],
  ...["code", "startdate", "enddate", "carried"],
] as const;
/** Of these, the ones in which each subscription of the connection has a line of its own. */
export const SUBSCRIPTION_COLUMNS = ["code", "startdate", "enddate", "carried"] as const;

export const CATALOGUE_COLUMNS = ["service", "code", "name", "price", "segments", "plan", "retired"] as const;
