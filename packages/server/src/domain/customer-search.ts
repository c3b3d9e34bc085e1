import type { ConnectionName, CustomerProfile } from "./customer.ts";
import { codesOf } from "./customer-import.ts";
import { callingCodeOf, digitsOf, foldName, type NormaliseMobile } from "./names.ts";

/*
 * The search of staff. Each customer has terms, and a search finds the terms that begin with its texts. The first letter of
 * a term is its kind. `c`: a code; `k`: the folded name of a connection; `e`: a folded code reversed, to find it by its end;
 * `n`: a folded word of the name or area. Indexes that exist anyway find the kinds `c` and `k`; only `e` and `n` are stored.
 */

/** Codes that a search finds by a part need this many characters. Shorter texts find only whole codes. */
const PART_LENGTH = 4;

/** Longest text of a stored term, in characters: indexes of databases have limits. */
const TERM_LENGTH = 64;

export interface SearchedCustomer extends CustomerProfile {
  /** The mobile number in E.164 form; undefined if it is not a valid number. */
  readonly mobileForm: string | undefined;
  readonly connections: readonly ConnectionName[];
}

/** How the provider's mobile numbers are read. */
export interface MobileRules {
  readonly defaultCountry?: string | undefined;
  readonly normaliseMobile?: NormaliseMobile | undefined;
}

/** One way in which a customer fits a search. */
export interface TermRange {
  /** Beginning of the terms that fit. */
  readonly term: string;
  /** Whether only the term itself fits. */
  readonly isWhole: boolean;
  /** Beginnings of other terms that the customer must also have: further words of a name. */
  readonly others: readonly string[];
}

/** The first of the ranges that a customer fits, and its first term there. A search shows the customer only there. */
export interface TermPlace {
  readonly range: number;
  readonly term: string;
}

/** The terms that must be stored. */
export function storedTerms(customer: SearchedCustomer): string[] {
  return [...new Set([...endsOf(customer).keys(), ...nameTerms(customer)])];
}

function allTerms(customer: SearchedCustomer): string[] {
  return [...codeTerms(customer).keys(), ...endsOf(customer).keys(), ...nameTerms(customer)];
}

/** The code of a customer that has a term, as it is written; undefined for a word of the name or area. */
export function codeOfTerm(customer: SearchedCustomer, term: string): string | undefined {
  return codeTerms(customer).get(term) ?? endsOf(customer).get(term);
}

function codeTerms(customer: SearchedCustomer): Map<string, string> {
  const { mobile, mobileForm, connections } = customer;
  const codes = codesOf(customer, connections, () => mobileForm);
  const isMobile = (code: string) => code === mobileForm && mobile !== undefined;
  return new Map([
    ...codes.map((code) => [`c${code}`, isMobile(code) ? mobile : code] as [string, string]),
    ...connections.map(({ reqId }) => [`k${foldName(reqId)}`, reqId] as [string, string]),
  ]);
}

function endsOf({ cuid, mobile, mobileForm, connections }: SearchedCustomer): Map<string, string> {
  const ends = new Map([cuid, ...connections.map(({ reqId }) => reqId)].map((code) => [ending(foldName(code)), code]));
  if (mobile !== undefined) ends.set(ending(mobileForm?.slice(1) ?? digitsOf(mobile) ?? foldName(mobile)), mobile);
  return ends;
}

/** The texts of a customer in which staff search for words. */
type Worded = Pick<SearchedCustomer, "firstName" | "lastName" | "area">;

function nameTerms({ firstName, lastName, area = "" }: Worded): string[] {
  const words = foldName(`${firstName} ${lastName} ${area}`).split(/[^\p{L}\p{M}\p{N}]+/u);
  return words.filter((word) => word !== "").map((word) => `n${shortened(word)}`);
}

/** The ranges of a search, the best first. @param text as staff type it. */
export function searchRanges(text: string, { defaultCountry, normaliseMobile }: MobileRules): TermRange[] {
  const [digits, mobileForm, folded] = [digitsOf(text), normaliseMobile?.(text), foldName(text)];
  const codes = [text, text.toLowerCase(), text.toUpperCase(), mobileForm];
  if (digits !== undefined) codes.push(digits, `+${digits}`);
  if (digits !== undefined && defaultCountry !== undefined) codes.push(`+${callingCodeOf(defaultCountry)}${digits}`);
  const isWhole = (digits ?? text).length < PART_LENGTH;
  const begins = [...distinct(codes).map((code) => `c${code}`), `k${folded}`];
  const ends = isWhole ? [] : distinct([folded, digits, mobileForm?.slice(1)]).map(ending);
  return [...[...begins, ...ends].map((term) => ({ term, isWhole, others: [] })), ...nameRanges(text)];
}

/** The range of customers whose names or areas have words that begin with all words of the text, in any order. */
export function nameRanges(text: string): TermRange[] {
  // A wrong mobile number is not searched among names.
  if (!/\p{L}/u.test(text)) return [];
  const [longest, ...others] = nameTerms({ firstName: text, lastName: "" }).sort((a, b) => b.length - a.length);
  return longest === undefined ? [] : [{ term: longest, isWhole: false, others }];
}

export function firstPlace(customer: SearchedCustomer, ranges: readonly TermRange[]): TermPlace | undefined {
  const terms = allTerms(customer);
  for (const [range, { term, isWhole, others }] of ranges.entries()) {
    const [first] = terms.filter((each) => (isWhole ? each === term : each.startsWith(term))).sort(compareBytes);
    if (first !== undefined && hasAll(terms, others)) return { range, term: first };
  }
  return undefined;
}

/** Whether a name or area has the other words of a range. */
export function hasOtherWords(name: Worded, { others }: TermRange): boolean {
  return others.length === 0 || hasAll(nameTerms(name), others);
}

function hasAll(terms: readonly string[], beginnings: readonly string[]): boolean {
  return beginnings.every((each) => terms.some((term) => term.startsWith(each)));
}

/** Compares texts as the databases do. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function distinct(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts)].filter((text) => text !== undefined && text !== "") as string[];
}

function ending(code: string): string {
  return `e${shortened(Array.from(code).reverse().join(""))}`;
}

function shortened(text: string): string {
  return text.length <= TERM_LENGTH ? text : Array.from(text).slice(0, TERM_LENGTH).join("");
}
