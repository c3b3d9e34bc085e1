/* Values that programs write in place of what was meant, in files of others. */

/**
 * A text that programs write for no value: databases (`NULL`, `\N`), statistics programs (`NA`, `nan`), and spreadsheets
 * for an error (`#VALUE!`, LibreOffice's `Err:502`) or a column that is too narrow (`###`).
 */
const PLACEHOLDER =
  /^\s*(?:[<([]?(?:null|nil|none|nan?|nat|n\/a|undefined)[>)\]]?|-nan|\\n|[-\u2013\u2014]+|#+|#n(?:\/?[ad]|v)|#[a-z][a-z0-9_/]*[!?]|#getting_data|err:[0-9]+)\s*$/i;

/** Whether a text stands for no value, in any case and with blanks around it. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** `1e+05`, `2.02611E+13`, `2,02611E+13`, `2e5`, `12403.0`, `12,403`: the last digits, or leading zeros, may be lost. */
const NUMBER =
  /^[+-]?(?:[0-9]+(?:[.,]0*|(?:[.,][0-9]+)?e[+-][0-9]+|[.,][0-9]+e[0-9]+)|[1-9]e[0-9]{1,3}|[0-9]{1,3}(?:,[0-9]{3})+)$/i;

/** Whether a text that should be an identifier is a number as programs write one. */
export function isWrittenNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** Whether a text, such as `60150001022e3`, is a serial number or a number that a program wrote. */
export function mayBeWrittenNumber(text: string): boolean {
  return /^[0-9]+e[0-9]+$/i.test(text);
}

/** Longest part of a value in a problem, in UTF-16 units. */
const MOST_NAMED = 64;

/** Why a text of a file cannot be an identifier; undefined if it can. */
export function identifierProblem(text: string): string | undefined {
  const value = `"${text.slice(0, MOST_NAMED)}"`;
  if (isPlaceholder(text)) return `is ${value}, which programs write for no value`;
  if (isWrittenNumber(text))
    return `is ${value}, a number that a spreadsheet or another program has changed: make the column text there`;
  return undefined;
}
