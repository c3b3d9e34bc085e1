import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/mobile";

/**
 * The one form (E.164) of a mobile number that people write in many: `98...`, `977-98...` and `+977 98...`. Undefined
 * for what is no mobile number, such as the number of a set-top box.
 */
export type NormaliseMobile = (text: string) => string | undefined;

/** Of a provider without a country: numbers have no other form than they are written in. */
export const AS_WRITTEN: NormaliseMobile = () => undefined;

/** Digits of Devanagari and Bengali, which the parser does not know: it knows those of Arabic and full-width ones. */
const INDIC_DIGITS = "०१२३४५६७८९০১২৩৪৫৬৭৮৯";
const INDIC_DIGIT = new RegExp(`[${INDIC_DIGITS}]`, "g");

/** Digits, and what people put between them (to Unicode, the minus sign is no dash): most codes are not looked at any closer. */
const SHAPE = /^[+\uff0b(]*\p{Nd}[\p{Nd}\p{Pd}\u2212\s()./]{4,23}\p{Nd}$/u;

/** What telephones put around a number that is copied from them, and nobody sees. */
const UNSEEN = /\p{Cf}/gu;

/** Numbers whose form is remembered: to find one takes some ten microseconds. */
const NUMBERS_KEPT = 10_000;

/** @param country ISO 3166, such as `NP`, for which {@link isCountry} holds: where a number without a country code is. */
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

/** Whether the numbers of a country are known, by its two capital letters. */
export function isCountry(country: string): boolean {
  return isSupportedCountry(country);
}

function readNumber(text: string, defaultCountry: CountryCode): string | undefined {
  const digits = text.replace(INDIC_DIGIT, (digit) => String(INDIC_DIGITS.indexOf(digit) % 10));
  const found = parsePhoneNumberFromString(digits, { defaultCountry, extract: false });
  return found?.isValid() === true ? found.number : undefined;
}
