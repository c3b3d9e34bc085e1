import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/mobile";

/**
 * Normalises a mobile number to E.164: `98...`, `977-98...` and `+977 98...` become one form. Undefined for other
 * texts, such as the number of a set-top box.
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

function readNumber(text: string, defaultCountry: CountryCode): string | undefined {
  const digits = text.replace(INDIC_DIGIT, (digit) => String(INDIC_DIGITS.indexOf(digit) % 10));
  const found = parsePhoneNumberFromString(digits, { defaultCountry, extract: false });
  return found?.isValid() === true ? found.number : undefined;
}
