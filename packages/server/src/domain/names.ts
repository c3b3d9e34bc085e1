/**
 * A new name of a partner, a person or a system: 1 to 64 characters, no blank at either end. The space is the only
 * character that looks blank, so that no two names look the same.
 */
export const NAME = /^(?! )(?:[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]| ){1,64}(?<! )$/u;

/** The same, of a person: `key NAME` is how the audit trail names a system. */
export const STAFF_NAME = new RegExp(`^(?!key )${NAME.source.slice(1)}`, "u");

/** Marks that could move a terminal's cursor, colour what follows, or turn its direction round. */
export const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What others have sent, made harmless for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}
