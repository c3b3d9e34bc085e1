import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/mobile";

/**
 * The one form (E.164) of a mobile number that people write in many: `98...`, `977-98...` and `+977 98...`. Undefined
 * for what is no mobile number, such as the number of a set-top box.
 */
export type NormaliseMobile = (text: string) => string | undefined;

/** Of a provider without a country: numbers have no other form than they are written in. */
export const AS_WRITTEN: NormaliseMobile = () => undefined;

/** The zeros of the scripts whose digits are read: Arabic, Persian, Devanagari, Bengali and full-width ones. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10];
const OTHER_DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\uff10-\uff19]/g;

/** Digits, and what people put between them: most codes are not looked at any closer. */
const SHAPE = /^[+\uff0b(]*\p{Nd}[\p{Nd}\s().\-/]{4,23}\p{Nd}$/u;

/** What telephones put around a number that is copied from them, and nobody sees. */
const UNSEEN = /\p{Cf}/gu;
/** The minus sign is no dash to Unicode, and one to those who type. */
const DASHES = /[\p{Pd}\u2212]/gu;
const ASCII = /^[ -~]*$/;

/** Numbers whose form is remembered: to find one takes some ten microseconds. */
const NUMBERS_KEPT = 10_000;

/** @param country ISO 3166, such as `NP`, for which {@link isCountry} holds: where a number without a country code is. */
export function mobileNumbersOf(country: string): NormaliseMobile {
  const known = new Map<string, string | undefined>();
  return (written) => {
    const text = plainSigns(written);
    if (!SHAPE.test(text)) return undefined;
    if (known.has(text)) return known.get(text);
    const number = readNumber(text, country);
    if (known.size >= NUMBERS_KEPT) known.clear();
    known.set(text, number);
    return number;
  };
}

/** Whether the numbers of a country are known, by its two capital letters. */
export function isCountry(country: string): boolean {
  return isSupportedCountry(country);
}

function readNumber(text: string, country: string): string | undefined {
  if (!isSupportedCountry(country)) return undefined;
  const digits = text.replace(OTHER_DIGITS, plainDigit);
  const found = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false });
  return found?.isValid() === true ? found.number : undefined;
}

function plainSigns(text: string): string {
  const trimmed = text.trim();
  return ASCII.test(trimmed) ? trimmed : trimmed.replace(UNSEEN, "").replace(DASHES, "-").trim();
}

function plainDigit(digit: string): string {
  const code = digit.charCodeAt(0);
  return String(code - (ZEROS.findLast((zero) => zero <= code) ?? code));
}
