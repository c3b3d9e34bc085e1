/** An amount in minor units (paisa, cents). Never a float, so never rounded (docs/decisions.md, "Money"). */
export type Money = bigint;

/** Number of decimals of the provider's currency: 2 means that 100 minor units are one major unit. */
export type CurrencyExponent = number;

export const MAX_CURRENCY_EXPONENT = 4;

/** Ways to group the digits of a number: 1,234,567 or 12,34,567. */
export const NUMBER_GROUPINGS = ["western", "indian"] as const;
export type NumberGrouping = (typeof NUMBER_GROUPINGS)[number];

/** Most digits of an amount: all languages of partners represent them exactly as JSON numbers. */
export const MONEY_DIGITS = 15;

/** Every amount is below this number of minor units. */
export const MONEY_LIMIT: Money = 10n ** BigInt(MONEY_DIGITS);

const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/**
 * Reads a decimal in major units, such as `1130`, `1130.00` or `0.5`. Undefined if the text has a sign, exponent, blank
 * or too many decimals, or the value is 10^15 minor units or more.
 */
export function parseMoney(text: string, exponent: CurrencyExponent): Money | undefined {
  if (text.length > 20) return undefined;
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const [, units = "", decimals = ""] = parts;
  if (decimals.length > exponent) return undefined;
  const minor = BigInt(units + decimals.padEnd(exponent, "0"));
  return minor < MONEY_LIMIT ? minor : undefined;
}

/** Digits in groups, as any page prints them: 1,234,567 or 12,34,567. */
const GROUPED = /^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})*,[0-9]{3})(?:\.[0-9]+)?$/;

/**
 * Reads an amount that a person typed or copied: as {@link parseMoney}, also with its digits in groups. With three decimals or
 * more, groups need their decimals: `12,500` could mean 12.500.
 */
export function readMoney(text: string, exponent: CurrencyExponent): Money | undefined {
  const isClear = exponent < 3 || text.includes(".");
  return parseMoney(isClear && GROUPED.test(text) ? text.replaceAll(",", "") : text, exponent);
}

/** Writes the shortest decimal: `113000n` is `1130`, `284715n` is `2847.15`. */
export function formatMoney(minor: Money, exponent: CurrencyExponent): string {
  const digits = minor.toString().padStart(exponent + 1, "0");
  const units = digits.slice(0, digits.length - exponent);
  const decimals = digits.slice(digits.length - exponent).replace(/0+$/, "");
  return decimals === "" ? units : `${units}.${decimals}`;
}

/** Writes all decimals of the currency, as accountants do: `113000n` is `1130.00`. A sum may be negative. */
export function formatMoneyInFull(minor: Money, exponent: CurrencyExponent): string {
  if (minor < 0n) return `-${formatMoneyInFull(-minor, exponent)}`;
  const digits = minor.toString().padStart(exponent + 1, "0");
  const units = digits.length - exponent;
  return exponent === 0 ? digits : `${digits.slice(0, units)}.${digits.slice(units)}`;
}

const BOUNDARIES: Readonly<Record<NumberGrouping, RegExp>> = {
  western: /\B(?=(?:\d{3})+(?!\d))/g,
  indian: /\B(?=(?:\d{2})*\d{3}(?!\d))/g,
};

/** Writes an amount for people: `NPR 12,34,567.00`. */
export function formatMoneyForPeople(
  minor: Money,
  exponent: CurrencyExponent,
  { currency, numberGrouping }: MoneyWords,
) {
  const [whole = "", decimals] = formatMoneyInFull(minor, exponent).split(".");
  const amount = [whole.replace(BOUNDARIES[numberGrouping], ","), ...(decimals === undefined ? [] : [decimals])].join(
    ".",
  );
  return currency === undefined ? amount : `${currency} ${amount}`;
}

export interface MoneyWords {
  readonly currency: string | undefined;
  readonly numberGrouping: NumberGrouping;
}

/** The JSON number of an amount for partners (docs/interface.md, "Answers"). Exact up to 10^15 minor units. */
export function moneyToJson(minor: Money, exponent: CurrencyExponent): number {
  return Number(formatMoneyInFull(minor, exponent));
}
