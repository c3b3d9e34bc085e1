import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from "libphonenumber-js/min";

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

/**
 * Normalises a telephone number to E.164: `98...`, `977-98...` and `+977 98...` become one form. A number counts if its
 * country allows the length: ranges that the library does not know yet, and landlines, too. Undefined for other texts.
 */
export type NormaliseMobile = (text: string) => string | undefined;

/** Normaliser for providers without a country: numbers are compared as written. */
export const AS_WRITTEN: NormaliseMobile = () => undefined;

/** Digits of Devanagari and Bengali. The parser knows only Arabic and full-width digits. */
const INDIC_DIGITS = "०१२३४५६७८९০১২৩৪৫৬৭৮৯";
const INDIC_DIGIT = new RegExp(`[${INDIC_DIGITS}]`, "g");

/** Digits and usual separators; Unicode has the minus sign outside of its dashes. A cheap check before parsing. */
const SHAPE = /^[+\uff0b(]*\p{Nd}[\p{Nd}\p{Pd}\u2212\s()./]{4,23}\p{Nd}$/u;

/** Invisible characters that telephones add to copied numbers. */
const UNSEEN = /\p{Cf}/gu;

/** Size of the cache: parsing a number takes some ten microseconds. */
const NUMBERS_KEPT = 10_000;

/**
 * @param country ISO 3166 code such as `NP`, accepted by {@link isCountry}: the country of numbers without a country
 * code.
 */
export function mobileNumbersOf(country: string): NormaliseMobile {
  const known = new Map<string, string | undefined>();
  return (written) => {
    const text = written.replace(UNSEEN, "").trim();
    if (!SHAPE.test(text)) return undefined;
    if (known.has(text)) return known.get(text);
    const number = readNumber(text, country as CountryCode);
    if (known.size >= NUMBERS_KEPT) known.clear();
    known.set(text, number);
    return number;
  };
}

/** Whether the library knows the numbers of a country (two capital letters). */
export function isCountry(country: string): boolean {
  return isSupportedCountry(country);
}

/** The digits with which numbers of a country begin in E.164, such as `977`. */
export function callingCodeOf(country: string): string {
  return getCountryCallingCode(country as CountryCode);
}

/** Digits and the separators of a mobile number, or of a part of it. */
const PART_SHAPE = /^\+?[\d\p{Pd}\u2212\s()./]+$/u;

/** The digits of a mobile number or a part of it, in any script; undefined if the text has other characters. */
export function digitsOf(text: string): string | undefined {
  const plain = withPlainDigits(text.normalize("NFKC").replace(UNSEEN, ""));
  return PART_SHAPE.test(plain) ? plain.replace(/\D/g, "") : undefined;
}

function withPlainDigits(text: string): string {
  return text.replace(INDIC_DIGIT, (digit) => String(INDIC_DIGITS.indexOf(digit) % 10));
}

function readNumber(text: string, defaultCountry: CountryCode): string | undefined {
  const found = parsePhoneNumberFromString(withPlainDigits(text), { defaultCountry, extract: false });
  return found?.isPossible() === true ? found.number : undefined;
}
