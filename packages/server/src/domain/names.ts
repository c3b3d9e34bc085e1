/**
 * Valid new name of a partner, person or system: 1 to 64 characters, no blank at either end. The space is the only
 * blank-looking character, so that no two names look the same.
 */
export const NAME = /^(?! )(?:[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]| ){1,64}(?<! )$/u;

/** Valid name of a person. `key NAME` is reserved for systems in the audit trail. */
export const STAFF_NAME = new RegExp(`^(?!key )${NAME.source.slice(1)}`, "u");

/** Characters that could move a terminal's cursor, colour the output or reverse its direction. */
export const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Makes a text from others safe for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}
