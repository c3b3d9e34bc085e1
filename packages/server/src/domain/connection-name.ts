/** Accents and joiners: signs that letters of any script can carry. Vowel signs of Devanagari are not among them. */
const ACCENTS = /\p{Script=Inherited}+/gu;

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Folds a username or set-top box number: two that differ only by case or accents have the same fold. Databases that RADIUS
 * reads take such names for one. Source: the ledger's page, section 3.
 */
export function foldName(reqId: string): string {
  // Most names are plain, and a file has many.
  if (PLAIN.test(reqId)) return reqId.toUpperCase();
  return reqId.normalize("NFKD").replace(ACCENTS, "").toUpperCase();
}
