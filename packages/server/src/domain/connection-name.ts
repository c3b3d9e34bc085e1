/** Accents and joiners, which letters of any script can carry. Vowel signs of Devanagari are not included. */
const ACCENTS = /\p{Script=Inherited}+/gu;

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Folds a username or set-top box number: names that differ only by case or accents get the same fold. Databases that
 * RADIUS reads treat such names as equal (docs/decisions.md, "Files").
 */
export function foldName(reqId: string): string {
  // Fast path: files have many names, and most are ASCII.
  if (PLAIN.test(reqId)) return reqId.toUpperCase();
  return reqId.normalize("NFKD").replace(ACCENTS, "").toUpperCase();
}
