/** Accents and joiners: signs that letters of any script can carry. Vowel signs of Devanagari are not among them. */
const ACCENTS = /\p{Script=Inherited}+/gu;

/**
 * Folds a username or set-top box number: two that differ only by case or accents have the same fold. Databases that RADIUS
 * reads take such names for one. Source: the ledger's page, section 3.
 */
export function foldName(reqId: string): string {
  return reqId.normalize("NFKD").replace(ACCENTS, "").toUpperCase();
}
