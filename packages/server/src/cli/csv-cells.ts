/*
 * What stands in a cell. A spreadsheet takes a text that begins with one of `= + - @`, also in the wide writing of East Asia, for a formula, and would run
 * what a customer's name says; such a text gets an apostrophe, which is taken off again when it is read.
 */

const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const GUARDED = /^'+[=+\-@\t\r＝＋－＠]/;

export function guardCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unguardCell(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
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
