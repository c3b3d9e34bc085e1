/** Marks that could move a terminal's cursor, colour what follows, or turn its direction round. */
export const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What others have sent, made harmless for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}
